/*
 * A witness program for tests, called as PROGRAM INPUT.json OUT.wtns: what it does is said by the
 * input's `mode`. Its right witness is PROGRAM.dat. What a sandbox must prevent ends with exit code
 * 1 and a line "refused ...", or, where it was not prevented, with "BREACH ...".
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char data_path[512];
static const char *output_path;

static int copy_witness(long most)
{
    char piece[4096];
    FILE *from = fopen(data_path, "rb"), *to = fopen(output_path, "wb");
    size_t got;
    if (!from || !to)
        return perror("copy"), 3;
    while (most > 0 && (got = fread(piece, 1, sizeof piece, from)) > 0) {
        fwrite(piece, 1, (long)got < most ? got : (size_t)most, to);
        most -= (long)got;
    }
    return fclose(to) ? 4 : 0;
}

static void tell(const char *what, int prevented)
{
    printf("%s %s (%s)\n", prevented ? "refused" : "BREACH", what, strerror(errno));
    fflush(stdout);
    if (!prevented)
        exit(1); /* so that it is the last line */
}

static void try_reading(const char *path)
{
    char piece[8];
    int fd = open(path, O_RDONLY);
    tell(path, fd < 0 || read(fd, piece, sizeof piece) < 0);
}

static void try_files(void)
{
    static const char *const paths[] = {"/etc/passwd",
                                        "/proc/self/fd/3/../../jobs.db",
                                        "/proc/self/fd/3/../../spool",
                                        "/proc/1/maps",
                                        "/root",
                                        "/proc/self/fd/3/../names",
                                        "../..",
                                        "/tmp"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        try_reading(paths[i]);
    tell("a file beside the output", open("more", O_CREAT | O_WRONLY, 0600) < 0);
    tell("a file in /tmp", open("/tmp/pawl-breach", O_CREAT | O_WRONLY, 0600) < 0);
    tell("a file in /dev/shm", open("/dev/shm/pawl-breach", O_CREAT | O_WRONLY, 0600) < 0);
    tell("the input changed", open("input.json", O_WRONLY) < 0);
    tell("its own file changed", open("/proc/self/fd/3/program", O_WRONLY) < 0);
    tell("memfd", memfd_create("x", 0) < 0);
    tell("mode", chmod(".", 0777) < 0);
    tell("removed", unlink(output_path) < 0);
}

static void try_kernel(void)
{
    tell("socket", socket(AF_INET, SOCK_STREAM, 0) < 0);
    tell("unix socket", socket(AF_UNIX, SOCK_STREAM, 0) < 0);
    tell("fork", fork() < 0);
    tell("kill of the parent", kill(getppid(), SIGKILL) < 0);
    tell("kill of all", kill(-1, SIGKILL) < 0);
    tell("kill of the group", kill(0, 0) < 0);
    tell("ptrace", ptrace(PTRACE_TRACEME, 0, 0, 0) < 0);
    tell("setsid", setsid() < 0);
    tell("root", setuid(0) < 0 || geteuid() != 0);
}

static int spin(void)
{
    for (volatile unsigned long i = 0;; i++)
        ;
}

static int allocate(void)
{
    for (;;) {
        char *memory = malloc(1 << 24);
        if (!memory)
            abort();
        memset(memory, 1, 1 << 24);
    }
}

static int fill_disk(void)
{
    static char piece[1 << 20];
    int fd = open(output_path, O_WRONLY);
    while (write(fd, piece, sizeof piece) > 0)
        ;
    return perror("write"), 5;
}

static int wait_then_copy(void)
{
    usleep(300000);
    return copy_witness(1L << 40);
}

static int count_fds(void)
{
    for (int fd = 5; fd < 256; fd++) /* 4 is the input that we opened */
        if (fcntl(fd, F_GETFD) >= 0)
            printf("BREACH fd %d\n", fd);
    printf("fds counted\n");
    return 1;
}

static int talk_and_abort(void)
{
    printf("Error in template Mul_3 line: 7\nassert failed\n");
    fprintf(stderr, "%0*d\x1b[31m last words\n", 100000, 7);
    fflush(stdout);
    abort();
}

int main(int argc, char **argv)
{
    char text[256] = "";
    FILE *input = argc == 3 ? fopen(argv[1], "r") : NULL;
    const char *mode =
        input && fgets(text, sizeof text, input) ? strstr(text, "\"mode\":\"") : NULL;
    if (!mode)
        return fprintf(stderr, "no input\n"), 9;
    snprintf(data_path, sizeof data_path, "%s.dat", argv[0]);
    output_path = argv[2];
    switch (atoi(mode + 8)) {
    case 1:
        return copy_witness(1L << 40);
    case 2:
        return copy_witness(100);
    case 3:
        return talk_and_abort();
    case 4:
        return raise(SIGSEGV);
    case 5:
        return try_kernel(), 1;
    case 6:
        return allocate();
    case 7:
        return spin();
    case 8:
        return fill_disk();
    case 9:
        return try_files(), 1;
    case 10:
        return wait_then_copy();
    case 11:
        return count_fds();
    case 12:
        return 7;
    default:
        return 0;
    }
}
