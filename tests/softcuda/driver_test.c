/*
 * The software driver: beginning, devices, contexts, modules, launches, and the faults that
 * PAWL_SOFTCUDA asks for.
 */
#include "tests/softcuda/driver_rig.h"

#include <fcntl.h>
#include <pthread.h>

static void before_init(void)
{
    int version, count;

    require_code(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    require_ok(cuDriverGetVersion(&version));
    require(version == 13000);
    require_code(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    require_ok(cuInit(0));
    require_ok(cuDeviceGetCount(&count));
    require(count == 1);
}

static void old_driver(void)
{
    int version;

    require_ok(cuDriverGetVersion(&version));
    require(version == 12040);
}

static void no_device(void)
{
    require_code(CUDA_ERROR_NO_DEVICE, cuInit(0));
}

static void mismatch(void)
{
    require_code(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, cuInit(0));
}

static void unknown(void)
{
    require_code(CUDA_ERROR_UNKNOWN, cuInit(0));
}

static void test_init(void **state)
{
    (void)state;
    scenario_run("", before_init);
    scenario_run("driver=12040", old_driver);
    scenario_run("devices=0", no_device);
    scenario_run("init=803", mismatch);
    scenario_run("devices=two", unknown);
    scenario_run("nosuchword", unknown);
    scenario_run("fault=700", unknown);
}

static int attribute(int number)
{
    int value;

    require_ok(cuDeviceGetAttribute(&value, number, 0));
    return value;
}

static void three_devices(void)
{
    struct cuda_uuid uuids[3];
    char name[64], short_name[5];
    int value;

    require_ok(cuInit(0));
    for (CUdevice i = 0; i < 3; i++)
        require_ok(cuDeviceGetUuid_v2(&uuids[i], i));
    require(memcmp(&uuids[0], &uuids[1], sizeof(uuids[0])));
    require(uuids[2].bytes[15] == 2 && uuids[0].bytes[0] == 'p');
    require_code(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetUuid_v2(uuids, 3));
    require_ok(cuDeviceGetName(name, sizeof(name), 2));
    require(!strcmp(name, "Pawl software device"));
    require_ok(cuDeviceGetName(short_name, sizeof(short_name), 2));
    require(!strcmp(short_name, "Pawl"));
    require(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 8);
    require(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) == 6);
    require(attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) == 0);
    require(attribute(CU_DEVICE_ATTRIBUTE_MPS_ENABLED) == 1);
    require_code(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, 9999, 0));
}

/* What CUDA_VISIBLE_DEVICES leaves of three devices; the first of them is index `first`. */
static const char *visible;
static int visible_count, visible_first;

static void look_at_visible(void)
{
    struct cuda_uuid uuid;
    int count;

    setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    require_code(visible_count ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE, cuInit(0));
    if (!visible_count)
        return;
    require_ok(cuDeviceGetCount(&count));
    require(count == visible_count);
    require_ok(cuDeviceGetUuid_v2(&uuid, 0));
    require(uuid.bytes[15] == visible_first);
}

static void check_visible(const char *list, int count, int first)
{
    visible = list;
    visible_count = count;
    visible_first = first;
    scenario_run("devices=3", look_at_visible);
}

static void test_devices(void **state)
{
    (void)state;
    scenario_run("devices=3,cc=86,novmm,mps", three_devices);
    check_visible("2,0", 2, 2);
    check_visible("1,junk,0", 1, 1);
    check_visible("3", 0, 0);
    check_visible("", 0, 0);
    check_visible("GPU-7061776c-736f-4f74-8c75-646100000001", 1, 1);
}

static void *without_context(void *arg)
{
    CUdeviceptr at;

    (void)arg;
    require_code(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&at, 1));
    return NULL;
}

static void contexts(void)
{
    CUcontext context;
    CUdeviceptr at;
    pthread_t thread;

    require_ok(cuInit(0));
    require_code(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&at, 1));
    require_code(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
    require_ok(cuDevicePrimaryCtxSetFlags_v2(0, CU_CTX_SCHED_BLOCKING_SYNC));
    require_ok(cuDevicePrimaryCtxRetain(&context, 0));
    require_ok(cuCtxSetCurrent(context));
    require_ok(cuMemAlloc_v2(&at, 1));
    require(!pthread_create(&thread, NULL, without_context, NULL));
    pthread_join(thread, NULL);
    require_ok(cuDevicePrimaryCtxRelease_v2(0));
    require_code(CUDA_ERROR_INVALID_CONTEXT, cuMemFree_v2(at));
}

static void prohibited(void)
{
    CUcontext context;

    require_ok(cuInit(0));
    require(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == CU_COMPUTEMODE_PROHIBITED);
    require_code(CUDA_ERROR_DEVICE_UNAVAILABLE, cuDevicePrimaryCtxRetain(&context, 0));
}

static void test_contexts(void **state)
{
    (void)state;
    scenario_run("", contexts);
    scenario_run("prohibited", prohibited);
}

/* As from the real driver: nothing works in a child made by fork. */
static void forked(void)
{
    int count, status;

    open_context();
    pid_t pid = fork();
    if (!pid) {
        CUdeviceptr at;
        require_code(CUDA_ERROR_NOT_INITIALIZED, cuInit(0));
        require_code(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
        require_code(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc_v2(&at, 1));
        _exit(0);
    }
    require(waitpid(pid, &status, 0) == pid && status == 0);
    require_ok(cuDeviceGetCount(&count));
}

static void test_fork(void **state)
{
    (void)state;
    scenario_run("", forked);
}

/* A fatbin whose only entry is machine code of sm_100, or PTX of compute_121, and empty. */
static void fill_fatbin(unsigned char fatbin[48], uint16_t kind, uint32_t architecture)
{
    uint32_t magic = 0xba55ed50, header_bytes = 32;
    uint16_t version = 1, own_bytes = 16;
    uint64_t bytes = 32;

    memset(fatbin, 0, 48);
    memcpy(fatbin, &magic, 4);
    memcpy(fatbin + 4, &version, 2);
    memcpy(fatbin + 6, &own_bytes, 2);
    memcpy(fatbin + 8, &bytes, 8);
    memcpy(fatbin + 16, &kind, 2);
    memcpy(fatbin + 20, &header_bytes, 4);
    memcpy(fatbin + 44, &architecture, 4);
}

static void modules(void)
{
    unsigned char fatbin[48];
    CUmodule module;
    CUfunction function;
    unsigned count;
    int value;

    open_context();
    require_code(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, "this is no PTX\n"));
    fill_fatbin(fatbin, 2, 100);
    require_code(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, fatbin));
    fill_fatbin(fatbin, 1, 121);
    require_code(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, fatbin));
    fatbin[24] = 200; /* an entry longer than its file */
    require_code(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, fatbin));
    require_ok(cuModuleLoadData(&module, rig_ptx));
    require_code(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "subtract"));
    require_ok(cuModuleGetFunction(&function, module, "add_to_each"));
    require_ok(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    require(value == 1024);
    require_ok(cuModuleGetFunctionCount(&count, module));
    require(count == 1);
    require_ok(cuModuleEnumerateFunctions(&function, count, module));
    require_ok(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
    require(value == 0);
    require_ok(cuModuleUnload(module));
    require_code(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    require_code(CUDA_ERROR_INVALID_HANDLE,
                 cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
}

static void test_modules(void **state)
{
    (void)state;
    scenario_run("", modules);
}

static void launches(void)
{
    open_context();
    CUfunction function = rig_load();
    CUdeviceptr in = rig_words(1000), out;
    require_ok(cuMemAlloc_v2(&out, 4000));
    struct rig_add add = {out, in, 1000, 7};
    size_t bytes = sizeof(add);
    void *parameters[] = {&add}, *extra[] = {(void *)1, &add, (void *)2, &bytes, NULL};

    require_ok(rig_launch(function, add, NULL));
    require(rig_word(out, 0) == 7 && rig_word(out, 999) == 1006);
    add.add = 9;
    require_ok(cuLaunchKernel(function, 16, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    require(rig_word(out, 999) == 1008);
    bytes--;
    require_code(CUDA_ERROR_INVALID_VALUE,
                 cuLaunchKernel(function, 16, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    require_code(CUDA_ERROR_INVALID_VALUE,
                 cuLaunchKernel(function, 16, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    require_code(CUDA_ERROR_INVALID_VALUE,
                 cuLaunchKernel(function, 0, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL));
    require_code(CUDA_ERROR_INVALID_VALUE,
                 cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, NULL, parameters, NULL));
    require_code(CUDA_ERROR_INVALID_VALUE,
                 cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 50000, NULL, parameters, NULL));
    require_code(
        CUDA_ERROR_INVALID_VALUE,
        cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
    require_ok(
        cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000));
    require_ok(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 50000, NULL, parameters, NULL));
    require_code(CUDA_ERROR_INVALID_HANDLE, rig_launch((CUfunction)(uintptr_t)64, add, NULL));
}

static void test_launches(void **state)
{
    (void)state;
    scenario_run("", launches);
}

static const char greedy_ptx[] = ".version 9.0\n"
                                 ".target sm_90\n"
                                 ".address_size 64\n"
                                 ".visible .entry greedy()\n"
                                 "{\n"
                                 ".local .align 8 .b8 much[2048];\n"
                                 "ret;\n"
                                 "}\n";

static size_t free_bytes(void)
{
    size_t bytes, total;

    require_ok(cuMemGetInfo_v2(&bytes, &total));
    return bytes;
}

/* Allocated at the first launch that needs more than there is, or when it is asked for. */
static void local_memory(void)
{
    CUmodule module;
    CUfunction greedy;
    size_t limit, before;

    open_context();
    require_ok(cuModuleLoadData(&module, greedy_ptx));
    require_ok(cuModuleGetFunction(&greedy, module, "greedy"));
    require_code(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit(&limit, 1));
    require_code(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxSetLimit(1, 1));
    require_ok(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    require(limit == SOFT_LOCAL_BYTES);
    before = free_bytes();
    require_code(CUDA_ERROR_OUT_OF_MEMORY,
                 cuLaunchKernel(greedy, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    require(free_bytes() == before);
    require_ok(cuLaunchKernel(greedy, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    require(before - free_bytes() == SOFT_THREADS * (2048 - SOFT_LOCAL_BYTES));
    require_ok(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    require(before - free_bytes() == SOFT_THREADS * (4096 - SOFT_LOCAL_BYTES));
    require_code(CUDA_ERROR_OUT_OF_MEMORY, cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)1 << 20));
    require_ok(cuDevicePrimaryCtxRelease_v2(0));
    open_context();
    require(free_bytes() == before);
}

static void test_local_memory(void **state)
{
    (void)state;
    scenario_run("oom=1", local_memory);
}

/* After a kernel's fault every call answers with it, whatever it is about. */
static void require_sticky(CUresult code)
{
    CUdeviceptr at;
    size_t bytes;
    int count;

    require_code(code, cuStreamSynchronize(NULL));
    require_code(code, cuMemAlloc_v2(&at, 1));
    require_code(code, cuMemGetInfo_v2(&bytes, &bytes));
    require_code(code, cuDeviceGetCount(&count));
    require_code(code, cuDevicePrimaryCtxRelease_v2(0));
    require_code(code, cuInit(0));
}

static void store_beyond(void)
{
    open_context();
    CUfunction function = rig_load();
    CUdeviceptr in = rig_words(1000), out;
    require_ok(cuMemAlloc_v2(&out, 3996));
    rig_launch(function, (struct rig_add){out, in, 1000, 7}, NULL);
    require_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void load_freed(void)
{
    open_context();
    CUfunction function = rig_load();
    CUdeviceptr in = rig_words(10), out = rig_words(10);
    require_ok(cuMemFree_v2(in));
    rig_launch(function, (struct rig_add){out, in, 10, 7}, NULL);
    require_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void load_unwritten(void)
{
    open_context();
    CUfunction function = rig_load();
    CUdeviceptr in, out = rig_words(10);
    require_ok(cuMemAlloc_v2(&in, 40));
    rig_launch(function, (struct rig_add){out, in, 10, 7}, NULL);
    require_sticky(CUDA_ERROR_LAUNCH_FAILED);
}

static void load_misaligned(void)
{
    open_context();
    CUfunction function = rig_load();
    CUdeviceptr in = rig_words(10), out = rig_words(10);
    rig_launch(function, (struct rig_add){out, in + 2, 9, 7}, NULL);
    require_sticky(CUDA_ERROR_MISALIGNED_ADDRESS);
}

static void load_of_the_host(void)
{
    open_context();
    CUfunction function = rig_load();
    CUdeviceptr out = rig_words(10);
    uint32_t words[10] = {0};
    rig_launch(function, (struct rig_add){out, (uintptr_t)words, 10, 7}, NULL);
    require_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void test_kernels_faults_are_sticky(void **state)
{
    (void)state;
    scenario_run("", store_beyond);
    scenario_run("", load_freed);
    scenario_run("", load_unwritten);
    scenario_run("", load_misaligned);
    scenario_run("", load_of_the_host);
}

static void second_allocation_fails(void)
{
    CUdeviceptr at;

    open_context();
    require_ok(cuMemAlloc_v2(&at, 100));
    require_code(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&at, 100));
    require_ok(cuMemAlloc_v2(&at, 100));
}

static void all_from_the_second_fail(void)
{
    CUdeviceptr at;

    open_context();
    require_ok(cuMemAlloc_v2(&at, 100));
    require_code(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&at, 100));
    require_code(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&at, 100));
}

static void second_launch_faults(void)
{
    open_context();
    CUfunction function = rig_load();
    CUdeviceptr in = rig_words(10);
    require_ok(rig_launch(function, (struct rig_add){in, in, 10, 1}, NULL));
    require(rig_word(in, 1) == 2);
    rig_launch(function, (struct rig_add){in, in, 10, 1}, NULL);
    require_sticky(CUDA_ERROR_LAUNCH_FAILED);
}

/* What the launch itself answers; it does not run, and the next one does. */
static void second_launch_has_no_memory(void)
{
    open_context();
    CUfunction function = rig_load();
    struct rig_add add = {0, 0, 10, 1};
    add.in = add.out = rig_words(10);

    require_ok(rig_launch(function, add, NULL));
    require_code(CUDA_ERROR_OUT_OF_MEMORY, rig_launch(function, add, NULL));
    require(rig_word(add.out, 0) == 1);
    require_ok(rig_launch(function, add, NULL));
    require(rig_word(add.out, 0) == 2);
}

static void first_launch_hangs(void)
{
    CUstream stream;

    open_context();
    CUfunction function = rig_load();
    CUdeviceptr in = rig_words(10);
    require_ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    require_ok(rig_launch(function, (struct rig_add){in, in, 10, 1}, stream));
    usleep(50000);
    require_code(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    require(rig_word(in, 1) == 1); /* other streams go on */
}

static void second_copy_flips(void)
{
    uint32_t first[10], second[10], flipped = 0;

    open_context();
    CUdeviceptr in = rig_words(10);
    require_ok(cuMemcpyDtoHAsync_v2(first, in, sizeof(first), NULL));
    require_ok(cuMemcpyDtoHAsync_v2(second, in, sizeof(second), NULL));
    for (unsigned i = 0; i < 10; i++) {
        require(first[i] == i);
        flipped += (uint32_t)__builtin_popcount(second[i] ^ i);
    }
    require(flipped == 1);
    require(rig_word(in, 9) == 9);
}

static void test_injections(void **state)
{
    (void)state;
    scenario_run("oom=2", second_allocation_fails);
    scenario_run("oom=2+", all_from_the_second_fail);
    scenario_run("fault=719@2", second_launch_faults);
    scenario_run("fault=2@2", second_launch_has_no_memory);
    scenario_run("hang@1", first_launch_hangs);
    scenario_run("flip@2", second_copy_flips);
}

static void no_allocation_fails(void)
{
    CUdeviceptr at;

    open_context();
    for (unsigned i = 0; i < 3; i++)
        require_ok(cuMemAlloc_v2(&at, 100));
}

/* A test's own name in the system's folder for such. */
static void make_path(char path[64])
{
    snprintf(path, 64, "/tmp/softcuda-test-%d", (int)getpid());
}

static void test_once_is_once_over_all_processes(void **state)
{
    char path[64], options[128];

    (void)state;
    make_path(path);
    snprintf(options, sizeof(options), "oom=2,once=%s", path);
    scenario_run(options, second_allocation_fails);
    scenario_run(options, no_allocation_fails);
    assert_int_equal(unlink(path), 0);
    scenario_run(options, second_allocation_fails);
    unlink(path);
}

static void test_trace_tells_what_was_asked(void **state)
{
    char path[64], options[128], text[4096] = "";

    (void)state;
    make_path(path);
    snprintf(options, sizeof(options), "flip@2,trace=%s", path);
    scenario_run(options, second_copy_flips);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    assert_non_null(strstr(text, " context device=0\n"));
    assert_non_null(strstr(text, " alloc bytes=40\n"));
    assert_non_null(strstr(text, " copy_in bytes=40 pinned=0 code=0\n"));
    assert_non_null(strstr(text, " fault flip at=2\n"));
    assert_null(strstr(text, "register"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_init),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_local_memory),
        cmocka_unit_test(test_kernels_faults_are_sticky),
        cmocka_unit_test(test_injections),
        cmocka_unit_test(test_once_is_once_over_all_processes),
        cmocka_unit_test(test_trace_tells_what_was_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
