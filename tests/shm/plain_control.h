/*
 * A control object in plain memory, for tests. Include after cmocka's headers.
 */
#ifndef PAWL_TESTS_SHM_PLAIN_CONTROL_H
#define PAWL_TESTS_SHM_PLAIN_CONTROL_H

#include <stdlib.h>
#include <string.h>

#include "shm/control.h"

static inline void plain_control_make(struct control *control, const struct lane_spec *lanes,
                                      uint32_t lane_count)
{
    uint64_t bytes = control_bytes(lanes, lane_count);
    void *memory = aligned_alloc(CACHE_LINE, bytes);

    assert_non_null(memory);
    memset(memory, 0, bytes);
    control_lay_out(memory, lanes, lane_count, "plain", "test");
    assert_int_equal(control_view(control, memory, bytes), 0);
}

static inline void plain_control_drop(struct control *control)
{
    free(control->header);
    memset(control, 0, sizeof(*control));
}

#endif
