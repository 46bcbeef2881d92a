/*
 * Which form of the mathematics runs: portable C, x86-64 with MULX and ADX, or AVX-512 IFMA.
 *
 * The best that the CPU has (with the operating system's leave for its registers), or the one that
 * the environment variable PAWL_CPU names: portable, adx or ifma. It is read once, at the first
 * call; a program calls cpu_form_check at its start, so that a wrong word is an error there. The
 * answer never changes in a process; nothing to clean up.
 */
#ifndef PAWL_KERNELS_CPU_FORM_H
#define PAWL_KERNELS_CPU_FORM_H

enum cpu_form { FORM_PORTABLE, FORM_ADX, FORM_IFMA, FORM_COUNT };

/* "portable", "adx", "ifma" */
const char *cpu_form_name(enum cpu_form form);
/* 1 where build, CPU and operating system have this form. */
int cpu_form_available(enum cpu_form form);
/*
 * 0; -EINVAL: PAWL_CPU is no form's name; -ENOTSUP: it names one that is not to be had here. *why
 * is then a text for the user that says what to do; it lives as long as the process.
 */
int cpu_form_check(const char **why);
/* The form in use; where cpu_form_check fails, the best there is. */
enum cpu_form cpu_form_chosen(void);

#endif
