/*
 * pawl trace: what the trace ring holds, as Chrome Trace Event JSON on stdout, just as the
 * coordinator gives it.
 */
#include <stdio.h>

#include "coordinator/client/commands.h"
#include "coordinator/client/options.h"
#include "coordinator/client/say.h"
#include "coordinator/client/service.h"

int command_trace(const struct arguments *arguments)
{
    struct service service;
    struct http_answer answer;
    char path[64] = "/v1/trace";
    unsigned long seconds = 0;
    int code = options_number(arguments, "--seconds", 1000000000, &seconds);
    if (!code)
        code = service_open(&service, arguments);
    if (code)
        return code;
    if (options_value(arguments, "--seconds"))
        snprintf(path, sizeof(path), "/v1/trace?seconds=%lu", seconds);
    code = service_call_raw(&service, "GET", path, NULL, 0, &answer);
    if (!code) {
        fwrite(answer.body, 1, answer.bytes, stdout);
        code = say_flush();
        http_answer_free(&answer);
    }
    service_close(&service);
    return code;
}
