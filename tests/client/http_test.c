/*
 * HTTP over a unix socket: what each kind of silence, refusal and end means, and that a watched fd
 * ends a call. A thread plays the server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "coordinator/client/http.h"
#include "coordinator/client/service.h"
#include "coordinator/client/upload.h"

static char folder[] = "/tmp/pawl-http-XXXXXX";
static char path[64];

/* Answers one connection with a text and closes it; an empty text is silence. */
struct server {
    const char *text;
    size_t padding; /* this many bytes of 'x' after it */
    int fd;
    pthread_t thread;
    char request[8192];
};

static void answer(struct server *server, int client)
{
    char block[65536];
    memset(block, 'x', sizeof(block));
    ssize_t got = recv(client, server->request, sizeof(server->request) - 1, 0);
    server->request[got > 0 ? got : 0] = 0;
    if (send(client, server->text, strlen(server->text), MSG_NOSIGNAL) < 0)
        return;
    for (size_t left = server->padding; left;) {
        ssize_t sent =
            send(client, block, left < sizeof(block) ? left : sizeof(block), MSG_NOSIGNAL);
        if (sent < 0)
            return;
        left -= (size_t)sent;
    }
}

static void *serve(void *arg)
{
    struct server *server = arg;
    int client = accept(server->fd, NULL, NULL);
    if (client < 0)
        return NULL;
    if (server->text[0])
        answer(server, client);
    else
        while (recv(client, server->request, sizeof(server->request), 0) > 0)
            ; /* silent until the client goes */
    close(client);
    return NULL;
}

static void begin(struct server *server, const char *text, size_t padding)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *server = (struct server){.text = text, .padding = padding};
    strcpy(address.sun_path, path);
    unlink(path);
    server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(server->fd, 4), 0);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void end(struct server *server)
{
    pthread_join(server->thread, NULL);
    close(server->fd);
    unlink(path);
}

static void answers(void **state)
{
    (void)state;
    struct server server;
    struct http http;
    struct http_answer got;
    begin(&server, "HTTP/1.1 409 Conflict\r\nContent-Length: 5\r\n\r\nhello", 0);
    assert_int_equal(http_open(&http, path), 0);
    assert_int_equal(http_call(&http, "PUT", "/v1/x?offset=3", "body", 4, &got), 0);
    assert_int_equal(got.status, 409);
    assert_string_equal(got.body, "hello");
    assert_int_equal(got.bytes, 5);
    http_answer_free(&got);
    http_close(&http);
    end(&server);
    assert_non_null(strstr(server.request, "PUT /v1/x?offset=3 HTTP/1.1\r\n"));
    assert_non_null(strstr(server.request, "Content-Length: 4\r\n"));
    assert_null(strstr(server.request, "Expect:"));
    assert_non_null(strstr(server.request, "\r\n\r\nbody"));
}

/* An environment's proxy is for others. */
static void large_answers_and_no_proxy(void **state)
{
    (void)state;
    struct server server;
    struct http http;
    struct http_answer got;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    begin(&server, "HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n", 5000000);
    assert_int_equal(http_open(&http, path), 0);
    assert_int_equal(http_call(&http, "GET", "/", NULL, 0, &got), 0);
    assert_int_equal(got.status, 200);
    assert_int_equal(got.bytes, 5000000);
    assert_int_equal(strlen(got.body), 5000000);
    http_answer_free(&got);
    http_close(&http);
    end(&server);
    unsetenv("http_proxy");
}

static int call_once(const char *text, size_t padding, long timeout_ms, int watched)
{
    struct server server;
    struct http http;
    struct http_answer got;
    begin(&server, text, padding);
    assert_int_equal(http_open(&http, path), 0);
    http.timeout_ms = timeout_ms;
    if (watched >= 0)
        http_watch(&http, watched);
    int error = http_call(&http, "GET", "/", NULL, 0, &got);
    if (error)
        assert_null(got.body);
    else
        http_answer_free(&got);
    http_close(&http);
    end(&server);
    return error;
}

static void ends_and_silence(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(call_once("no HTTP", 0, 0, -1), -ECONNRESET);
    assert_int_equal(call_once("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", 0, 0, -1),
                     -ECONNRESET);
    assert_int_equal(call_once("", 0, 100, -1), -ETIMEDOUT);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(call_once("", 0, 0, fds[0]), -EINTR);
    close(fds[0]);
    close(fds[1]);
}

static void nobody_listens(void **state)
{
    (void)state;
    struct http http;
    struct http_answer got;
    char longer[200];
    assert_int_equal(http_open(&http, path), 0);
    assert_int_equal(http_call(&http, "GET", "/", NULL, 0, &got), -ECONNREFUSED);
    http_close(&http);
    memset(longer, 'x', sizeof(longer));
    longer[199] = 0;
    assert_int_equal(http_open(&http, longer), -ENAMETOOLONG);
}

/* Sends one answer to service_call and takes the exit code that it means. */
static int code_of(const char *text)
{
    struct server server;
    struct service service;
    char socket[64];
    json_t *got;
    begin(&server, text, 0);
    snprintf(socket, sizeof(socket), "%.*s", (int)(strlen(path) - 5), path);
    assert_int_equal(service_open_path(&service, socket), 0);
    int code = service_call(&service, "GET", "/", NULL, &got);
    json_decref(got);
    service_close(&service);
    end(&server);
    return code;
}

static void refusals_and_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(code_of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), 0);
    assert_int_equal(code_of("HTTP/1.1 204 No\r\n\r\n"), 0);
    assert_int_equal(code_of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{x"), EXIT_INTERNAL);
    assert_int_equal(code_of("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), EXIT_INPUT);
    assert_int_equal(code_of("HTTP/1.1 422 No\r\nContent-Length: 14\r\n\r\n{\"detail\":\"x\"}"),
                     EXIT_INPUT);
    assert_int_equal(code_of("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), EXIT_CAPACITY);
    assert_int_equal(code_of("HTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n"), EXIT_CAPACITY);
    assert_int_equal(code_of("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"), EXIT_INTERNAL);
    assert_int_equal(code_of("no HTTP"), EXIT_NO_COORDINATOR);
}

static void escapes(void **state)
{
    (void)state;
    char text[32] = "/v1/", small[8] = "/v1/";
    assert_int_equal(service_append_escaped(text, sizeof(text), "a/b ?%\xc3"), 0);
    assert_string_equal(text, "/v1/a%2Fb%20%3F%25%C3");
    assert_int_equal(service_append_escaped(small, sizeof(small), "abcdefgh"), -ENAMETOOLONG);
}

static void assert_name(const char *label, const char *wanted)
{
    json_t *partition = upload_partition("id", label);
    assert_string_equal(service_text(partition, "name"), wanted);
    json_decref(partition);
}

static void names_of_witnesses(void **state)
{
    (void)state;
    char label[300], wanted[300];
    assert_name("dir/w.wtns", "dir/w.wtns");
    assert_name("a\nb\x7f", "a?b?");
    assert_name("\xc3\xa4.wtns", "\xc3\xa4.wtns");
    assert_name("\xff\xa4.wtns", "??.wtns");
    memset(label, 'x', sizeof(label));
    label[250] = 0;
    memset(wanted, 'x', sizeof(wanted));
    wanted[200] = 0;
    assert_name(label, wanted);
    /* the cut falls into a character of two bytes */
    label[49] = '\xc3';
    label[50] = '\xa4';
    assert_name(label, wanted + 1);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/s.http", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers),
                                       cmocka_unit_test(large_answers_and_no_proxy),
                                       cmocka_unit_test(ends_and_silence),
                                       cmocka_unit_test(nobody_listens),
                                       cmocka_unit_test(refusals_and_exit_codes),
                                       cmocka_unit_test(escapes),
                                       cmocka_unit_test(names_of_witnesses)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
