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

#endif
