/*
 * The configuration: defaults, every key, every kind of mistake with its file, line and advice, and
 * that conf/pawl.ini explains all keys at their real defaults. Run from the repository's root.
 */
#include "tests/coordinator/config_rig.h"

#include <errno.h>
#include <stdbool.h>

#include "coordinator/config_internal.h"
#include "coordinator/dispatch.h"
#include "shm/seat.h"
#include "shm/wire.h"

static void test_defaults(void **state)
{
    char value[256];

    (void)state;
    assert_int_equal(config_load(&loaded, NULL, error_text, sizeof(error_text)), 0);
    assert_string_equal(loaded.path, "");
    assert_int_equal(loaded.drain_timeout_ms, 20000);
    assert_int_equal(loaded.uncommitted_results, 64);
    assert_string_equal(loaded.backing, "shm");
    assert_int_equal(loaded.dumpable, 0);
    assert_int_equal(loaded.max_body_bytes, 1 << 20);
    assert_int_equal(loaded.synth, 2);
    assert_int_equal(loaded.device_count, 1);
    assert_string_equal(loaded.devices[0], "auto");
    assert_int_equal(loaded.keep_device_keys, 0);
    assert_int_equal(loaded.device_use_count, 0);
    assert_int_equal(loaded.threads, 0);
    assert_int_equal(loaded.staged, 1);
    assert_int_equal(loaded.attempts, 3);
    assert_int_equal(loaded.deaths, 5);
    assert_int_equal(loaded.device_charges, 3);
    assert_int_equal(loaded.queued_jobs, 1000);
    assert_int_equal(loaded.queued_bytes, 1 << 30);
    assert_int_equal(loaded.lane_count, 1);
    assert_string_equal(loaded.lanes[0].name, "main");
    assert_int_equal(loaded.lanes[0].slabs, 0);
    assert_int_equal(loaded.lanes[0].size_bytes, 0);
    assert_int_equal(loaded.memory_bytes, 0);
    assert_int_equal(loaded.lanes[0].credits, 0);
    assert_int_equal(loaded.lanes[0].priorities, 15);
    assert_int_equal(loaded.lanes[0].rows, ROWS_HOST);
    assert_int_equal(loaded.path_root_count + loaded.allow_uid_count, 0);
    assert_int_equal(loaded.deadline_ms[STAGE_STARTING], 0);
    assert_true(loaded.deadline_ms[STAGE_MSM] > 0);
    assert_int_equal(config_get(&loaded, "lane main.credits", value, sizeof(value)), 0);
    assert_string_equal(value, "auto");
}

static void test_places(void **state)
{
    char here[PATH_MAX];

    (void)state;
    setenv("PAWL_SOCKET", "/tmp/place/other.sock", 1);
    load_well("");
    assert_string_equal(loaded.socket, "/tmp/place/other.sock");
    assert_string_equal(loaded.run_dir, "/tmp/place");
    unsetenv("PAWL_SOCKET");
    load_well("[pawl]\nsocket = /srv/p.sock\nstate_dir = /srv/state\n");
    assert_string_equal(loaded.socket, "/srv/p.sock");
    assert_string_equal(loaded.run_dir, "/srv");
    assert_string_equal(loaded.images_dir, "/srv/state/images");
    load_well("[pawl]\nsocket = /p.sock\nrun_dir = /run/x\nimages_dir = /data/images\n");
    assert_string_equal(loaded.run_dir, "/run/x");
    assert_string_equal(loaded.images_dir, "/data/images");
    load_well("[pawl]\nsocket = /p.sock\n");
    assert_string_equal(loaded.run_dir, "/");
    snprintf(here, sizeof(here), "[pawl]\nsocket = /%0102d\n", 7);
    assert_int_equal(load_text(here), -EINVAL); /* 103 bytes, and ".http" has to fit as well */
    assert_non_null(strstr(error_text, ":2: socket = "));
    snprintf(here, sizeof(here), "[pawl]\nsocket = /%0101d\n", 7);
    load_well(here);
}

static void test_every_key_of_the_service(void **state)
{
    (void)state;
    load_well("[pawl]\n"
              "socket = /run/x.sock\nstate_dir = /s\nrun_dir = /r\nimages_dir = /i\n"
              "path_roots = /a /b\n  /c\nallow_uids = 1001\n\t1002 0\nhttp_group = pawl\n"
              "memory = auto\ndrain_timeout = 250ms\nuncommitted_results = 7\nwipe_slabs = no\n"
              "backing = memfd\ndumpable = yes\n"
              "[http]\nlisten =\ntoken_file =\nbehind_tls_proxy = no\n"
              "allow_unauthenticated_loopback = no\nmax_body = 64K\n");
    assert_int_equal(loaded.path_root_count, 3);
    assert_string_equal(loaded.path_roots[2], "/c");
    assert_int_equal(loaded.allow_uid_count, 3);
    assert_int_equal(loaded.allow_uids[1], 1002);
    assert_string_equal(loaded.http_group, "pawl");
    assert_int_equal(loaded.drain_timeout_ms, 250);
    assert_int_equal(loaded.uncommitted_results, 7);
    assert_string_equal(loaded.backing, "memfd");
    assert_int_equal(loaded.dumpable, 1);
    assert_int_equal(loaded.max_body_bytes, 65536);
}

static void test_every_key_of_workers_and_devices(void **state)
{
    (void)state;
    load_well("[workers]\nsynth = 3\ndevices = cpu cuda:0\nthreads = 5\nstaged = 4\n"
              "keep_device_keys = yes\n"
              "cpus.coordinator = 0\ncpus.synth = 0-1\ncpus.gpu = 0,1\n"
              "nice.coordinator = -20\nnice.synth = 19\nnice.gpu = 5\n"
              "[device cpu]\nuse = always\n[device GPU-1234]\nuse = fallback\n");
    assert_int_equal(loaded.synth, 3);
    assert_int_equal(loaded.device_count, 2);
    assert_string_equal(loaded.devices[1], "cuda:0");
    assert_int_equal(loaded.threads, 5);
    assert_int_equal(loaded.staged, 4);
    assert_int_equal(loaded.keep_device_keys, 1);
    assert_int_equal(loaded.device_use_count, 2);
    assert_string_equal(loaded.device_uses[1].name, "GPU-1234");
    assert_int_equal(loaded.device_uses[1].use, DEVICE_USE_FALLBACK);
    assert_string_equal(loaded.cpus[ROLE_NONE], "0");
    assert_string_equal(loaded.cpus[ROLE_SYNTH], "0-1");
    assert_string_equal(loaded.cpus[ROLE_GPU], "0,1");
    assert_int_equal(loaded.nice[ROLE_NONE], -20);
    assert_int_equal(loaded.nice[ROLE_SYNTH], 19);
    assert_int_equal(loaded.nice[ROLE_GPU], 5);
}

static void test_every_key_of_lanes_and_circuits(void **state)
{
    (void)state;
    load_well("[lane main]\nslabs = 6\nsize = 2M\ncredits = 5\nrows = device\n"
              "priorities = low high\nnuma = auto\n"
              "[lane express]\npriorities = critical\n"
              "[circuit square]\nprogram = /srv/square\n[circuit cube]\nprogram =\n");
    assert_int_equal(loaded.circuit_count, 2);
    assert_string_equal(loaded.circuits[0].name, "square");
    assert_string_equal(loaded.circuits[0].program, "/srv/square");
    assert_string_equal(loaded.circuits[1].program, "");
    assert_int_equal(loaded.lane_count, 2);
    assert_int_equal(loaded.lanes[0].slabs, 6);
    assert_int_equal(loaded.lanes[0].size_bytes, 2 << 20);
    assert_int_equal(loaded.lanes[0].credits, 5);
    assert_int_equal(loaded.lanes[0].rows, ROWS_DEVICE);
    assert_int_equal(loaded.lanes[0].priorities, 1 << PRIORITY_LOW | 1 << PRIORITY_HIGH);
    assert_string_equal(loaded.lanes[1].name, "express");
    assert_int_equal(loaded.lanes[1].slabs, 0);
    assert_int_equal(loaded.lanes[1].priorities, 1 << PRIORITY_CRITICAL);
}

static void test_every_limit(void **state)
{
    (void)state;
    load_well("[limits]\nqueued_jobs = 8\nqueued_bytes = 3G\nattempts = 1\ndeaths = 0\n"
              "device_charges = 9\ndeadline.witness = 1m\ndeadline.rows = 2s\n"
              "deadline.upload = 3ms\ndeadline.ntt = 4s\ndeadline.msm = 0s\n"
              "deadline.finalize = 6s\n");
    assert_int_equal(loaded.queued_jobs, 8);
    assert_int_equal(loaded.queued_bytes, UINT64_C(3) << 30);
    assert_int_equal(loaded.attempts, 1);
    assert_int_equal(loaded.deaths, 0);
    assert_int_equal(loaded.device_charges, 9);
    assert_int_equal(loaded.deadline_ms[STAGE_WITNESS], 60000);
    assert_int_equal(loaded.deadline_ms[STAGE_ROWS], 2000);
    assert_int_equal(loaded.deadline_ms[STAGE_UPLOAD], 3);
    assert_int_equal(loaded.deadline_ms[STAGE_NTT], 4000);
    assert_int_equal(loaded.deadline_ms[STAGE_MSM], 0);
    assert_int_equal(loaded.deadline_ms[STAGE_FINALIZE], 6000);
}

static void test_unknown_names(void **state)
{
    (void)state;
    refuse("[lane main]\nslabz = 4\n",
           ":2: unknown key `slabz` in [lane main]; did you mean `slabs`?");
    refuse("[workers]\n\nsinth = 4\n",
           ":3: unknown key `sinth` in [workers]; did you mean `synth`?");
    refuse("[limits]\ndeadline.mms = 4s\n",
           ":2: unknown key `deadline.mms` in [limits]; did you mean `deadline.msm`?");
    refuse("[pawl]\nxylophone = 4\n", ":2: unknown key `xylophone` in [pawl]");
    refuse("[http]\nsocket = /x\n", ":2: unknown key `socket` in [http]");
    refuse("[limit]\n", ":1: unknown section [limit]; did you mean [limits]?");
    refuse("# text\n[lanes main]\nslabs = 4\n",
           ":2: unknown section [lanes main]; did you mean [lane NAME]?");
    refuse("[Pawl]\n", ":1: unknown section [Pawl]; did you mean [pawl]?");
    refuse("[quite something else]\n", ":1: unknown section [quite something else]");
    refuse("slabs = 4\n", ":1: key `slabs` stands before any [section]");
    refuse("[lane]\n", ":1: [lane] needs a name");
    refuse("[pawl x]\n", ":1: [pawl x] has no name");
    refuse("[lane a.b]\n", ":1: [lane a.b]: a lane's name has 1 to 31 letters, digits, _ and -");
    refuse(
        "[lane aaaaaaaaaabbbbbbbbbbccccccccccdd]\n",
        ":1: [lane aaaaaaaaaabbbbbbbbbbccccccccccdd]: a lane's name has 1 to 31 letters, digits, "
        "_ and -");
}

static void test_bad_values(void **state)
{
    (void)state;
    refuse("[workers]\nsynth = two\n", ":2: synth = two: a whole number from 0 to 240 is wanted");
    refuse("[workers]\nsynth = 241\n", ":2: synth = 241: a whole number from 0 to 240 is wanted");
    refuse("[workers]\nsynth = -1\n", ":2: synth = -1: a whole number from 0 to 240 is wanted");
    refuse("[workers]\nsynth =\n", ":2: synth = : a whole number from 0 to 240 is wanted");
    refuse("[workers]\nsynth = 18446744073709551618\n",
           ":2: synth = 18446744073709551618: a whole number from 0 to 240 is wanted");
    refuse("[workers]\nstaged = 0\n", ":2: staged = 0: a whole number from 1 to 4 is wanted");
    refuse("[workers]\nnice.gpu = -21\n", ":2: nice.gpu = -21: a nice value, -20 to 19, is wanted");
    refuse("[workers]\ncpus.gpu = 3-1\n",
           ":2: cpus.gpu = 3-1: a list of CPUs such as 0-3,8 is wanted");
    refuse("[pawl]\ndrain_timeout = 20\n",
           ":2: drain_timeout = 20: a duration such as 250ms, 20s or 5m from 0 to 86400000 ms is "
           "wanted");
    refuse("[pawl]\ndumpable = true\n", ":2: dumpable = true: yes or no is wanted");
    refuse("[pawl]\nbacking = ramdisk\n",
           ":2: backing = ramdisk: shm, memfd or hugetlbfs is wanted");
    refuse("[pawl]\npath_roots = /a b\n",
           ":2: path_roots = /a b: a list of at most 16 absolute paths is wanted");
    refuse("[pawl]\nallow_uids = root\n",
           ":2: allow_uids = root: a list of at most 32 user numbers is wanted");
    refuse("[pawl]\nallow_uids = 4294967295\n",
           ":2: allow_uids = 4294967295: a list of at most 32 user numbers is wanted");
    refuse("[pawl]\nstate_dir = here\n",
           ":2: state_dir = here: an absolute path that is short enough is wanted, at most 4095 "
           "bytes");
    refuse("[lane main]\nsize = 1k\n",
           ":2: size = 1k: auto or a size such as 64M (K, M, G) from 8192 to "
           "1099511627776 is wanted");
    refuse("[lane main]\npriorities = low urgent\n",
           ":2: priorities = low urgent: a list of low, normal, high, critical is wanted");
    refuse("[lane main]\nrows = gpu\n", ":2: rows = gpu: host or device is wanted");
    refuse("[lane main]\ncredits = 0\n",
           ":2: credits = 0: auto or a whole number from 1 to 1024 is wanted");
}

/* What plans itself, and what fixes it. */
static void test_auto_and_numbers(void **state)
{
    char value[64];

    (void)state;
    load_well("[pawl]\nmemory = 8G\nbacking = hugetlbfs\n"
              "[lane main]\nnuma = 1\nsize = 3M\nslabs = 2\n");
    assert_int_equal(loaded.memory_bytes, UINT64_C(8) << 30);
    assert_string_equal(loaded.backing, "hugetlbfs");
    assert_int_equal(loaded.lanes[0].numa, 2);
    assert_int_equal(loaded.lanes[0].size_bytes, 3 << 20);
    assert_int_equal(loaded.lanes[0].slabs, 2);
    assert_int_equal(config_get(&loaded, "lane main.numa", value, sizeof(value)), 0);
    assert_string_equal(value, "1");
    load_well("[pawl]\nmemory = auto\n[lane main]\nnuma = auto\nsize = auto\nslabs = auto\n"
              "credits = 9\n");
    assert_int_equal(loaded.memory_bytes, 0);
    assert_int_equal(loaded.lanes[0].numa, 0);
    assert_int_equal(loaded.lanes[0].size_bytes, 0);
    assert_int_equal(loaded.lanes[0].slabs, 0);
    refuse("[pawl]\nbacking = paper\n", ":2: backing = paper: shm, memfd or hugetlbfs is wanted");
    refuse("[pawl]\nmemory = 1M\n", ":2: memory = 1M: auto or a size such as 64M (K, M, G) from "
                                    "16777216 to 1125899906842624 is wanted");
    refuse("[lane main]\nnuma = 64\n",
           ":2: numa = 64: auto or a node's number from 0 to 63 is wanted");
    refuse("[lane main]\nnuma = x\n",
           ":2: numa = x: auto or a node's number from 0 to 63 is wanted");
    refuse("[lane main]\nslabs = 0\n",
           ":2: slabs = 0: auto or a whole number from 1 to 1024 is wanted");
    refuse("[lane main]\nsize = 0\n", ":2: size = 0: auto or a size such as 64M (K, M, G) from "
                                      "8192 to 1099511627776 is wanted");
}

static void test_later_versions(void **state)
{
    (void)state;
    refuse("[pawl]\nwipe_slabs = yes\n",
           ":2: wipe_slabs = yes is not in this version; leave it at no");
    refuse("[http]\nlisten = 0.0.0.0:80\n",
           ":2: listen = 0.0.0.0:80 is not in this version; leave it out");
    refuse("[http]\nbehind_tls_proxy = yes\n",
           ":2: behind_tls_proxy = yes is not in this version; leave it at no");
    refuse("[circuit a]\nprogram = w\n",
           ":2: program = w: an absolute path that is short enough is wanted, at most 1023 bytes");
    refuse("[circuit .a]\nprogram = /w\n",
           ":1: [circuit .a]: a circuit's name is [A-Za-z0-9][A-Za-z0-9._-]{0,63}");
}

static void test_lines(void **state)
{
    char text[1024];
    int used;

    (void)state;
    refuse("[workers]\nsynth = 1\n# a word\nsynth = 2\n", ":4: synth is already given in line 2");
    refuse("[pawl]\nbacking = shm\n[workers]\n[pawl]\nbacking = shm\n",
           ":5: backing is already given in line 2");
    load_well("[lane a]\nslabs = 1\n[lane b]\nslabs = 1\n[lane a]\nsize = 1M\n");
    assert_int_equal(loaded.lane_count, 2);
    assert_int_equal(loaded.lanes[0].size_bytes, 1 << 20);
    refuse("[workers]\nsynth\n", ":2: neither [section] nor KEY = VALUE");
    refuse("[workers\nsynth = 1\n", ":1: neither [section] nor KEY = VALUE");
    refuse("[workers]\nsynth\nsinth = 1\n", ":2: neither [section] nor KEY = VALUE");
    refuse("[workers]\nsynth = 1\n  threads = 2\n",
           ":3: an indented line goes on with a list, and `synth` is none; start the line at its "
           "beginning");
    refuse("[pawl]\npath_roots = /a\n  [workers]\n",
           ":3: path_roots = [workers]: a list of at most 16 absolute paths is wanted");
    load_well("\xEF\xBB\xBF[workers]\r\nsynth = 7 ; seven\r\n  ; a note\n\n  # another\n");
    assert_int_equal(loaded.synth, 7);
    load_well("  [workers]\n  synth = 7\n"); /* the first key of a section may be indented */
    assert_int_equal(loaded.synth, 7);
    load_well("[workers]\nsynth = 6"); /* no newline at the end */
    assert_int_equal(loaded.synth, 6);

    /* inih would cut a line of 200 characters; comments may be of any length. */
    used = snprintf(text, sizeof(text), "[pawl]\n# %0400d\nstate_dir = /", 1);
    memset(text + used, 'x', 183);
    text[used + 183] = '\0';
    load_well(text);
    assert_int_equal(strlen(loaded.state_dir), 184);
    text[used + 183] = 'x';
    memcpy(text + used + 184, "xx", 3);
    refuse(text, ":3: a line of more than 197 characters; lists may go on in indented lines");
    assert_int_equal(load_bytes("[pawl]\nba\0cking = shm\n", 22), -EINVAL);
    assert_non_null(strstr(error_text, ":2: a NUL byte; this is no text"));
}

static void test_files(void **state)
{
    (void)state;
    assert_int_equal(config_load(&loaded, "/nonexistent/pawl.ini", error_text, sizeof(error_text)),
                     -ENOENT);
    assert_string_equal(error_text, "/nonexistent/pawl.ini: cannot read the configuration: "
                                    "No such file or directory");
    assert_true(config_load(&loaded, "/tmp", error_text, sizeof(error_text)) < 0);
    assert_int_equal(strncmp(error_text, "/tmp", 4), 0);
}

static void test_between_keys(void **state)
{
    (void)state;
    refuse("[lane main]\nslabs = 2\ncredits = 3\n",
           ": [lane main] credits = 3, but slabs = 2; lower credits or raise slabs");
    refuse("[lane main]\npriorities =\n", ": [lane main] priorities is empty; name at least one");
    refuse("[lane a]\nslabs = 1000\n[lane b]\nslabs = 25\n",
           ": all lanes together have 1025 slabs; at most 1024");
    load_well("[lane a]\nslabs = 1000\n[lane b]\nslabs = 24\n");
}

static void test_too_many_lanes(void **state)
{
    char text[1024] = "";

    (void)state;
    for (unsigned i = 0; i <= LANES_MAX; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "[lane l%u]\n", i);
    refuse(text, ":17: [lane l16]: more than 16 lanes");
}

static void test_parsers(void **state)
{
    uint64_t value = 0;

    (void)state;
    assert_int_equal(config_parse_bytes("64K", &value), 0);
    assert_int_equal(value, 65536);
    assert_int_equal(config_parse_bytes("17", &value), 0);
    assert_int_equal(value, 17);
    assert_int_equal(config_parse_bytes("16G", &value), 0);
    assert_int_equal(value, UINT64_C(16) << 30);
    assert_int_equal(config_parse_duration_ms("5m", &value), 0);
    assert_int_equal(value, 300000);
    assert_int_equal(config_parse_duration_ms("250ms", &value), 0);
    assert_int_equal(value, 250);
    static const char *const bad_bytes[] = {"",   "K",    "1k",   "1KB", "1 K",
                                            "-1", "0x10", "1.5M", "1T",  "18446744073709551615G"};
    static const char *const bad_durations[] = {
        "", "5", "s", "5 s", "5h", "1.5s", "18446744073709551615m"};
    for (size_t i = 0; i < sizeof(bad_bytes) / sizeof(bad_bytes[0]); i++)
        assert_int_equal(config_parse_bytes(bad_bytes[i], &value), -EINVAL);
    for (size_t i = 0; i < sizeof(bad_durations) / sizeof(bad_durations[0]); i++)
        assert_int_equal(config_parse_duration_ms(bad_durations[i], &value), -EINVAL);
}

static void want_value(const char *name, const char *wanted)
{
    char value[8192];

    assert_int_equal(config_get(&loaded, name, value, sizeof(value)), 0);
    assert_string_equal(value, wanted);
}

static void test_get(void **state)
{
    char value[64];

    (void)state;
    load_well("[pawl]\npath_roots = /a /b\nallow_uids = 7 8\n[workers]\ndevices = cpu cuda:1\n"
              "cpus.synth = 0\nnice.gpu = -3\n[lane x-1]\ncredits = 2\npriorities = high low\n");
    want_value("workers.synth", "2");
    want_value("workers.devices", "cpu cuda:1");
    want_value("workers.cpus.synth", "0");
    want_value("workers.nice.gpu", "-3");
    want_value("pawl.path_roots", "/a /b");
    want_value("pawl.allow_uids", "7 8");
    want_value("pawl.drain_timeout", "20000ms");
    want_value("pawl.dumpable", "no");
    want_value("pawl.memory", "auto");
    want_value("lane x-1.credits", "2");
    want_value("lane.x-1.priorities", "low high");
    want_value("lane.x-1.size", "auto");
    want_value("lane.x-1.slabs", "auto");
    want_value("lane.x-1.numa", "auto");
    static const char *const none[] = {
        "",         "workers",          "workers.",    "nothing.synth",   "lane",      "lane.",
        "lane.x-1", "lane.x-1.nothing", "lane.y.size", "circuit.program", "device.use"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_int_equal(config_get(&loaded, none[i], value, sizeof(value)), -ENOENT);
}

static void test_restart_keys(void **state)
{
    static struct config running;
    char keys[1024];

    (void)state;
    load_well("[pawl]\nbacking = shm\n[lane main]\nslabs = 4\n");
    running = loaded;
    config_restart_keys(&running, &loaded, keys, sizeof(keys));
    assert_string_equal(keys, "");
    load_well("[pawl]\nbacking = shm\n[workers]\nsynth = 9\n[limits]\nattempts = 9\n"
              "[lane main]\nslabs = 4\ncredits = 2\n");
    config_restart_keys(&running, &loaded, keys, sizeof(keys));
    assert_string_equal(keys, ""); /* these take effect at once */
    load_well("[pawl]\nbacking = memfd\n[lane main]\nslabs = 5\nsize = 1M\n");
    config_restart_keys(&running, &loaded, keys, sizeof(keys));
    assert_string_equal(keys, "pawl.backing lane.main.slabs lane.main.size");
    load_well("[lane main]\n[lane more]\n");
    config_restart_keys(&running, &loaded, keys, sizeof(keys));
    assert_string_equal(keys, "lanes");
}

/* ---------------------------------------------------------------- conf/pawl.ini */

/* A line "# key = value": the value must be the default, where the default is not a place. */
static void check_shipped_line(const char *section, const char *line)
{
    char name[64], value[256] = "", fallback[256], set[256];
    static struct config fresh;
    const struct config_key *key;
    bool lane = strcmp(section, "lane") == 0;
    int used = 0;

    if (sscanf(line, "# %63[a-z_.] =%n", name, &used) != 1 || !used)
        return; /* prose */
    sscanf(line + used, " %255[^\n]", value);
    key = config_key_find(section, name);
    if (!key)
        fail_msg("conf/pawl.ini: [%s] has no key %s", section, name);
    if (!*key->fallback)
        return; /* an example */
    memset(&fresh, 0, sizeof(fresh));
    void *base = lane ? (void *)&fresh.lanes[0] : (void *)&fresh;
    key->kind->set(key, base, key->fallback);
    key->kind->get(key, base, fallback, sizeof(fallback));
    memset(&fresh, 0, sizeof(fresh));
    assert_int_equal(key->kind->set(key, base, value), 0);
    key->kind->get(key, base, set, sizeof(set));
    assert_string_equal(set, fallback);
}

static bool is_named(const char *text, const char *name)
{
    char line[80];

    snprintf(line, sizeof(line), "\n# %s =", name);
    return strstr(text, line) != NULL;
}

static void test_shipped_file(void **state)
{
    static char text[65536];
    char section[64] = "";
    FILE *file = fopen("conf/pawl.ini", "re");
    char *line, *rest = NULL;

    (void)state;
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < config_key_count; i++) {
        if (!is_named(text, config_keys[i].name))
            fail_msg("conf/pawl.ini does not explain %s", config_keys[i].name);
    }
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *head = line[0] == '#' && line[1] == ' ' ? line + 2 : line;
        if (strcmp(head, "[lane express]") == 0)
            section[0] = '\0'; /* an example of other values */
        else if (*head == '[')
            assert_int_equal(sscanf(head, "[%63[a-z]", section), 1);
        else if (*section)
            check_shipped_line(section, line);
        else if (strncmp(line, "####", 4) == 0)
            continue;
    }
    if (config_load(&loaded, "conf/pawl.ini", error_text, sizeof(error_text)))
        fail_msg("%s", error_text);
    assert_int_equal(loaded.lane_count, 1);
}

/* Any bytes at all are refused or taken, never worse. */
static void test_random_bytes(void **state)
{
    static const char *const bits[] = {
        "[pawl]\n", "[lane a]\n", "slabs", " = ", "4\n",  "path_roots", "/x ", "\n  ", "[",
        "]",        ";",          "#",     "\"",  "size", "64M",        "\0",  "\xff", "socket"};
    uint64_t seed = 88172645463325252u;
    char text[2048];

    (void)state;
    for (int round = 0; round < 3000; round++) {
        size_t used = 0;
        for (int i = 0; i < 40; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            const char *bit = bits[(seed >> 20) % (sizeof(bits) / sizeof(bits[0]))];
            size_t length = *bit ? strlen(bit) : 1;
            memcpy(text + used, bit, length);
            used += length;
        }
        if (load_bytes(text, used))
            assert_true(strlen(error_text) > strlen(test_path));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_every_key_of_the_service),
        cmocka_unit_test(test_every_key_of_workers_and_devices),
        cmocka_unit_test(test_every_key_of_lanes_and_circuits),
        cmocka_unit_test(test_every_limit),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_auto_and_numbers),
        cmocka_unit_test(test_later_versions),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_between_keys),
        cmocka_unit_test(test_too_many_lanes),
        cmocka_unit_test(test_parsers),
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_restart_keys),
        cmocka_unit_test(test_shipped_file),
        cmocka_unit_test(test_random_bytes),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
