/*
 * See the header. cpuid says what the CPU has; for AVX-512 the compiler's own test also asks
 * whether the operating system keeps the registers.
 */
#include "kernels/cpu_form.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

static const char *const names[FORM_COUNT] = {"portable", "adx", "ifma"};

const char *cpu_form_name(enum cpu_form form)
{
    return names[form];
}

#ifdef __x86_64__
static int cpu_has_adx(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 8 & 1 /* BMI2 */ && b >> 19 & 1;
}

static int cpu_has_ifma(void)
{
    return cpu_has_adx() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512ifma");
}
#else
static int cpu_has_adx(void)
{
    return 0;
}

static int cpu_has_ifma(void)
{
    return 0;
}
#endif

int cpu_form_available(enum cpu_form form)
{
    switch (form) {
    case FORM_PORTABLE:
        return 1;
    case FORM_ADX:
        return cpu_has_adx();
    case FORM_IFMA:
        return cpu_has_ifma();
    default:
        return 0;
    }
}

static enum cpu_form best_form(void)
{
    enum cpu_form form = FORM_IFMA;
    while (!cpu_form_available(form))
        form--;
    return form;
}

/* PAWL_CPU's form, the best one where it is unset or empty, or FORM_COUNT for any other word. */
static enum cpu_form asked_form(void)
{
    const char *word = getenv("PAWL_CPU");
    if (!word || !*word)
        return best_form();
    for (enum cpu_form form = FORM_PORTABLE; form < FORM_COUNT; form++)
        if (strcmp(word, names[form]) == 0)
            return form;
    return FORM_COUNT;
}

/* Threads that come first together find the same. */
static enum cpu_form asked_once(void)
{
    static _Atomic int known; /* a form + 1 */
    int form = atomic_load_explicit(&known, memory_order_relaxed);
    if (form == 0) {
        form = 1 + (int)asked_form();
        atomic_store_explicit(&known, form, memory_order_relaxed);
    }
    return (enum cpu_form)(form - 1);
}

int cpu_form_check(const char **why)
{
    static const char *const lacking[FORM_COUNT] = {
        [FORM_ADX] = "PAWL_CPU=adx: this CPU or build has no such form (it wants x86-64 with MULX "
                     "and ADX); unset PAWL_CPU to take the best there is",
        [FORM_IFMA] = "PAWL_CPU=ifma: this CPU or build has no such form (it wants x86-64 with "
                      "AVX-512 IFMA); unset PAWL_CPU to take the best there is"};
    enum cpu_form form = asked_once();
    if (form == FORM_COUNT) {
        *why = "PAWL_CPU is none of portable, adx, ifma; unset it to take the best form there is";
        return -EINVAL;
    }
    if (cpu_form_available(form))
        return 0;
    *why = lacking[form];
    return -ENOTSUP;
}

enum cpu_form cpu_form_chosen(void)
{
    static _Atomic int known; /* a form + 1; cpuid is slow in a virtual machine */
    const char *why;
    int form = atomic_load_explicit(&known, memory_order_relaxed);
    if (form == 0) {
        form = 1 + (int)(cpu_form_check(&why) ? best_form() : asked_once());
        atomic_store_explicit(&known, form, memory_order_relaxed);
    }
    return (enum cpu_form)(form - 1);
}
