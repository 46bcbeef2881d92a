/*
 * HUP: the configuration is read again, whole or not at all; see loop.h. Keys that need a restart
 * keep their value and are named in one line. A SIGKILL leaves nothing.
 */
#include "coordinator/loop.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coordinator/store.h"
#include "shm/program.h"

/* Geometry, places and names stay as the parts were made with them. */
static void keep_fixed(struct config *fresh, const struct config *running)
{
    struct config kept = *running;
    for (uint32_t i = 0; i < kept.lane_count; i++)
        for (uint32_t j = 0; j < fresh->lane_count; j++)
            if (strcmp(kept.lanes[i].name, fresh->lanes[j].name) == 0)
                kept.lanes[i].credits = fresh->lanes[j].credits;
    memcpy(fresh->lanes, kept.lanes, sizeof(fresh->lanes));
    fresh->lane_count = kept.lane_count;
    memcpy(fresh->socket, kept.socket, sizeof(fresh->socket));
    memcpy(fresh->state_dir, kept.state_dir, sizeof(fresh->state_dir));
    memcpy(fresh->images_dir, kept.images_dir, sizeof(fresh->images_dir));
    memcpy(fresh->run_dir, kept.run_dir, sizeof(fresh->run_dir));
    memcpy(fresh->http_group, kept.http_group, sizeof(fresh->http_group));
    memcpy(fresh->backing, kept.backing, sizeof(fresh->backing));
    memcpy(fresh->store, kept.store, sizeof(fresh->store));
    if (fresh->device_count == 1 && strcmp(fresh->devices[0], "auto") == 0) {
        memcpy(fresh->devices, kept.devices, sizeof(fresh->devices)); /* what it stands for */
        fresh->device_count = kept.device_count;
    }
    fresh->dumpable = kept.dumpable;
    fresh->memory_bytes = kept.memory_bytes;
    fresh->staged = kept.staged;
}

static void apply(struct loop *loop, const struct config *fresh)
{
    struct dispatch_limits limits;
    struct store_limits store_limits;
    loop->config = *fresh;
    loop_store_limits(fresh, &store_limits);
    loop_dispatch_limits(fresh, &limits);
    dispatch_set_limits(loop->service.dispatch, &limits);
    engine_read_uses(&loop->engine);
    loop->service.store->set_limits(loop->service.store, &store_limits);
    loop->uploads.bytes_max = fresh->queued_bytes;
    if (!fresh->keep_device_keys)
        device_keys_clear(&loop->workers.device_keys);
    http_set_limits(&loop->http);
    chmod(fresh->socket, loop_socket_mode(fresh));
}

void loop_reload(struct loop *loop)
{
    char error[1024], quoted[2048], keys[1024];
    struct config *fresh = malloc(sizeof(*fresh));
    if (!fresh)
        return;
    if (config_load(fresh, loop->config.path, error, sizeof(error))) {
        log_event("error", "reload_refused", "error=%s", log_quote(quoted, sizeof(quoted), error));
        free(fresh);
        return;
    }
    config_restart_keys(&loop->config, fresh, keys, sizeof(keys));
    keep_fixed(fresh, &loop->config);
    apply(loop, fresh);
    log_event(keys[0] ? "warn" : "info", "reloaded", "needs_restart=%s",
              log_quote(quoted, sizeof(quoted), keys));
    free(fresh);
}
