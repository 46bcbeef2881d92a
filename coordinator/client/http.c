/*
 * HTTP calls with libcurl's multi interface, so that one poll waits for the answer and for what may
 * end the call. Called through service.c. Keeps a connection between calls; a SIGKILL closes it.
 */
#include "coordinator/client/http.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES_MAX (UINT64_C(2) << 30)

int http_open(struct http *http, const char *socket_path)
{
    *http = (struct http){0};
    if (strlen(socket_path) >= sizeof(http->socket))
        return -ENAMETOOLONG;
    strcpy(http->socket, socket_path);
    http->easy = curl_easy_init();
    http->multi = curl_multi_init();
    if (http->easy && http->multi)
        return 0;
    http_close(http);
    return -ENOMEM;
}

void http_close(struct http *http)
{
    if (http->easy)
        curl_easy_cleanup(http->easy);
    if (http->multi)
        curl_multi_cleanup(http->multi);
    http->easy = http->multi = NULL;
}

void http_watch(struct http *http, int fd)
{
    assert(http->watched_count < HTTP_WATCHED_MAX);
    http->watched[http->watched_count++] = fd;
}

static size_t take_body(char *data, size_t size, size_t count, void *arg)
{
    struct http_answer *answer = arg;
    size_t bytes = size * count;
    if (answer->bytes + bytes >= ANSWER_BYTES_MAX)
        return 0;
    /* By half more than needed: copies stay linear in the answer's length. */
    size_t needed = answer->bytes + bytes + 1;
    if (needed > answer->room) {
        char *body = realloc(answer->body, needed + needed / 2);
        if (!body)
            return 0;
        answer->body = body;
        answer->room = needed + needed / 2;
    }
    memcpy(answer->body + answer->bytes, data, bytes);
    answer->bytes += bytes;
    answer->body[answer->bytes] = 0;
    return bytes;
}

/* `headers` is borrowed by the handle until the call has ended. */
static void prepare(struct http *http, const char *method, const char *url, const void *body,
                    size_t bytes, struct curl_slist *headers, struct http_answer *answer)
{
    CURL *easy = http->easy;
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, http->socket);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* no proxy of the environment on a unix socket */
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, http->timeout_ms);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    if (body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

/* Waits until the transfer or a watched fd has something. 0, or -EINTR for the latter. */
static int wait_for_something(struct http *http)
{
    struct curl_waitfd watched[HTTP_WATCHED_MAX];
    for (int i = 0; i < http->watched_count; i++)
        watched[i] = (struct curl_waitfd){.fd = http->watched[i], .events = CURL_WAIT_POLLIN};
    if (curl_multi_poll(http->multi, watched, (unsigned)http->watched_count, 1000, NULL))
        return -ENOMEM;
    for (int i = 0; i < http->watched_count; i++)
        if (watched[i].revents)
            return -EINTR;
    return 0;
}

static int error_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return 0;
    case CURLE_COULDNT_CONNECT:
        return -ECONNREFUSED;
    case CURLE_OPERATION_TIMEDOUT:
        return -ETIMEDOUT;
    case CURLE_WRITE_ERROR:
        return -EMSGSIZE;
    case CURLE_OUT_OF_MEMORY:
        return -ENOMEM;
    default:
        return -ECONNRESET;
    }
}

static int run(struct http *http)
{
    int running = 1, error = 0;
    CURLMsg *message;
    while (!error) {
        if (curl_multi_perform(http->multi, &running))
            return -ENOMEM;
        if (!running)
            break;
        error = wait_for_something(http);
    }
    if (error)
        return error;
    message = curl_multi_info_read(http->multi, &running);
    return message && message->msg == CURLMSG_DONE ? error_of(message->data.result) : -ECONNRESET;
}

static int call(struct http *http, const char *method, const char *url, const void *body,
                size_t bytes, struct curl_slist *headers, struct http_answer *answer)
{
    long status = 0;
    prepare(http, method, url, body, bytes, headers, answer);
    if (curl_multi_add_handle(http->multi, http->easy))
        return -ENOMEM;
    int error = run(http);
    curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(http->multi, http->easy);
    answer->status = (int)status;
    return error;
}

int http_call(struct http *http, const char *method, const char *path, const void *body,
              size_t bytes, struct http_answer *answer)
{
    char url[1024];
    *answer = (struct http_answer){.body = calloc(1, 1)};
    /* An empty Expect keeps large parts from waiting for a 100. */
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    if (headers)
        curl_slist_append(headers, "Content-Type: application/json");
    int length = snprintf(url, sizeof(url), "http://pawl%s", path);
    int error = -ENOMEM;
    if (answer->body && headers && length > 0 && (size_t)length < sizeof(url))
        error = call(http, method, url, body, bytes, headers, answer);
    curl_slist_free_all(headers);
    if (error)
        http_answer_free(answer);
    return error;
}

void http_answer_free(struct http_answer *answer)
{
    free(answer->body);
    answer->body = NULL;
}
