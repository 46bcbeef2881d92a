/*
 * PAWL_SOFTCUDA: words separated by commas, each a property of the machine that is played or a
 * fault to be injected. Read at cuInit. A word that is not known ends the test rather than being
 * passed over. README.md lists them. A SIGKILL leaves nothing.
 */
#include "tests/softcuda/driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_DEFAULT ((uint64_t)1 << 30)

/* How one word sets one field: the number behind '=' or '@', with K, M, G where bytes are meant. */
static int read_number(const char *text, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 0);
    if (end == text || errno)
        return -EINVAL;
    const char *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        *out <<= 10 * (unit - units + 1);
        end++;
    }
    return *end ? -EINVAL : 0;
}

static int read_path(const char *text, char *out)
{
    if (!*text || strlen(text) >= PATH_MAX)
        return -EINVAL;
    strcpy(out, text);
    return 0;
}

static int set_oom(struct soft_options *options, char *value)
{
    size_t length = strlen(value);

    options->oom_on = length && value[length - 1] == '+';
    if (options->oom_on)
        value[length - 1] = '\0';
    return read_number(value, &options->oom_at);
}

static int set_fault(struct soft_options *options, char *value)
{
    char *at = strchr(value, '@');
    uint64_t code;

    if (!at)
        return -EINVAL;
    *at = '\0';
    if (read_number(value, &code) || code < 1 || code > 999)
        return -EINVAL;
    options->fault_code = (CUresult)code;
    return read_number(at + 1, &options->fault_at);
}

static int set_int(int *out, const char *value)
{
    uint64_t number;

    if (read_number(value, &number) || number > INT_MAX)
        return -EINVAL;
    *out = (int)number;
    return 0;
}

static int set_devices(struct soft_options *options, const char *value)
{
    uint64_t number;

    if (read_number(value, &number) || number > SOFT_DEVICES_MOST)
        return -EINVAL;
    options->devices = (unsigned)number;
    return 0;
}

static int set_slow(struct soft_options *options, const char *value)
{
    uint64_t ms;

    if (read_number(value, &ms) || ms > 60000)
        return -EINVAL;
    options->slow_us = (unsigned)ms * 1000;
    return 0;
}

static int set_flag(struct soft_options *options, const char *word)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {
        {"novmm", &options->novmm},
        {"noprotect", &options->noprotect},
        {"noregister", &options->noregister},
        {"roregister", &options->roregister},
        {"mps", &options->mps},
        {"prohibited", &options->prohibited},
        {"mig", &options->mig},
    };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (!strcmp(word, flags[i].word)) {
            *flags[i].flag = true;
            return 0;
        }
    return -EINVAL;
}

/* `word` is "name" or "name=value" or "name@value", cut in two by the caller. */
static int set_word(struct soft_options *options, const char *name, char *value)
{
    if (!value)
        return set_flag(options, name);
    if (!strcmp(name, "oom"))
        return set_oom(options, value);
    if (!strcmp(name, "fault"))
        return set_fault(options, value);
    if (!strcmp(name, "hang"))
        return read_number(value, &options->hang_at);
    if (!strcmp(name, "flip"))
        return read_number(value, &options->flip_at);
    if (!strcmp(name, "devices"))
        return set_devices(options, value);
    if (!strcmp(name, "driver"))
        return set_int(&options->version, value);
    if (!strcmp(name, "cc"))
        return set_int(&options->capability, value);
    if (!strcmp(name, "init"))
        return set_int(&options->init, value);
    if (!strcmp(name, "memory"))
        return read_number(value, &options->memory_bytes);
    if (!strcmp(name, "slow"))
        return set_slow(options, value);
    if (!strcmp(name, "seed"))
        return read_number(value, &options->seed);
    if (!strcmp(name, "once"))
        return read_path(value, options->once);
    return strcmp(name, "trace") ? -EINVAL : read_path(value, options->trace);
}

static int set_text(struct soft_options *options, char *word)
{
    char *cut = strpbrk(word, "=@"), *value = NULL, whole[64];

    snprintf(whole, sizeof(whole), "%s", word);
    if (cut) {
        *cut = '\0';
        value = cut + 1;
    }
    int result = set_word(options, word, value);
    if (result)
        fprintf(stderr, "softcuda: PAWL_SOFTCUDA: `%s` is not understood\n", whole);
    return result;
}

int soft_options_read(struct soft_options *options)
{
    const char *text = getenv("PAWL_SOFTCUDA");
    char *copy, *rest, *word;
    int result = 0;

    *options = (struct soft_options){.devices = 1,
                                     .version = 13000,
                                     .capability = 90,
                                     .memory_bytes = MEMORY_DEFAULT,
                                     .seed = 1};
    if (!text)
        return 0;
    copy = rest = strdup(text);
    if (!copy)
        return -ENOMEM;
    while (!result && (word = strsep(&rest, ",")))
        if (*word)
            result = set_text(options, word);
    free(copy);
    return result;
}
