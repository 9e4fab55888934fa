#include "serve_desk.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "os/fs.h"

enum { TARGETS = 16 }; /* that are told of a build */

static int count_locked(const struct bz_serve_desk *d, const void *client,
                        unsigned *own) BZ_REQUIRES(d->mutex)
{
    int n = 0;

    *own = 0;
    for (const struct bz_serve_seat *s = d->first; s; s = s->next, n++)
        *own += s->client == client;
    return n;
}

static int enter_locked(struct bz_serve_desk *d, struct bz_serve_seat *s,
                        struct bz_err *err) BZ_REQUIRES(d->mutex)
{
    struct bz_serve_seat **last = &d->first;
    unsigned own;

    if (d->closed)
        return bz_fail(err, BZ_E_CANCELED, "the server is about to end");
    if (count_locked(d, s->client, &own) >= BZ_SERVE_DESK_BUILDS)
        return bz_fail(err, BZ_E_BUSY, "%d builds run or wait already",
                       BZ_SERVE_DESK_BUILDS);
    if (own >= BZ_SERVE_DESK_EACH)
        return bz_fail(err, BZ_E_BUSY, "%d builds of this client run or wait already",
                       BZ_SERVE_DESK_EACH);
    while (*last)
        last = &(*last)->next;
    *last = s;
    s->next = NULL;
    return 0;
}

int bz_serve_desk_enter(struct bz_serve_desk *d, struct bz_serve_seat *s,
                        struct bz_err *err)
{
    int rc;

    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    if (s->wake < 0)
        return bz_fail_sys(err, "make an event");
    bz_sync_lock(&d->mutex);
    rc = enter_locked(d, s, err);
    bz_sync_unlock(&d->mutex);
    if (rc < 0)
        bz_fs_closep(&s->wake);
    return rc;
}

void bz_serve_desk_leave(struct bz_serve_desk *d, struct bz_serve_seat *s)
{
    bz_sync_lock(&d->mutex);
    for (struct bz_serve_seat **p = &d->first; *p; p = &(*p)->next)
        if (*p == s) {
            *p = s->next;
            break;
        }
    bz_sync_broadcast(&d->moved);
    bz_sync_unlock(&d->mutex);
    bz_fs_closep(&s->wake);
}

/* The nearest one before it, of the same project. */
static const struct bz_serve_seat *blocker_locked(const struct bz_serve_desk *d,
                                                  const struct bz_serve_seat *s)
    BZ_REQUIRES(d->mutex)
{
    const struct bz_serve_seat *found = NULL;

    for (const struct bz_serve_seat *o = d->first; o && o != s; o = o->next)
        if (strcmp(o->project, s->project) == 0)
            found = o;
    return found;
}

bool bz_serve_desk_wait(struct bz_serve_desk *d, struct bz_serve_seat *s,
                        int64_t deadline)
{
    bool turn;

    bz_sync_lock(&d->mutex);
    while (!(turn = !blocker_locked(d, s)) && !s->interrupted)
        if (!bz_sync_wait(&d->moved, &d->mutex, deadline))
            break;
    bz_sync_unlock(&d->mutex);
    return turn;
}

bool bz_serve_desk_is_interrupted(struct bz_serve_desk *d, struct bz_serve_seat *s)
{
    bool interrupted;

    bz_sync_lock(&d->mutex);
    interrupted = s->interrupted;
    bz_sync_unlock(&d->mutex);
    return interrupted;
}

static void write_seat(struct bz_jsonw *w, const struct bz_serve_seat *s)
{
    bz_jsonw_map(w);
    bz_jsonw_cstr(bz_jsonw_key(w, "project"), s->project);
    bz_jsonw_list(bz_jsonw_key(w, "targets"));
    for (size_t i = 0; i < s->ntargets && i < TARGETS; i++)
        bz_jsonw_cstr(w, s->targets[i]);
    bz_jsonw_list_end(w);
    bz_jsonw_cstr(bz_jsonw_key(w, "state"), s->pid > 0 ? "runs" : "waits");
    if (s->pid > 0)
        bz_jsonw_int(bz_jsonw_key(w, "pid"), s->pid);
    bz_jsonw_map_end(w);
}

uint64_t bz_serve_desk_blocker(struct bz_serve_desk *d, const struct bz_serve_seat *s,
                               struct bz_jsonw *w)
{
    const struct bz_serve_seat *b;
    uint64_t which = 0;

    bz_sync_lock(&d->mutex);
    b = blocker_locked(d, s);
    if (b) {
        which = (uint64_t)(uintptr_t)b;
        write_seat(w, b);
    }
    bz_sync_unlock(&d->mutex);
    return which;
}

void bz_serve_desk_runs(struct bz_serve_desk *d, struct bz_serve_seat *s, pid_t pid)
{
    bz_sync_lock(&d->mutex);
    s->pid = pid;
    bz_sync_unlock(&d->mutex);
}

static void interrupt_locked(struct bz_serve_desk *d, struct bz_serve_seat *s)
    BZ_REQUIRES(d->mutex)
{
    s->interrupted = true;
    while (eventfd_write(s->wake, 1) < 0 && errno == EINTR)
        ;
    bz_sync_broadcast(&d->moved);
}

bool bz_serve_desk_interrupt(struct bz_serve_desk *d, const void *client, uint64_t id)
{
    bool found = false;

    bz_sync_lock(&d->mutex);
    for (struct bz_serve_seat *s = d->first; s; s = s->next)
        if (s->client == client && s->id == id) {
            interrupt_locked(d, s);
            found = true;
        }
    bz_sync_unlock(&d->mutex);
    return found;
}

void bz_serve_desk_close(struct bz_serve_desk *d)
{
    bz_sync_lock(&d->mutex);
    d->closed = true;
    for (struct bz_serve_seat *s = d->first; s; s = s->next)
        interrupt_locked(d, s);
    bz_sync_unlock(&d->mutex);
}

void bz_serve_desk_write(struct bz_serve_desk *d, struct bz_jsonw *w)
{
    bz_jsonw_list(w);
    bz_sync_lock(&d->mutex);
    for (const struct bz_serve_seat *s = d->first; s; s = s->next)
        write_seat(w, s);
    bz_sync_unlock(&d->mutex);
    bz_jsonw_list_end(w);
}
