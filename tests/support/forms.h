/*
 * Tests over the forms of the mathematics (kernels/cpu_form.h). Header only; no state.
 */
#ifndef PAWL_TESTS_SUPPORT_FORMS_H
#define PAWL_TESTS_SUPPORT_FORMS_H

#include <stdio.h>

#include "kernels/cpu_form.h"

/* 1, having said so as TAP does, where this machine lacks the form that a program is made for. */
static inline int forms_skip(enum cpu_form form)
{
    if (cpu_form_available(form))
        return 0;
    printf("1..0 # this CPU has not the form %s\n", cpu_form_name(form));
    return 1;
}

#endif
