/*
 * One line on stderr that shows where long work stands; nothing where stderr is no terminal.
 */
#ifndef PAWL_CLIENT_PROGRESS_H
#define PAWL_CLIENT_PROGRESS_H

/* 1 where progress is shown, so that callers poll often enough. */
int progress_is_shown(void);
/* Shows "STAGE  1.2 s" in place of what was shown; the time counts from the first call. */
void progress_show(const char *stage);
/* Removes the line. */
void progress_clear(void);

#endif
