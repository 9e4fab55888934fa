#include "build_events.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "build/builds.h"
#include "os/clock.h"
#include "os/fs_lock.h"
#include "report/memuse.h"

static void write_event(struct bz_build_events *e, const struct bz_event *event)
{
    bool passing = event->kind == BZ_EVENT_TICK || event->kind == BZ_EVENT_PROGRESS;

    if (e->kept && !passing) /* nobody wants to know these afterwards */
        bz_eventlog_write(e->kept, event);
    if (e->asked && event->kind != BZ_EVENT_TICK)
        bz_eventlog_write(e->asked, event);
}

/* Something happens often enough while tasks run: time passes. */
static void sample_memory(struct bz_build_events *e, const struct bz_event *event)
{
    uint64_t used;

    if (!e->started || (e->sampled > 0 && event->at - e->sampled < BZ_CLOCK_S))
        return;
    e->sampled = event->at;
    used = bz_memuse_used();
    if (used > e->memory)
        e->memory = used;
}

void bz_build_events_hear(void *ctx, const struct bz_event *event)
{
    struct bz_build_events *e = ctx;

    e->started |= event->kind == BZ_EVENT_STARTED;
    sample_memory(e, event);
    if (event->kind == BZ_EVENT_ENDED) {
        e->ended = true;
        e->end = *event;
        e->end.memory = e->memory;
        e->end.key = NULL;
    } else {
        write_event(e, event);
    }
    if (e->view && event->kind != BZ_EVENT_UNNEEDED)
        e->view(e->view_ctx, event);
}

static void tell_traffic(struct bz_build_events *e, struct bz_cache *cache)
{
    for (size_t i = 0; cache && i < bz_cache_places(cache); i++) {
        struct bz_event event = {.kind = BZ_EVENT_TRAFFIC, .at = e->end.at};
        struct bz_cache_traffic t;

        bz_cache_traffic(cache, i, &t);
        event.place = (struct bz_event_place){.name = t.name,
                                              .kind = t.kind,
                                              .hits = t.hits,
                                              .misses = t.misses,
                                              .blobs_read = t.read.blobs,
                                              .bytes_read = t.read.bytes,
                                              .blobs_written = t.written.blobs,
                                              .bytes_written = t.written.bytes};
        event.counts = e->end.counts;
        bz_build_events_hear(e, &event);
    }
}

void bz_build_events_finish(struct bz_build_events *e, struct bz_cache *cache,
                            size_t evaluated)
{
    if (!e->ended)
        return;
    e->end.evaluated = evaluated;
    tell_traffic(e, cache);
    write_event(e, &e->end);
    e->ended = false;
}

static int open_file(const char *path, int *fd, struct bz_err *err)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    return *fd < 0 ? bz_fail_sys(err, "open %s", path) : 0;
}

static int open_kept(void *ctx, int *fd, struct bz_err *err)
{
    struct bz_build_events *e = ctx;
    struct bz_err unlocked;
    const char *path;
    int rc = bz_builds_make(&e->arena, e->build_dir, e->wall,
                            e->started ? BZ_BUILDS_EVENTS : BZ_BUILDS_IDLE, &path, err);

    if (rc == 0)
        rc = open_file(path, fd, err);
    /* Whoever looks at it can tell that the build is alive. */
    if (rc == 0 && bz_fs_lock_fd(*fd, &unlocked) < 0)
        bz_log_debug("build", "%s: %s", path, unlocked.msg);
    return rc;
}

static int open_asked(void *ctx, int *fd, struct bz_err *err)
{
    struct bz_build_events *e = ctx;

    if (strcmp(e->file, "-") != 0)
        return open_file(e->file, fd, err);
    *fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    return *fd < 0 ? bz_fail_sys(err, "copy stdout") : 0;
}

void bz_build_events_open(struct bz_build_events *e, const struct bz_eventlog_opts *log)
{
    struct bz_eventlog_opts own = *log;

    own.version = BZ_VERSION;
    own.wall = e->wall;
    own.open_ctx = e;
    own.open = open_kept;
    own.lazy = true;
    if (!e->dry)
        e->kept = bz_eventlog_new(&own);
    own.open = open_asked;
    own.lazy = false;
    if (e->file)
        e->asked = bz_eventlog_new(&own);
}

void bz_build_events_close(struct bz_build_events *e, struct bz_out *out)
{
    struct bz_err err;

    if (bz_eventlog_close(e->kept, &err) < 0)
        bz_out_print(out, "warning: the events of the build are not kept: %s\n",
                     err.msg);
    if (bz_eventlog_close(e->asked, &err) < 0)
        bz_out_print(out, "warning: --events: %s\n", err.msg);
    bz_arena_release(&e->arena);
}
