/*
 * How many of the process's fds its clients may hold. Connections and uploads are opened by whoever
 * likes; seats, results and compilers need fds too, and a worker's message whose fds cannot be
 * received is lost. So clients get a share of RLIMIT_NOFILE, and the rest is never theirs.
 *
 * A new fd has the lowest number that is free, so its number says how many are open: nothing is
 * counted, and nothing can be counted wrong. Below a limit of 64, enough for a private instance and
 * its one client, nothing is held back.
 */
#ifndef PAWL_COORDINATOR_FD_SHARE_H
#define PAWL_COORDINATOR_FD_SHARE_H

enum fd_share {
    FD_SHARE_CONNECTION, /* of HTTP: three quarters of the limit or all but 1,024 of it */
    FD_SHARE_UPLOAD,     /* less than connections, so that full uploads leave a way to use them */
};

/* 1 where a fd just opened lies within what clients may have for this. */
int fd_share_has(enum fd_share share, int fd);
/* 1 where the next one would; any: a fd that is open. */
int fd_share_has_room(enum fd_share share, int any);

#endif
