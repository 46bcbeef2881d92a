/*
 * The software driver: device memory, pinned memory, copies, streams and events, and memory that
 * outlives its process.
 */
#include "tests/softcuda/driver_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define PAGE 4096u

static void allocations(void)
{
    size_t before, after, total;
    unsigned char bytes[300];
    CUdeviceptr at, other;

    open_context();
    require_ok(cuMemGetInfo_v2(&before, &total));
    require(total == (64u << 20) && before < total);
    require_code(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&at, 64u << 20));
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(&at, 0));
    require_ok(cuMemAlloc_v2(&at, 300));
    require(at % 256 == 0);
    require_ok(cuMemcpyDtoHAsync_v2(bytes, at, sizeof(bytes), NULL));
    require(bytes[0] == 0xa5 && bytes[299] == 0xa5);
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoHAsync_v2(bytes, at + 1, 300, NULL));
    require_ok(cuMemsetD8Async(at + 298, 3, 2, NULL));
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemsetD8Async(at + 298, 3, 3, NULL));
    require_ok(cuMemAlloc_v2(&other, 1u << 20));
    require(other - at > 300 + 4096); /* who writes on meets nothing */
    require_ok(cuMemGetInfo_v2(&after, &total));
    require(before - after >= (1u << 20) + 300);
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(other + 256));
    require_ok(cuMemFree_v2(other));
    require_ok(cuMemFree_v2(at));
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(at));
    require_ok(cuMemGetInfo_v2(&after, &total));
    require(before == after);
}

static void test_allocations(void **state)
{
    (void)state;
    scenario_run("memory=64M", allocations);
}

/* Each launch takes 50 ms here: so what stands behind one is late for sure. */
static void copies_of_both_kinds(void)
{
    uint32_t plain = 1, *pinned;
    CUdeviceptr words;
    CUstream stream;

    open_context();
    CUfunction function = rig_load();
    words = rig_words(4);
    require_ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    require_ok(cuMemHostAlloc((void **)&pinned, 4 * sizeof(*pinned), CU_MEMHOSTALLOC_PORTABLE));
    pinned[0] = 1;
    pinned[1] = 11;
    require_ok(rig_launch(function, (struct rig_add){words, words, 4, 100}, stream));
    require_ok(cuMemcpyHtoDAsync_v2(words, &plain, 4, stream));
    require_ok(cuMemcpyHtoDAsync_v2(words + 4, pinned, 4, stream));
    require_ok(cuMemcpyDtoHAsync_v2(pinned + 1, words + 8, 4, stream));
    require_code(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    require(pinned[1] == 11);
    plain = 2;     /* was read already */
    pinned[0] = 2; /* too early: the device gets this */
    require_ok(cuStreamSynchronize(stream));
    require_ok(cuStreamQuery(stream));
    require(rig_word(words, 0) == 1 && rig_word(words, 1) == 2);
    require(pinned[1] == 102);
    require_ok(rig_launch(function, (struct rig_add){words, words, 4, 100}, stream));
    require_ok(cuMemcpyDtoHAsync_v2(&plain, words + 8, 4, stream));
    require(plain == 202); /* what the driver does not know is written before the call ends */
    require_ok(cuMemFreeHost(pinned));
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(pinned));
}

static void test_copies_read_and_write_when_a_gpu_would(void **state)
{
    (void)state;
    scenario_run("slow=50", copies_of_both_kinds);
}

static void streams_and_events(void)
{
    CUstream first, second;
    CUevent begin, end, untimed;
    float ms = 0;

    open_context();
    CUfunction function = rig_load();
    CUdeviceptr words = rig_words(4);
    require_ok(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    require_ok(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    require_ok(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    require_ok(cuEventCreate(&end, CU_EVENT_DEFAULT));
    require_ok(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    require_ok(cuEventQuery(end)); /* never recorded: nothing to wait for */
    require_code(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, begin, end));
    require_ok(cuEventRecord(begin, first));
    require_ok(rig_launch(function, (struct rig_add){words, words, 4, 10}, first));
    require_ok(cuEventRecord(end, first));
    require_code(CUDA_ERROR_NOT_READY, cuEventQuery(end));
    require_ok(cuStreamWaitEvent(second, end, 0));
    require_ok(cuMemsetD8Async(words, 7, 16, second)); /* at once, were it not for the wait */
    require_ok(cuEventRecord(untimed, second));
    require_ok(cuEventSynchronize(untimed));
    require_ok(cuEventQuery(end));
    require(rig_word(words, 1) == 0x07070707);
    require_ok(cuEventElapsedTime(&ms, begin, end));
    require(ms >= 50);
    require_code(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, begin, untimed));
    require_ok(rig_launch(function, (struct rig_add){words, words, 4, 10}, first));
    require_ok(cuEventRecord(end, first));
    require_ok(cuEventDestroy_v2(end)); /* while it is still to come */
    require_code(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(end));
    require_ok(cuStreamDestroy_v2(first));
    require_code(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(first));
    require_ok(cuMemFree_v2(words)); /* waits for the one that runs */
}

/* Two at a time, for as long as there is work in both: a race would be ThreadSanitizer's to see. */
static void streams_side_by_side(void)
{
    CUstream streams[2];
    CUdeviceptr words[2];

    open_context();
    CUfunction function = rig_load();
    for (unsigned i = 0; i < 2; i++) {
        require_ok(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        words[i] = rig_words(512);
    }
    for (uint32_t round = 0; round < 50; round++)
        for (unsigned i = 0; i < 2; i++)
            require_ok(
                rig_launch(function, (struct rig_add){words[i], words[i], 512, i + 1}, streams[i]));
    for (unsigned i = 0; i < 2; i++) {
        require_ok(cuStreamSynchronize(streams[i]));
        require(rig_word(words[i], 511) == 511 + 50 * (i + 1));
    }
}

static void default_stream(void)
{
    CUstream blocking;

    open_context();
    CUfunction function = rig_load();
    CUdeviceptr words = rig_words(4);
    require_ok(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    require_ok(rig_launch(function, (struct rig_add){words, words, 4, 10}, blocking));
    require(rig_word(words, 1) == 11); /* read by way of the default stream, which waits */
    require_ok(cuStreamQuery(blocking));
}

static void test_streams_and_events(void **state)
{
    (void)state;
    scenario_run("slow=50", streams_and_events);
    scenario_run("slow=50", default_stream);
    scenario_run("", streams_side_by_side);
}

static unsigned char *map_pages(unsigned pages, int rights)
{
    void *at = mmap(NULL, pages * PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    require(at != MAP_FAILED);
    return at;
}

static void registration(void)
{
    unsigned char *pages = map_pages(8, PROT_READ | PROT_WRITE);
    CUdeviceptr at;

    open_context();
    require_ok(cuMemAlloc_v2(&at, 8 * PAGE));
    require_ok(cuMemHostRegister_v2(pages, 4 * PAGE, CU_MEMHOSTREGISTER_PORTABLE));
    require_code(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                 cuMemHostRegister_v2(pages + 3 * PAGE, 2 * PAGE, CU_MEMHOSTREGISTER_PORTABLE));
    require_ok(cuMemHostRegister_v2(pages + 4 * PAGE, PAGE, CU_MEMHOSTREGISTER_PORTABLE));
    require_ok(cuMemcpyHtoDAsync_v2(at, pages, 4 * PAGE, NULL));
    /* partly registered, and registered in two pieces: neither is a copy that the real one makes */
    require_code(CUDA_ERROR_INVALID_VALUE,
                 cuMemcpyHtoDAsync_v2(at, pages + 4 * PAGE, 2 * PAGE, NULL));
    require_code(CUDA_ERROR_INVALID_VALUE,
                 cuMemcpyHtoDAsync_v2(at, pages + 3 * PAGE, 2 * PAGE, NULL));
    require_ok(cuMemcpyHtoDAsync_v2(at, pages + 5 * PAGE, 2 * PAGE, NULL));
    pages[0] = 77;
    require(!mprotect(pages, 4 * PAGE, PROT_READ)); /* stays pinned */
    require_ok(cuMemcpyHtoDAsync_v2(at, pages, 4 * PAGE, NULL));
    require((rig_word(at, 0) & 0xff) == 77);
    require_code(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(pages + PAGE));
    require_ok(cuMemHostUnregister(pages));
    require_code(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(pages));
    require_code(CUDA_ERROR_INVALID_VALUE,
                 cuMemHostRegister_v2(pages, 4 * PAGE, CU_MEMHOSTREGISTER_PORTABLE));
    require_code(CUDA_ERROR_NOT_SUPPORTED,
                 cuMemHostRegister_v2(pages, 4 * PAGE, CU_MEMHOSTREGISTER_READ_ONLY));
    require(!munmap(pages + 6 * PAGE, PAGE));
    require_code(CUDA_ERROR_INVALID_VALUE,
                 cuMemHostRegister_v2(pages + 5 * PAGE, 3 * PAGE, CU_MEMHOSTREGISTER_PORTABLE));
}

static void read_only_registration(void)
{
    unsigned char *pages = map_pages(2, PROT_READ);
    int value;

    open_context();
    require_ok(
        cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, 0));
    require(value == 1);
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(pages, PAGE, 0));
    require_ok(cuMemHostRegister_v2(pages, PAGE, CU_MEMHOSTREGISTER_READ_ONLY));
}

static void no_registration(void)
{
    unsigned char *pages = map_pages(2, PROT_READ | PROT_WRITE);

    open_context();
    require_code(CUDA_ERROR_NOT_SUPPORTED,
                 cuMemHostRegister_v2(pages, PAGE, CU_MEMHOSTREGISTER_PORTABLE));
}

static void test_registration(void **state)
{
    (void)state;
    scenario_run("", registration);
    scenario_run("roregister", read_only_registration);
    scenario_run("noregister", no_registration);
}

#define HALF SOFT_GRANULARITY

static const struct cuda_memory_properties properties = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .requested_handle_types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
};

static CUresult set_access(CUdeviceptr at, size_t bytes, int flags)
{
    struct cuda_memory_access access = {.location = properties.location, .flags = flags};

    return cuMemSetAccess(at, bytes, &access, 1);
}

static CUdeviceptr map_memory(CUmemGenericAllocationHandle memory, size_t bytes)
{
    CUdeviceptr at;

    require_ok(cuMemAddressReserve(&at, bytes, 0, 0, 0));
    require_ok(cuMemMap(at, bytes, 0, memory, 0));
    require_ok(set_access(at, bytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    return at;
}

static void mapped_memory(void)
{
    CUmemGenericAllocationHandle memory;
    CUdeviceptr at;
    size_t bytes, before, after;

    open_context();
    require_ok(cuMemGetInfo_v2(&before, &bytes));
    require_ok(
        cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    require(bytes == HALF);
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&memory, HALF + 1, &properties, 0));
    require_ok(cuMemCreate(&memory, 2 * HALF, &properties, 0));
    require_ok(cuMemAddressReserve(&at, 2 * HALF, 0, 0, 0));
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, 4 * HALF, 0, memory, 0));
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemMap(at + 2 * HALF, HALF, 0, memory, 0));
    require_code(CUDA_ERROR_INVALID_VALUE, set_access(at, 2 * HALF, 3));
    require_ok(cuMemMap(at, 2 * HALF, 0, memory, 0));
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, HALF, 0, memory, 0));
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemsetD8Async(at, 1, 4, NULL)); /* no access yet */
    require_ok(set_access(at, 2 * HALF, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    require_ok(cuMemsetD8Async(at, 1, 2 * HALF, NULL));
    require_ok(cuMemRelease(memory)); /* the mapping keeps it */
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemRelease(memory));
    require(rig_word(at, HALF / 4) == 0x01010101);
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(at));
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 2 * HALF));
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(at, HALF));
    require_ok(cuMemGetInfo_v2(&after, &bytes));
    require(before - after == 2 * HALF);
    require_ok(cuMemUnmap(at, 2 * HALF));
    require_ok(cuMemAddressFree(at, 2 * HALF));
    require_ok(cuMemGetInfo_v2(&after, &bytes));
    require(before == after);
}

/* Unmapped under a kernel that runs: it ends well, what is queued behind it does not. */
static void unmap_too_early(void)
{
    CUmemGenericAllocationHandle memory;
    CUstream stream;

    open_context();
    CUfunction function = rig_load();
    require_ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    require_ok(cuMemCreate(&memory, HALF, &properties, 0));
    CUdeviceptr at = map_memory(memory, HALF), words = rig_words(4);
    struct rig_add add = {words, words, 4, 1};
    require_ok(rig_launch(function, add, stream));
    require_ok(cuMemsetD8Async(at, 1, HALF, stream));
    require_ok(cuMemUnmap(at, HALF));
    require_code(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
}

static void store_to_read_only(void)
{
    CUmemGenericAllocationHandle memory;

    open_context();
    CUfunction function = rig_load();
    require_ok(cuMemCreate(&memory, HALF, &properties, 0));
    CUdeviceptr at = map_memory(memory, HALF), out = rig_words(4);
    require_ok(cuMemsetD8Async(at, 0, HALF, NULL));
    require_ok(set_access(at, HALF, CU_MEM_ACCESS_FLAGS_PROT_READ));
    require_ok(rig_launch(function, (struct rig_add){out, at, 4, 5}, NULL));
    require(rig_word(out, 0) == 5);
    require_code(CUDA_ERROR_INVALID_VALUE, cuMemsetD8Async(at, 0, 4, NULL));
    rig_launch(function, (struct rig_add){at, out, 4, 5}, NULL);
    require_code(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(NULL));
}

static void no_mapped_memory(void)
{
    CUmemGenericAllocationHandle memory;

    open_context();
    require_code(CUDA_ERROR_NOT_SUPPORTED, cuMemCreate(&memory, HALF, &properties, 0));
}

static void test_mapped_memory(void **state)
{
    (void)state;
    scenario_run("", mapped_memory);
    scenario_run("slow=50", unmap_too_early);
    scenario_run("", store_to_read_only);
    scenario_run("novmm", no_mapped_memory);
}

static int ends[2]; /* of a socket between exporter and importer */

static void send_fd(int fd)
{
    char byte = 0, control[CMSG_SPACE(sizeof(fd))] = {0};
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(fd));
    memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    require(sendmsg(ends[0], &message, 0) == 1);
}

static int receive_fd(void)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    int fd;

    require(recvmsg(ends[1], &message, MSG_CMSG_CLOEXEC) == 1);
    require(CMSG_FIRSTHDR(&message));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
    return fd;
}

static void export_and_die(void)
{
    CUmemGenericAllocationHandle memory;
    int fd;

    open_context();
    require_ok(cuMemCreate(&memory, HALF, &properties, 0));
    CUdeviceptr at = map_memory(memory, HALF);
    require_ok(cuMemsetD8Async(at, 0x42, HALF, NULL));
    require_ok(
        cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    require(!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
    send_fd(fd);
    kill(getpid(), SIGKILL);
}

static void import_and_compute(void)
{
    CUmemGenericAllocationHandle memory;
    int fd = receive_fd();

    open_context();
    CUfunction function = rig_load();
    require_code(
        CUDA_ERROR_INVALID_VALUE,
        cuMemImportFromShareableHandle(&memory, NULL, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    require_ok(cuMemImportFromShareableHandle(&memory, (void *)(intptr_t)fd,
                                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    CUdeviceptr at = map_memory(memory, HALF), out = rig_words(4);
    require_ok(rig_launch(function, (struct rig_add){out, at, 4, 1}, NULL));
    require(rig_word(out, 3) == 0x42424243);
    require_ok(cuMemUnmap(at, HALF));
    require_ok(cuMemRelease(memory));
}

static void import_elsewhere(void)
{
    CUmemGenericAllocationHandle memory;

    setenv("CUDA_VISIBLE_DEVICES", "1", 1); /* the memory is device 0's */
    int fd = receive_fd();
    open_context();
    require_code(CUDA_ERROR_INVALID_VALUE,
                 cuMemImportFromShareableHandle(&memory, (void *)(intptr_t)fd,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

static void check_export(const char *options, void (*importer)(void))
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    int status = scenario_end(scenario_start(options, export_and_die));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    scenario_run(options, importer);
    close(ends[0]);
    close(ends[1]);
}

static void test_exported_memory_outlives_its_process(void **state)
{
    (void)state;
    check_export("", import_and_compute);
    check_export("devices=2", import_elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_copies_read_and_write_when_a_gpu_would),
        cmocka_unit_test(test_streams_and_events),
        cmocka_unit_test(test_registration),
        cmocka_unit_test(test_mapped_memory),
        cmocka_unit_test(test_exported_memory_outlives_its_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
