/*
 * What went wrong, in one line for people and one exit code for programs. Passed down by whoever
 * will print it; set once, where the cause is known. No state of its own.
 */
#ifndef PAWL_SYNTH_WORKER_COMPLAINT_H
#define PAWL_SYNTH_WORKER_COMPLAINT_H

#define COMPLAINT_BYTES 1024

struct complaint {
    int exit_code; /* enum program_exit */
    char text[COMPLAINT_BYTES];
};

/* The input or the key is at fault: EXIT_INPUT and the text. Returns -EINVAL. */
int complain_input(struct complaint *complaint, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* We are: EXIT_INTERNAL. Returns -EPROTO. */
int complain_internal(struct complaint *complaint, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * A system call failed with `error` (positive errno): the text, ": " and what errno means. The exit
 * code is `exit_code`, or EXIT_MACHINE where the error is a limit of the machine (memory, file
 * descriptors). Returns -error.
 */
int complain_system(struct complaint *complaint, int exit_code, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
