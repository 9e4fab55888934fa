/* nginx.h - a real nginx on a free port of the loopback device, in a directory of its
 * own, that keeps what is PUT in the layout of a store. Needs no privileges; given
 * some, it can drop them. */
#ifndef BZ_TEST_HTTP_NGINX_H
#define BZ_TEST_HTTP_NGINX_H

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "os/clock.h"
#include "tests/unit/os/scratch.h"

#define NGINX_NOBODY 65534

struct nginx {
    char dir[320]; /* the store is `store` in it */
    char url[128]; /* of the cache */
    unsigned port;
    pid_t pid;
};

struct nginx_opts {
    const char *listen;   /* more of the listen line: "ssl" */
    const char *server;   /* more lines of the server */
    const char *location; /* more lines of the location */
    bool nobody;          /* run as that user, if we may */
};

/* Whether there is one. Without, the test is skipped, or fails if it must work. */
static inline bool nginx_found(void)
{
    static const char *const paths[] = {"/usr/sbin/nginx", "/usr/local/sbin/nginx",
                                        "/usr/bin/nginx"};

    for (size_t i = 0; i < BZ_COUNTOF(paths); i++)
        if (access(paths[i], X_OK) == 0)
            return true;
    if (getenv("BITZEL_MUST_WORK"))
        fail_msg("nginx is not installed");
    return false;
}

/* One that nobody listens on at present. */
static inline unsigned nginx_free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(sock, (struct sockaddr *)&at, n), 0);
    assert_int_equal(getsockname(sock, (struct sockaddr *)&at, &n), 0);
    close(sock);
    return ntohs(at.sin_port);
}

static inline void nginx_conf(const struct nginx *x, const struct nginx_opts *o)
{
    static const char *const temps[] = {"proxy", "fastcgi", "uwsgi", "scgi"};
    BZ_CLEANUP(bz_buf_release) struct bz_buf conf = {0};
    struct bz_err err;
    char path[400];

    if (geteuid() == 0 && !o->nobody)
        bz_buf_addf(&conf, "user root;\n");
    bz_buf_addf(&conf,
                "daemon off;\nworker_processes 1;\npid %s/pid;\n"
                "error_log %s/error.log;\n"
                "events { worker_connections 512; }\n"
                "http {\n  access_log off;\n  client_max_body_size 0;\n"
                "  client_body_temp_path %s/store/tmp;\n",
                x->dir, x->dir, x->dir);
    for (size_t i = 0; i < BZ_COUNTOF(temps); i++)
        bz_buf_addf(&conf, "  %s_temp_path %s/%s;\n", temps[i], x->dir, temps[i]);
    bz_buf_addf(&conf,
                "  server {\n    listen 127.0.0.1:%u %s;\n    %s\n"
                "    location ~ \"^/cache/(ac|cas)/(..)([0-9a-f]{62})$\" {\n"
                "      alias %s/store/$1/$2/$2$3;\n"
                "      dav_methods PUT;\n      create_full_put_path on;\n      %s\n"
                "    }\n  }\n}\n",
                x->port, o->listen ? o->listen : "", o->server ? o->server : "", x->dir,
                o->location ? o->location : "");
    snprintf(path, sizeof(path), "%s/nginx.conf", x->dir);
    assert_ok(
        bz_fs_write(AT_FDCWD, path, conf.data, conf.len, 0644, BZ_FS_NOSYNC, &err),
        &err);
}

static inline bool nginx_answers(const struct nginx *x)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)x->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool up = connect(sock, (struct sockaddr *)&at, sizeof(at)) == 0;

    close(sock);
    return up;
}

static inline void nginx_exec(const struct nginx *x, bool nobody)
{
    char conf[400], log[400];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(conf, sizeof(conf), "%s/nginx.conf", x->dir);
    snprintf(log, sizeof(log), "%s/error.log", x->dir);
    if (nobody && (setgid(NGINX_NOBODY) < 0 || setuid(NGINX_NOBODY) < 0))
        _exit(126);
    setenv("PATH", "/usr/sbin:/usr/local/sbin:/usr/bin:/bin", 1);
    execlp("nginx", "nginx", "-p", x->dir, "-e", log, "-c", conf, (char *)NULL);
    _exit(127);
}

/* `dir` exists and is the server's from here on. */
static inline struct nginx nginx_start(const char *dir, const struct nginx_opts *o)
{
    bool nobody = o->nobody && geteuid() == 0;
    int64_t deadline = bz_clock_in(10 * BZ_CLOCK_S);
    struct nginx x = {.port = nginx_free_port()};
    char store[400];

    snprintf(x.dir, sizeof(x.dir), "%s", dir);
    snprintf(x.url, sizeof(x.url), "http%s://127.0.0.1:%u/cache",
             o->listen && strstr(o->listen, "ssl") ? "s" : "", x.port);
    snprintf(store, sizeof(store), "%s/store", dir);
    make_dirs(AT_FDCWD, store);
    if (nobody) {
        assert_int_equal(chown(dir, NGINX_NOBODY, NGINX_NOBODY), 0);
        assert_int_equal(chown(store, NGINX_NOBODY, NGINX_NOBODY), 0);
    }
    nginx_conf(&x, o);
    x.pid = fork();
    if (x.pid == 0)
        nginx_exec(&x, nobody);
    while (!nginx_answers(&x)) {
        if (waitpid(x.pid, NULL, WNOHANG) != 0 || bz_clock_now() > deadline)
            fail_msg("nginx does not start: see %s/error.log", dir);
        usleep(2000); /* nothing tells when it listens */
    }
    return x;
}

static inline void nginx_stop(struct nginx *x)
{
    kill(x->pid, SIGTERM);
    waitpid(x->pid, NULL, 0);
    x->pid = 0;
}

#endif
