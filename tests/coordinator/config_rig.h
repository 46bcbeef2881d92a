/*
 * The configuration's tests: a file that is written and loaded, and what is said of it. Header
 * only.
 */
#ifndef PAWL_TESTS_CONFIG_RIG_H
#define PAWL_TESTS_CONFIG_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/config.h"

static char test_path[] = "/tmp/pawl-config-XXXXXX";
static struct config loaded;
static char error_text[1024];

/* Loads a file with these bytes. */
static inline int load_bytes(const char *bytes, size_t length)
{
    FILE *file = fopen(test_path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return config_load(&loaded, test_path, error_text, sizeof(error_text));
}

static inline int load_text(const char *text)
{
    return load_bytes(text, strlen(text));
}

static inline void load_well(const char *text)
{
    if (load_text(text))
        fail_msg("refused: %s", error_text);
    assert_string_equal(error_text, "");
}

/* The file is refused, and the message is FILE + wanted. */
static inline void refuse(const char *text, const char *wanted)
{
    assert_true(load_text(text) < 0);
    assert_true(strncmp(error_text, test_path, strlen(test_path)) == 0);
    assert_string_equal(error_text + strlen(test_path), wanted);
}

static inline int set_up(void **state)
{
    int fd = mkstemp(test_path);

    (void)state;
    setenv("HOME", "/tmp", 0);
    setenv("XDG_RUNTIME_DIR", "/tmp", 0);
    unsetenv("PAWL_SOCKET");
    return fd < 0 ? -1 : close(fd);
}

static inline int tear_down(void **state)
{
    (void)state;
    return unlink(test_path);
}

#endif
