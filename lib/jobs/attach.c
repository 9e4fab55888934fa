#include "jobs/attach.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "jobs/channel.h"
#include "jobs/client.h"
#include "os/clock.h"
#include "os/fs.h"

enum { PATIENCE_S = 20 };
/* How often whoever sleeps looks whether the service is still there. A service that
 * ends wakes its clients; this is for one that is killed. */
#define LOOK (200 * BZ_CLOCK_MS)
#define ROOM (5 * BZ_CLOCK_MS) /* the same while waiting for room: see make_room() */

/* A task from when it was asked for until its last result was taken. */
struct call {
    struct bz_result *first, **last;
    bool open; /* the last result has not come */
};

struct bz_attach {
    int fd;
    struct bz_channel channel;
    unsigned capacity;
    uint64_t last_id;           /* mutex */
    struct bz_sync_mutex mutex; /* for all that follows */
    struct bz_sync_cond came;
    struct bz_channel_writer requests;
    struct bz_channel_reader results;
    struct bz_map calls; /* id -> struct call */
    bool sleeping;       /* one of those who wait, for all */
    bool gone;           /* the service is */
};

/* ---- hello ---- */

static int dial(const char *path, int *out, struct bz_err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = PATIENCE_S};
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct ucred peer;
    socklen_t n = sizeof(peer);

    if (strlen(path) >= sizeof(at.sun_path))
        return bz_fail(err, BZ_E_INVAL, "%s is too long for a socket", path);
    memcpy(at.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return bz_fail_sys(err, "open a socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
        return errno == ECONNREFUSED || errno == ENOENT
                   ? bz_fail(err, BZ_E_NOENT, "no service is at %s", path)
                   : bz_fail_sys(err, "connect to %s", path);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 ||
        (peer.uid != geteuid() && peer.uid != 0))
        return bz_fail(err, BZ_E_NOSUP, "the service at %s is another user's", path);
    *out = bz_fs_detach(&fd);
    return 0;
}

/* The answer: a line, and with it the descriptor. */
static int receive(int fd, char *line, size_t size, int *memory, struct bz_err *err)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec io = {line, size - 1};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};
    const struct cmsghdr *c;
    ssize_t n;

    do
        n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return bz_fail(err, BZ_E_TIMEOUT, "the service does not answer");
    if (n < 0)
        return bz_fail_sys(err, "attach");
    line[n] = '\0';
    c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(memory, CMSG_DATA(c), sizeof(*memory));
    return n == 0 ? bz_fail(err, BZ_E_NOSUP, "the service does not want us") : 0;
}

static int say_hello(struct bz_attach *a, struct bz_err *err)
{
    static const char hello[] = BZ_ATTACH_HELLO "\n", welcome[] = BZ_ATTACH_WELCOME;
    BZ_CLEANUP(bz_fs_closep) int memory = -1;
    char line[300];
    int rc;

    if (send(a->fd, hello, sizeof(hello) - 1, MSG_NOSIGNAL) != sizeof(hello) - 1)
        return bz_fail_sys(err, "attach");
    rc = receive(a->fd, line, sizeof(line), &memory, err);
    if (rc < 0)
        return rc;
    if (memory < 0 || strncmp(line, welcome, sizeof(welcome) - 1) != 0)
        return bz_fail(err, BZ_E_NOSUP, "the service does not share memory: %s", line);
    a->capacity = (unsigned)strtoul(line + sizeof(welcome) - 1, NULL, 10);
    return bz_channel_map(&a->channel, memory, err);
}

int bz_attach_new(const char *socket_path, struct bz_attach **out, struct bz_err *err)
{
    struct bz_attach *a = bz_mem_zalloc(sizeof(*a));
    int rc;

    a->fd = -1;
    a->last_id = BZ_CLIENT_IDS;
    rc = dial(socket_path, &a->fd, err);
    if (rc == 0) {
        rc = say_hello(a, err);
        if (rc < 0)
            bz_err_wrap(err, "%s", socket_path);
    }
    if (rc < 0) {
        bz_attach_free(a);
        return rc;
    }
    bz_sync_lock(&a->mutex);
    bz_channel_write_requests(&a->channel, &a->requests);
    bz_channel_read_results(&a->channel, &a->results);
    bz_sync_unlock(&a->mutex);
    *out = a;
    return 0;
}

static void free_call(struct call *c)
{
    while (c->first) {
        struct bz_result *next = c->first->next;

        free(c->first);
        c->first = next;
    }
    free(c);
}

void bz_attach_free(struct bz_attach *a)
{
    struct bz_map_entry *e;

    if (!a)
        return;
    bz_fs_closep(&a->fd);
    bz_sync_lock(&a->mutex);
    for (e = bz_map_next(&a->calls, NULL); e; e = bz_map_next(&a->calls, e))
        free_call(e->p);
    bz_map_release(&a->calls);
    bz_channel_reader_release(&a->results);
    bz_sync_unlock(&a->mutex);
    bz_channel_release(&a->channel);
    free(a);
}

/* ---- results ---- */

static void add(struct call *c, struct bz_result *r)
{
    *c->last = r;
    c->last = &r->next;
    c->open = !r->final;
}

/* Nothing will come any more: everything that is open ends. */
static void lose_locked(struct bz_attach *a) BZ_REQUIRES(a->mutex)
{
    struct bz_map_entry *e;

    if (a->gone)
        return;
    a->gone = true;
    for (e = bz_map_next(&a->calls, NULL); e; e = bz_map_next(&a->calls, e)) {
        struct call *c = e->p;

        if (c->open)
            add(c, bz_task_failure(bz_map_number(e), BZ_TASK_CANCELED,
                                   "the service is gone"));
    }
    bz_sync_broadcast(&a->came);
}

static void ring_bell_locked(struct bz_attach *a) BZ_REQUIRES(a->mutex)
{
    ssize_t n;

    do
        n = send(a->fd, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    /* One that is full rings already. */
    if (n < 0 && errno != EAGAIN)
        lose_locked(a);
}

static void check_locked(struct bz_attach *a) BZ_REQUIRES(a->mutex)
{
    char byte;
    ssize_t n = recv(a->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        lose_locked(a);
}

/* A result as the memory has it. NULL if it is nonsense, or nobody's. */
static struct bz_result *read_locked(struct bz_attach *a,
                                     const struct bz_channel_head *h)
    BZ_REQUIRES(a->mutex)
{
    const struct bz_buf *b = &a->results.whole;
    struct bz_task t = {.id = h->id};
    struct bz_result *r;

    if (h->kind != BZ_CHANNEL_RESULT || h->error > b->len)
        return NULL;
    r = bz_task_result(&t, h->status, h->flags & BZ_CHANNEL_FINAL, bz_buf_text(b),
                       (uint32_t)(b->len - h->error));
    if (!r)
        return bz_task_failure(h->id, BZ_TASK_NO_MEMORY, "there is no memory for it");
    if (!(h->flags & BZ_CHANNEL_DATA))
        r->data = NULL;
    snprintf(r->error, sizeof(r->error), "%.*s", (int)h->error,
             bz_buf_text(b) + b->len - h->error);
    return r;
}

/* All that has come. */
static void drain_locked(struct bz_attach *a) BZ_REQUIRES(a->mutex)
{
    struct bz_channel_head head;
    struct bz_err err;
    bool wake = false;
    int rc = 0;

    while (!a->gone && (rc = bz_channel_take(&a->results, &head, &wake, &err)) > 0) {
        struct bz_map_entry *e = bz_map_get_u64(&a->calls, head.id);
        struct call *c = e ? e->p : NULL;
        struct bz_result *r = c && c->open ? read_locked(a, &head) : NULL;

        if (r)
            add(c, r);
    }
    if (rc < 0)
        lose_locked(a);
    if (wake)
        ring_bell_locked(a);
}

static struct bz_result *take_locked(struct bz_attach *a, uint64_t id)
    BZ_REQUIRES(a->mutex)
{
    const struct bz_map_entry *e = bz_map_get_u64(&a->calls, id);
    struct call *c = e ? e->p : NULL;
    struct bz_result *r = c ? c->first : NULL;

    if (!r)
        return NULL;
    c->first = r->next;
    r->next = NULL;
    if (!c->first)
        c->last = &c->first;
    if (!c->first && !c->open) {
        bz_map_remove_u64(&a->calls, id);
        free(c);
    }
    return r;
}

struct bz_result *bz_attach_poll(struct bz_attach *a, uint64_t id)
{
    struct bz_result *r;

    bz_sync_lock(&a->mutex);
    r = take_locked(a, id);
    if (!r) {
        drain_locked(a);
        r = take_locked(a, id);
    }
    bz_sync_unlock(&a->mutex);
    return r;
}

/* One sleeps on the memory; the others wait for that one. */
static void sleep_locked(struct bz_attach *a, int64_t deadline) BZ_REQUIRES(a->mutex)
{
    struct bz_channel_words *words = a->results.words;
    uint32_t seen = a->results.head;
    int64_t look = bz_clock_in(LOOK);

    if (a->sleeping) {
        bz_sync_wait(&a->came, &a->mutex, deadline);
        return;
    }
    a->sleeping = true;
    bz_sync_unlock(&a->mutex);
    bz_channel_sleep(words, seen,
                     deadline == BZ_CLOCK_NEVER || look < deadline ? look : deadline);
    bz_sync_lock(&a->mutex);
    a->sleeping = false;
    if (atomic_load(&words->tail) == seen)
        check_locked(a);
    drain_locked(a);
    bz_sync_broadcast(&a->came);
}

struct bz_result *bz_attach_wait(struct bz_attach *a, uint64_t id, int64_t deadline)
{
    struct bz_result *r;

    bz_sync_lock(&a->mutex);
    r = take_locked(a, id);
    if (!r)
        drain_locked(a);
    while (!r && !(r = take_locked(a, id)) && !a->gone &&
           (deadline == BZ_CLOCK_NEVER || bz_clock_now() < deadline))
        sleep_locked(a, deadline);
    bz_sync_unlock(&a->mutex);
    return r;
}

/* ---- requests ---- */

/* The service may wait for us to take results before it reads on: so they are. */
static void make_room_locked(struct bz_attach *a) BZ_REQUIRES(a->mutex)
{
    drain_locked(a);
    bz_channel_await(&a->requests, bz_clock_in(ROOM));
    check_locked(a);
}

static int send_locked(struct bz_attach *a, const struct bz_channel_head *head,
                       struct bz_str text, bool must, struct bz_err *err)
    BZ_REQUIRES(a->mutex)
{
    const struct bz_str bytes[2] = {text, BZ_STR("")};
    size_t sent = 0;
    int rc = 0;

    while (!a->gone) {
        bool wake = false;

        rc = bz_channel_put(&a->requests, head, bytes, &sent, &wake, err);
        if (wake)
            ring_bell_locked(a);
        if (rc < 0)
            lose_locked(a);
        if (rc > 0)
            return 0;
        if (rc == 0 && sent == 0 && !must)
            return bz_fail(err, BZ_E_BUSY, "there is no room for it");
        make_room_locked(a);
    }
    return bz_fail(err, BZ_E_CANCELED, "the service is gone");
}

static int enter_locked(struct bz_attach *a, uint64_t id, struct bz_err *err)
    BZ_REQUIRES(a->mutex)
{
    struct bz_map_entry *e;
    struct call *c;

    if (a->calls.len >= a->capacity)
        return bz_fail(err, BZ_E_BUSY, "%u results wait to be taken", a->capacity);
    e = bz_map_put_u64(&a->calls, id);
    if (e->p)
        return bz_fail(err, BZ_E_EXISTS, "task_id %llu is in use",
                       (unsigned long long)id);
    e->p = c = bz_mem_zalloc(sizeof(*c));
    c->last = &c->first;
    c->open = true;
    return 0;
}

int bz_attach_submit(struct bz_attach *a, struct bz_str text, uint64_t *id,
                     struct bz_err *err)
{
    struct bz_channel_head head = {.kind = BZ_CHANNEL_REQUEST};
    uint64_t named = bz_client_id(text);
    int rc;

    if (text.n > BZ_REQUEST_MAX)
        return bz_fail(err, BZ_E_LIMIT, "more than %zu bytes", BZ_REQUEST_MAX);
    bz_sync_lock(&a->mutex);
    do {
        *id = head.id = named ? named : ++a->last_id;
        rc = enter_locked(a, *id, err);
    } while (rc == BZ_E_EXISTS && !named);
    if (rc == 0) {
        rc = send_locked(a, &head, text, text.n > BZ_CHANNEL_PIECE, err);
        if (rc < 0) {
            struct bz_map_entry *e = bz_map_get_u64(&a->calls, *id);

            free_call(e->p);
            bz_map_remove_u64(&a->calls, *id);
        }
    }
    bz_sync_unlock(&a->mutex);
    return rc;
}

bool bz_attach_cancel(struct bz_attach *a, uint64_t id)
{
    const struct bz_map_entry *e;
    struct bz_err err;
    bool open;

    bz_sync_lock(&a->mutex);
    drain_locked(a);
    e = bz_map_get_u64(&a->calls, id);
    open = e && ((struct call *)e->p)->open;
    if (open &&
        send_locked(a, &(struct bz_channel_head){.kind = BZ_CHANNEL_CANCEL, .id = id},
                    BZ_STR(""), true, &err) < 0)
        open = false;
    bz_sync_unlock(&a->mutex);
    return open;
}
