/*
 * SIGINT, SIGTERM and SIGHUP as something to wait for and not something that strikes: a command
 * that holds other processes or half-written files undoes them first.
 */
#ifndef PAWL_CLIENT_INTERRUPT_H
#define PAWL_CLIENT_INTERRUPT_H

/* From now on the three signals only make interrupt_fd() readable. 0 or -errno. */
int interrupt_open(void);
/* They strike again; for a command that has nothing to undo and reads where it cannot wait. */
void interrupt_close(void);
/* For poll; -1 where interrupt_open was not called. */
int interrupt_fd(void);
/* 1 once a signal has come. */
int interrupt_came(void);

#endif
