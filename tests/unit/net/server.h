/* server.h - a web server for tests that says exactly what a table tells it to, right
 * or wrong. It runs in processes of its own, one for each connection. */
#ifndef BZ_TEST_NET_SERVER_H
#define BZ_TEST_NET_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

enum server_then {
    SERVER_KEEPS,  /* the connection open */
    SERVER_CLOSES, /* it */
    SERVER_STALLS, /* keeps it open and says no more */
    SERVER_RESETS, /* it */
    SERVER_DRIPS,  /* sends the last 1,000 bytes one by one, slowly */
};

/* The first row counts whose request line begins so and that is not used up. */
struct server_page {
    const char *request; /* "GET /x " */
    const char *reply;   /* all of it, header and body */
    enum server_then then;
    unsigned times; /* 0: always */
};

#define SERVER_PAGES 64

/* Shared with the server's processes. */
struct server_seen {
    atomic_uint connections, requests;
    atomic_uint used[SERVER_PAGES];
    char head[8192]; /* of the last request */
    size_t nbody;    /* its body */
    char body[4096]; /* the first bytes of that */
};

struct server {
    pid_t pid;
    unsigned port;
    struct server_seen *seen;
};

static inline void server_send(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t done = send(fd, p, n, MSG_NOSIGNAL);

        if (done <= 0)
            _exit(0);
        p += done;
        n -= (size_t)done;
    }
}

/* Reads a request; its head goes to `head`, and with the body to *seen, where others
 * write as well. False at the end of the connection. */
static inline bool server_read(int fd, char head[8192], struct server_seen *seen)
{
    static char buf[65536];
    size_t n = 0, want = 0, body = 0;
    char *end = NULL, *length;

    memset(buf, 0, sizeof(buf));
    while (!end) {
        ssize_t got = read(fd, buf + n, sizeof(buf) - 1 - n);

        if (got <= 0)
            return false;
        n += (size_t)got;
        end = strstr(buf, "\r\n\r\n");
    }
    end[2] = '\0';
    snprintf(head, 8192, "%.8000s", buf);
    memcpy(seen->head, head, sizeof(seen->head));
    length = strcasestr(buf, "\r\ncontent-length:");
    want = length ? strtoul(length + 17, NULL, 10) : 0;
    body = n - (size_t)(end + 4 - buf);
    memset(seen->body, 0, sizeof(seen->body));
    memcpy(seen->body, end + 4, body < 4095 ? body : 4095);
    while (body < want) {
        char more[65536];
        ssize_t got = read(fd, more, sizeof(more));

        if (got <= 0)
            return false;
        if (body < 4095)
            memcpy(seen->body + body, more,
                   (size_t)got < 4095 - body ? (size_t)got : 4095 - body);
        body += (size_t)got;
    }
    seen->nbody = body;
    return true;
}

static inline void server_drip(int fd, const char *reply)
{
    size_t n = strlen(reply), slow = n < 1000 ? n : 1000;

    server_send(fd, reply, n - slow);
    for (size_t i = n - slow; i < n; i++) {
        usleep(20000);
        server_send(fd, reply + i, 1);
    }
}

static inline bool server_reply(int fd, const char *head,
                                const struct server_page *pages,
                                struct server_seen *seen)
{
    static const char none[] =
        "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone";
    struct linger now = {1, 0};

    for (size_t i = 0; pages[i].request; i++) {
        if (strncmp(head, pages[i].request, strlen(pages[i].request)) != 0)
            continue;
        if (pages[i].times && atomic_fetch_add(&seen->used[i], 1) >= pages[i].times)
            continue;
        if (pages[i].then == SERVER_DRIPS)
            server_drip(fd, pages[i].reply);
        else
            server_send(fd, pages[i].reply, strlen(pages[i].reply));
        if (pages[i].then == SERVER_STALLS)
            pause();
        if (pages[i].then == SERVER_RESETS)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
        return pages[i].then == SERVER_KEEPS || pages[i].then == SERVER_DRIPS;
    }
    server_send(fd, none,
                strncmp(head, "HEAD", 4) == 0 ? sizeof(none) - 5 : sizeof(none) - 1);
    return true;
}

static inline void server_loop(int sock, const struct server_page *pages,
                               struct server_seen *seen)
{
    static char head[8192];

    for (;;) {
        int fd = accept(sock, NULL, NULL);

        if (fd < 0)
            _exit(1);
        atomic_fetch_add(&seen->connections, 1);
        if (fork() > 0) {
            close(fd);
            continue;
        }
        while (server_read(fd, head, seen)) {
            atomic_fetch_add(&seen->requests, 1);
            if (!server_reply(fd, head, pages, seen))
                break;
        }
        close(fd);
        _exit(0);
    }
}

/* The pages end with a row of zeros. */
static inline struct server server_start(const struct server_page *pages)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct server s;

    assert_int_equal(bind(sock, (struct sockaddr *)&at, n), 0);
    assert_int_equal(listen(sock, 128), 0);
    assert_int_equal(getsockname(sock, (struct sockaddr *)&at, &n), 0);
    s.port = ntohs(at.sin_port);
    s.seen = mmap(NULL, sizeof(*s.seen), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(s.seen != MAP_FAILED);
    s.pid = fork();
    if (s.pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGCHLD, SIG_IGN); /* nobody waits for the connections' processes */
        server_loop(sock, pages, s.seen);
    }
    setpgid(s.pid, s.pid); /* whoever comes first */
    close(sock);
    return s;
}

static inline void server_stop(struct server *s)
{
    kill(-s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    munmap(s->seen, sizeof(*s->seen));
}

/* A page of the server. */
static inline const char *server_url(const struct server *s, const char *path,
                                     char out[256])
{
    snprintf(out, 256, "http://127.0.0.1:%u%s", s->port, path);
    return out;
}

#endif
