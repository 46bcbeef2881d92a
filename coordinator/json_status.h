/*
 * `pawl status --json` and its list of circuits.
 */
#ifndef PAWL_COORDINATOR_JSON_STATUS_H
#define PAWL_COORDINATOR_JSON_STATUS_H

struct circuits;
struct json_writer;
struct service;

void json_status(struct json_writer *json, const struct service *service);
void json_circuits(struct json_writer *json, const struct circuits *circuits);
/* "BN254" and "BLS12-381" as circom's tools name them: "bn128", "bls12381". */
const char *json_curve_name(unsigned curve);

#endif
