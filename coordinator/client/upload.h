/*
 * A witness file's bytes, handed to the service in parts.
 */
#ifndef PAWL_CLIENT_UPLOAD_H
#define PAWL_CLIENT_UPLOAD_H

#include <jansson.h>

struct service;

#define UPLOAD_ID_BYTES 128

/*
 * Opens a witness for reading, FIFOs too; 0 with *fd set, else EXIT_INPUT having said why. A
 * ".json" input is refused: EXIT_USAGE_ERROR.
 */
int upload_open_file(const char *path, int *fd);
/* Reads fd to its end into a new upload. 0 with the id, else an exit code having said why; path is
 * for messages. */
int upload_send(struct service *service, int fd, const char *path, char id[UPLOAD_ID_BYTES]);
/*
 * What a job says of one partition: {"upload", "name"}, the name being the file's, for error texts:
 * its last 200 bytes, without controls. NULL when memory is short.
 */
json_t *upload_partition(const char *id, const char *label);

#endif
