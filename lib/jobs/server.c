#include "jobs/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "jobs/attach.h"
#include "jobs/door.h"
#include "jobs/link.h"
#include "jobs/reply.h"
#include "os/clock.h"
#include "os/fs.h"

enum {
    RESULTS = 1024,
    CLIENTS = 256,
    READ = 65536,
    EVENTS = 64,
    PAUSE_MS = 20,
    TURNS = 8,   /* looks at memory before epoll is asked, */
    HANDLED = 64 /* or requests */
};
#define OUT_MAX ((size_t)1 << 20) /* bytes waiting to be sent before reading stops */

struct conn {
    struct bz_server *server;
    struct bz_client *client;
    int fd;
    struct bz_buf in;  /* what has come and is no whole line yet */
    size_t looked;     /* so much of it has no end of a line */
    struct bz_buf out; /* to be sent */
    size_t sent;       /* of out */
    bool paused;       /* a line waits for room */
    bool ended;        /* nothing more will come */
    uint32_t watched;  /* for epoll */
    struct conn *next;
    struct bz_result *ready, **ready_last; /* to be written when there is room */

    struct bz_link *link; /* its shared memory, if it asked for that; then there are */
    bool awake;           /* no lines. Awake: the memory is to be looked at */

    /* Results as workers deliver them. */
    struct bz_sync_mutex mutex;
    struct bz_result *first, **last;
    bool noted; /* on the server's list of those with results */
    struct conn *next_noted;
};

struct bz_server {
    struct bz_server_opts o;
    struct bz_door door;
    int epoll, wake;
    struct bz_pool_item item; /* the loop, on the io lane */
    struct conn *conns, *dying;
    int64_t deaf;       /* nobody is let in until then: nobody can be; 0: they are */
    atomic_llong until; /* what is under way may end until then; 0: no end is near */
    atomic_uint n;
    atomic_llong last;
    atomic_bool stop;
    unsigned turns, handled; /* since epoll was asked: looks at memory, and requests */
    struct bz_sync_mutex mutex;
    struct conn *noted; /* connections with results */
};

/* ---- results ---- */

static void wake(struct bz_server *s)
{
    while (eventfd_write(s->wake, 1) < 0 && errno == EINTR)
        ;
}

static void deliver(void *ctx, struct bz_result *r)
{
    struct conn *c = ctx;
    struct bz_server *s = c->server;
    bool first;

    if (c->link && !bz_link_deliver(c->link, r))
        return;
    bz_sync_lock(&c->mutex);
    if (!c->link) {
        *c->last = r;
        c->last = &r->next;
    }
    first = !c->noted;
    c->noted = true;
    bz_sync_unlock(&c->mutex);
    if (!first)
        return;
    bz_sync_lock(&s->mutex);
    c->next_noted = s->noted;
    s->noted = c;
    bz_sync_unlock(&s->mutex);
    wake(s);
}

static void take_results(struct conn *c)
{
    bz_sync_lock(&c->mutex);
    if (c->first) {
        *c->ready_last = c->first;
        c->ready_last = c->last;
    }
    c->first = NULL;
    c->last = &c->first;
    c->noted = false;
    bz_sync_unlock(&c->mutex);
}

/* As many as may wait to be sent. The others count as not taken, so that whoever makes
 * more of them waits. */
static void write_results(struct conn *c)
{
    while (c->ready && c->out.len - c->sent <= OUT_MAX) {
        struct bz_result *r = c->ready;

        c->ready = r->next;
        if (!c->ready)
            c->ready_last = &c->ready;
        bz_reply_write(&c->out, r, BZ_REPLY_NOWHERE);
        bz_client_taken(c->client, r);
        free(r);
    }
}

static void free_results(struct bz_result *all)
{
    while (all) {
        struct bz_result *next = all->next;

        free(all);
        all = next;
    }
}

/* ---- connections ---- */

static void watch(struct conn *c)
{
    bool full = c->out.len - c->sent > OUT_MAX;
    uint32_t want = (c->paused || c->ended || full ? 0 : EPOLLIN) |
                    (c->out.len > c->sent ? EPOLLOUT : 0);
    struct epoll_event e = {.events = want, .data.ptr = c};

    if (want != c->watched &&
        epoll_ctl(c->server->epoll, EPOLL_CTL_MOD, c->fd, &e) == 0)
        c->watched = want;
}

/* False if the other end is gone. */
static bool flush(struct conn *c)
{
    while (c->sent < c->out.len) {
        ssize_t n =
            send(c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN;
        c->sent += (size_t)n;
    }
    bz_buf_truncate(&c->out, 0);
    c->sent = 0;
    return true;
}

static void refuse(struct conn *c, uint64_t id, const char *why)
{
    struct bz_result *r = bz_task_failure(id, BZ_TASK_INVALID_JSON, why);

    bz_reply_write(&c->out, r, BZ_REPLY_NOWHERE);
    free(r);
}

/* The answer to a hello: what it may have open, and the memory. */
static bool send_memory(struct conn *c, int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char line[80];
    /* Half of what it may have: results may be there before that is counted. */
    int n = snprintf(line, sizeof(line), BZ_ATTACH_WELCOME "%u}\n",
                     (c->server->o.results + 1) / 2);
    struct iovec io = {line, (size_t)n};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);

    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(h), &fd, sizeof(fd));
    return sendmsg(c->fd, &m, MSG_NOSIGNAL) == n;
}

/* A client that wants shared memory says so before anything else. */
static void attach(struct conn *c)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_err err;

    if (bz_client_open(c->client) > 0 || c->out.len > 0) {
        refuse(c, 0, "it is too late to attach: ask for it first");
        return;
    }
    if (bz_link_new(c->client, &c->link, &fd, &err) < 0)
        refuse(c, 0, err.msg);
    else if (!send_memory(c, fd))
        c->ended = true;
    c->awake = c->link;
}

/* True if the line was dealt with; false if it has to wait. */
static bool take_line(struct conn *c, struct bz_str line)
{
    struct bz_err err;
    uint64_t id = 0;
    int rc;

    line = bz_str_trim(line);
    if (line.n == 0)
        return true;
    if (bz_str_eq(line, BZ_STR(BZ_ATTACH_HELLO))) {
        attach(c);
        return true;
    }
    rc = bz_client_submit(c->client, line, NULL, &id, &err);
    if (rc == BZ_E_BUSY)
        return false;
    /* An answer by an id that is in use would be taken for the end of that task. */
    if (rc < 0)
        refuse(c, rc == BZ_E_EXISTS ? 0 : id, err.msg);
    return true;
}

/* All whole lines. False if what has come is too long to be one. */
static bool take_lines(struct conn *c)
{
    struct bz_str rest = bz_buf_str(&c->in);
    size_t end;

    c->paused = false;
    while (!c->paused && !c->link &&
           (end = bz_str_find_byte(bz_str_drop(rest, c->looked), '\n')) !=
               BZ_STR_NONE) {
        end += c->looked;
        c->looked = 0;
        c->paused = !take_line(c, bz_str_sub(rest, 0, end));
        if (!c->paused)
            rest = bz_str_drop(rest, end + 1);
    }
    if (!c->paused)
        c->looked = rest.n;
    if (rest.n < c->in.len) {
        memmove(c->in.data, rest.p, rest.n);
        bz_buf_truncate(&c->in, rest.n);
    }
    return c->in.len <= BZ_REQUEST_MAX;
}

static bool receive(struct conn *c)
{
    char bytes[READ];
    ssize_t n = recv(c->fd, bytes, sizeof(bytes), 0);
    struct bz_err err;

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0) {
        c->ended = true; /* it may wait for results yet */
        if (c->link || c->in.len == 0)
            return true;
        bz_buf_add_char(&c->in, '\n'); /* the last line ends here, too */
        return take_lines(c);
    }
    if (c->link) { /* a bell */
        c->awake = true;
        return true;
    }
    /* Whoever sends so much that memory is out is let go of, alone. */
    return bz_buf_try_add(&c->in, bytes, (size_t)n, &err) == 0 && take_lines(c);
}

static void drop_noted(struct bz_server *s, const struct conn *c)
{
    bz_sync_lock(&s->mutex);
    for (struct conn **p = &s->noted; *p; p = &(*p)->next_noted)
        if (*p == c) {
            *p = c->next_noted;
            break;
        }
    bz_sync_unlock(&s->mutex);
}

static void unlink_conn(struct conn **list, const struct conn *c)
{
    for (; *list; list = &(*list)->next)
        if (*list == c) {
            *list = c->next;
            return;
        }
}

/* Nobody delivers to it any more. */
static void free_conn(struct conn *c)
{
    struct bz_server *s = c->server;

    bz_client_free(c->client);
    drop_noted(s, c);
    free_results(c->first);
    free_results(c->ready);
    bz_link_free(c->link);
    bz_buf_release(&c->in);
    bz_buf_release(&c->out);
    free(c);
    atomic_fetch_sub(&s->n, 1);
}

/* What it asked for is canceled. A handler that takes its time over that keeps nobody
 * waiting: the rest is freed when it has ended. */
static void close_conn(struct conn *c)
{
    struct bz_server *s = c->server;

    unlink_conn(&s->conns, c);
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->fd, NULL);
    shutdown(c->fd, SHUT_RDWR); /* handlers in processes of their own have it, too */
    close(c->fd);
    if (c->link)
        bz_link_nudge(
            c->link); /* it may sleep, and is to see that the socket is closed */
    bz_client_leave(c->client);
    c->next = s->dying;
    s->dying = c;
}

static void bury(struct bz_server *s)
{
    struct conn *c, *next;

    for (c = s->dying; c; c = next) {
        next = c->next;
        if (!bz_client_leave(c->client))
            continue;
        unlink_conn(&s->dying, c);
        free_conn(c);
    }
}

/* What to do next with a connection, after anything happened. */
static void settle(struct conn *c, bool good)
{
    if (good && c->paused)
        good = take_lines(c);
    do {
        write_results(c);
        good = good && flush(c);
    } while (good && c->ready && c->out.len == 0);
    if (!good || (c->ended && c->link) ||
        (c->ended && c->out.len == 0 && !c->paused && bz_client_open(c->client) == 0))
        close_conn(c);
    else
        watch(c);
}

/* Whoever waits makes the listener ready, again and again: without descriptors or
 * memory for them it is better not to look for a while. */
static void stop_listening(struct bz_server *s)
{
    if (epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->door.listen, NULL) == 0)
        s->deaf = bz_clock_in((int64_t)PAUSE_MS * BZ_CLOCK_MS);
}

static void listen_again(struct bz_server *s)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = &s->door.listen};

    if (s->deaf != 0 && bz_clock_now() >= s->deaf &&
        epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->door.listen, &e) == 0)
        s->deaf = 0;
}

/* False if nobody waits to be let in, or nobody can be. */
static bool accept_one(struct bz_server *s)
{
    /* cppcheck-suppress nullPointer ; who it is, bz_door_is_friend() asks */
    int fd = accept4(s->door.listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN};
    struct conn *c;

    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
        return true;
    if (fd < 0 && errno != EAGAIN)
        stop_listening(s);
    if (fd < 0)
        return false;
    if (atomic_load(&s->n) >= s->o.clients || !bz_door_is_friend(fd)) {
        close(fd);
        return true;
    }
    c = bz_mem_zalloc(sizeof(*c));
    c->server = s;
    c->fd = fd;
    c->last = &c->first;
    c->ready_last = &c->ready;
    c->watched = EPOLLIN;
    c->client = bz_client_new(s->o.service, s->o.results, deliver, c);
    c->client->in_order = true;
    c->next = s->conns;
    s->conns = c;
    atomic_fetch_add(&s->n, 1);
    e.data.ptr = c;
    if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) < 0)
        close_conn(c);
    return true;
}

/* Who had to wait goes first next time: the service may have room for few. */
static void rotate(struct bz_server *s, struct conn *first)
{
    struct conn **p = &s->conns, **end;

    while (first && *p && *p != first)
        p = &(*p)->next;
    if (!first || !*p || p == &s->conns)
        return;
    for (end = &first->next; *end; end = &(*end)->next)
        ;
    *end = s->conns;
    *p = NULL;
    s->conns = first;
}

/* Lines that wait because the service has too much to do: nobody tells when it has not.
 * Returns whether there are any. */
static bool retry_paused(struct bz_server *s)
{
    struct conn *c, *next, *waits = NULL;
    bool any = false;

    for (c = s->conns; c; c = next) {
        bool paused = c->paused;

        next = c->next;
        any |= paused;
        if (paused)
            settle(c, true);
        if (paused && c->paused && !waits)
            waits = c; /* if it was closed it is not found again */
    }
    rotate(s, waits);
    return any;
}

/* Memory that somebody may have written to. Returns how long nothing else has to be
 * looked at, for epoll. */
static int pump_links(struct bz_server *s)
{
    struct conn *c, *next, *waits = NULL;
    int pause = -1;

    for (c = s->conns; c; c = next) {
        enum bz_link_state state;

        next = c->next;
        if (!c->link || !c->awake)
            continue;
        state = bz_link_pump(c->link, &s->handled);
        c->awake = state == BZ_LINK_AWAKE || state == BZ_LINK_PAUSED;
        if (state == BZ_LINK_PAUSED && !waits)
            waits = c;
        if (state == BZ_LINK_BROKEN)
            close_conn(c);
        else if (state == BZ_LINK_AWAKE)
            pause = 0;
        else if (state == BZ_LINK_PAUSED && pause < 0)
            pause = PAUSE_MS;
    }
    rotate(s, waits);
    return pause;
}

static void take_noted(struct bz_server *s)
{
    struct conn *all, *next;
    eventfd_t ignored;

    if (eventfd_read(s->wake, &ignored) < 0)
        errno = 0; /* another turn has read it */
    bz_sync_lock(&s->mutex);
    all = s->noted;
    s->noted = NULL;
    bz_sync_unlock(&s->mutex);
    for (; all; all = next) {
        next = all->next_noted;
        take_results(all);
        all->awake = all->link;
        if (!atomic_load(&all->client->gone))
            settle(all, true);
    }
}

/* While there may be more in somebody's memory at any moment that is looked at often,
 * and everything else now and then. */
static int await(struct bz_server *s, struct epoll_event events[EVENTS], int pause)
{
    if (pause == 0 && ++s->turns < TURNS && s->handled < HANDLED) {
        sched_yield();
        return 0;
    }
    s->turns = s->handled = 0;
    return epoll_wait(s->epoll, events, EVENTS, pause);
}

static bool is_quiet(struct conn *c)
{
    bool none;

    if (bz_client_tasks(c->client) > 0)
        return false;
    bz_sync_lock(&c->mutex);
    none = !c->first;
    bz_sync_unlock(&c->mutex);
    return none && !c->ready && c->out.len == 0;
}

/* Whether the end has come that bz_server_finish() speaks of. */
static bool is_finished(struct bz_server *s)
{
    int64_t until = atomic_load(&s->until);

    if (until == 0 || bz_clock_now() >= until)
        return until != 0;
    for (struct conn *c = s->conns; c; c = c->next)
        if (!is_quiet(c))
            return false;
    return !s->dying;
}

/* A connection may be closed by one event of a batch and named by a later one: those of
 * connections come before results, and each is named once. */
static void serve(struct bz_worker *w, void *arg)
{
    struct bz_server *s = arg;
    struct epoll_event events[EVENTS];
    bool paused = false;
    int pause = -1;

    (void)w;
    while (!atomic_load(&s->stop) && !is_finished(s)) {
        bool look = paused || s->dying || s->deaf != 0 || atomic_load(&s->until) != 0;
        bool results = false, more = false;
        int n = await(s, events, pause < 0 && look ? PAUSE_MS : pause);

        if (n > 0)
            atomic_store(&s->last, bz_clock_now());
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr == &s->wake) {
                results = true;
            } else if (events[i].data.ptr == &s->door.listen) {
                more = true;
            } else {
                struct conn *c = events[i].data.ptr;
                bool gone = events[i].events & (EPOLLERR | EPOLLHUP);

                settle(c, !gone && (!(events[i].events & EPOLLIN) || receive(c)));
            }
        }
        if (results)
            take_noted(s);
        for (int i = 0; i < EVENTS && more; i++)
            more = accept_one(s);
        listen_again(s);
        paused = retry_paused(s);
        pause = pump_links(s);
        bury(s);
    }
    while (s->conns)
        close_conn(s->conns);
    while (s->dying) {
        struct conn *c = s->dying;

        s->dying = c->next;
        free_conn(c); /* waits */
    }
}

/* ---- setting it up ---- */

static int add_fd(struct bz_server *s, int fd, void *tag, struct bz_err *err)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = tag};

    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? bz_fail_sys(err, "watch")
                                                          : 0;
}

static int start(struct bz_server *s, struct bz_err *err)
{
    int rc = s->o.fd >= 0 ? 0 : bz_door_open(&s->door, s->o.path, s->o.claimed, err);

    if (s->o.fd >= 0)
        s->door.listen = s->o.fd;
    /* One that others have opened may block, and all that wait are let in at once. */
    if (rc == 0 && fcntl(s->door.listen, F_SETFL, O_NONBLOCK) < 0)
        rc = bz_fail_sys(err, "listen");
    if (rc == 0 && listen(s->door.listen, SOMAXCONN) < 0)
        rc = bz_fail_sys(err, "listen");
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (rc == 0 && (s->epoll < 0 || s->wake < 0))
        rc = bz_fail_sys(err, "watch a socket");
    if (rc == 0)
        rc = add_fd(s, s->wake, &s->wake, err);
    if (rc == 0)
        rc = add_fd(s, s->door.listen, &s->door.listen, err);
    if (rc < 0)
        return rc;
    s->item = (struct bz_pool_item){.body = serve, .arg = s};
    bz_pool_submit(bz_service_pool(s->o.service), NULL, BZ_LANE_IO, &s->item);
    return 0;
}

static void release(struct bz_server *s)
{
    bz_door_close(&s->door);
    bz_fs_closep(&s->epoll);
    bz_fs_closep(&s->wake);
    free(s);
}

int bz_server_new(const struct bz_server_opts *opts, struct bz_server **out,
                  struct bz_err *err)
{
    struct bz_server *s = bz_mem_zalloc(sizeof(*s));
    int rc;

    s->o = *opts;
    s->o.results = opts->results ? opts->results : RESULTS;
    s->o.clients = opts->clients ? opts->clients : CLIENTS;
    s->door.listen = s->door.lock = s->epoll = s->wake = -1;
    atomic_store(&s->last, bz_clock_now());
    rc = start(s, err);
    if (rc < 0) {
        release(s);
        return rc;
    }
    *out = s;
    return 0;
}

static void wait_for_loop(struct bz_server *s)
{
    wake(s);
    while (bz_pool_wait(&s->item, BZ_CLOCK_NEVER) == BZ_E_BUSY)
        ;
}

void bz_server_finish(struct bz_server *s, int64_t deadline)
{
    atomic_store(&s->until, deadline);
    wait_for_loop(s);
}

void bz_server_free(struct bz_server *s)
{
    if (!s)
        return;
    atomic_store(&s->stop, true);
    wait_for_loop(s);
    release(s);
}

unsigned bz_server_clients(struct bz_server *s, int64_t *last)
{
    struct pollfd waiting = {s->door.listen, POLLIN, 0};
    unsigned n = atomic_load(&s->n);

    *last = atomic_load(&s->last);
    return n > 0 ? n : poll(&waiting, 1, 0) > 0;
}
