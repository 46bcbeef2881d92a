/*
 * The commands of pawl: each reads its arguments, does its work and returns the exit code, having
 * said on stderr why where that is not 0.
 */
#ifndef PAWL_CLIENT_COMMANDS_H
#define PAWL_CLIENT_COMMANDS_H

#include "coordinator/client/options.h"

int command_prove(const struct arguments *arguments);
int command_fullprove(const struct arguments *arguments);
int command_verify(const struct arguments *arguments);
int command_vkey(const struct arguments *arguments);
int command_circuit_add(const struct arguments *arguments);
int command_circuit_list(const struct arguments *arguments);
int command_circuit_remove(const struct arguments *arguments);
int command_submit(const struct arguments *arguments);
int command_job(const struct arguments *arguments);
int command_jobs(const struct arguments *arguments);
int command_cancel(const struct arguments *arguments);
int command_status(const struct arguments *arguments);
int command_trace(const struct arguments *arguments);
int command_doctor(const struct arguments *arguments);
int command_healthz(const struct arguments *arguments);

/* Every command, ended by one without a name. */
extern const struct command commands[];

#endif
