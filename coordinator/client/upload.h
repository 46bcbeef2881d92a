/*
 * A file's bytes, handed to the service in parts.
 */
#ifndef PAWL_CLIENT_UPLOAD_H
#define PAWL_CLIENT_UPLOAD_H

#include <jansson.h>

struct service;

#define UPLOAD_ID_BYTES 128

/* Opens a witness or an input for reading, FIFOs too; 0 with *fd set, else EXIT_INPUT having said
 * why. */
int upload_open_file(const char *path, int *fd);
/* Reads fd to its end into a new upload. 0 with the id, else an exit code having said why; path is
 * for messages. */
int upload_send(struct service *service, int fd, const char *path, char id[UPLOAD_ID_BYTES]);
/* The upload will not be used; quiet, whatever becomes of it. */
void upload_take_back(struct service *service, const char *id);
/* A file's name for error texts: its last 200 bytes, without controls. NULL when memory is short.
 */
json_t *upload_label(const char *path);
/* What a job says of one partition: {"upload", "name"}. NULL when memory is short. */
json_t *upload_partition(const char *id, const char *label);

#endif
