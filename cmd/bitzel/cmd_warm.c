#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/map.h"
#include "cmd.h"
#include "cmd_open.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/path.h"
#include "survey/inputs.h"

#define SETTLE_MS 200          /* without an event: whoever saves files has done so */
#define SETTLE_MOST BZ_CLOCK_S /* but no longer */
#define TRIES 3                /* of surveys one after the other, while files change */
#define CHANGES                                                                        \
    (IN_CREATE | IN_DELETE | IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_FROM |              \
     IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct warm_values {
    char unused;
};

static const struct bz_opt opts[] = {BZ_OPT_END};
static const struct bz_opt_arg args[] = {BZ_OPT_END};

/* What is watched: the directories of all that the last survey has looked at. */
struct watch {
    int fd;
    struct bz_map dirs;
    struct bz_arena arena;
};

static void release(struct watch *w)
{
    bz_fs_closep(&w->fd);
    bz_map_release(&w->dirs);
    bz_arena_release(&w->arena);
}

/* A directory that is not there yet is awaited in the one above it. */
static void add_dir(struct watch *w, struct bz_str dir)
{
    while (dir.n > 0 && !bz_map_get(&w->dirs, dir)) {
        struct bz_str name = bz_arena_dup(&w->arena, dir);

        if (inotify_add_watch(w->fd, name.p, CHANGES) >= 0) {
            bz_map_put(&w->dirs, name);
            return;
        }
        if (errno != ENOENT || bz_str_eq(dir, BZ_STR("/")))
            return;
        dir = bz_path_dirname(dir);
    }
}

static int add_inputs(struct watch *w, struct bz_entries *catalog, struct bz_err *err)
{
    struct bz_deltas d = {0};
    struct bz_inputs in = {0};
    int rc = bz_deltas_open(&d, catalog, err);

    if (rc == 0)
        rc = bz_inputs_read(&in, &d, err);
    for (size_t i = 0; i < in.n && rc == 0; i++) {
        struct bz_str path = in.looks[i].path;

        if (!in.dropped[i] && bz_path_is_absolute(path))
            add_dir(w, in.looks[i].stamp.kind == BZ_STAMP_DIR ? path
                                                              : bz_path_dirname(path));
    }
    bz_inputs_release(&in);
    bz_deltas_close(&d);
    return rc;
}

/* Evaluates what has changed and saves it, if there is anything to save. Watches all
 * that counts for it. *again: it has written, or watches more than before, so that
 * something may have changed unseen. */
static int survey(struct bz_cmd_env *env, struct watch *w, bool *again,
                  struct bz_err *err)
{
    struct bz_build b = {0};
    struct bz_entries_key before = {{0}};
    size_t known = w->dirs.len;
    int rc = bz_cmd_open_build(env, &b, BZ_BUILD_PROJECT, err);

    *again = false;
    if (rc == 0) {
        struct bz_deltas d;
        struct bz_err none;

        if (bz_deltas_open(&d, bz_catalog_entries(&b.catalog), &none) == 0)
            before = d.last;
        bz_deltas_close(&d);
        rc = bz_build_to(&b, BZ_BUILD_CATALOG, err);
        *again =
            memcmp(&before, &b.catalog.survey.recall.old.last, sizeof(before)) != 0;
    }
    if (rc == 0)
        rc = add_inputs(w, bz_catalog_entries(&b.catalog), err);
    *again |= w->dirs.len > known;
    bz_build_close(&b);
    bz_buf_truncate(&env->log.buf, 0); /* whoever asks is told */
    return rc;
}

/* Takes the events that there are; what they say is of no interest. */
static void drain(struct watch *w)
{
    char events[4096];

    while (read(w->fd, events, sizeof(events)) > 0)
        ;
}

/* Until something has changed and nothing has for a moment. False when whoever keeps
 * our standard input open is gone. */
static bool wait_for_change(struct watch *w)
{
    struct pollfd fds[] = {
        {STDIN_FILENO, POLLIN, 0},
        {w->fd,        POLLIN, 0}
    };
    int64_t end = BZ_CLOCK_NEVER;
    char byte;

    for (;;) {
        int n = poll(fds, 2, end == BZ_CLOCK_NEVER ? -1 : SETTLE_MS);

        if (fds[0].revents && read(STDIN_FILENO, &byte, 1) <= 0)
            return false;
        if (n == 0 || (n > 0 && bz_clock_now() > end))
            return true;
        if (n > 0 && fds[1].revents) {
            drain(w);
            if (end == BZ_CLOCK_NEVER)
                end = bz_clock_in(SETTLE_MOST);
        }
    }
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    BZ_CLEANUP(release)
    struct watch w = {.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    bool again = true;
    int rc = w.fd < 0 ? bz_fail_sys(err, "watch files") : 0;

    (void)values;
    (void)!nice(10); /* nobody waits for it */
    if (rc == 0)
        rc = survey(env, &w, &again, err);
    if (rc < 0)
        return rc;
    do {
        for (int i = 0; i < TRIES && again; i++) {
            struct bz_err ignored;

            drain(&w);
            if (survey(env, &w, &again, &ignored) < 0)
                break; /* until the mistake is mended */
        }
        again = true;
    } while (wait_for_change(&w));
    return BZ_CMD_EXIT_SUCCESS;
}

const struct bz_cmd bz_cmd_warm = {
    .name = "warm",
    .hidden = true,
    .summary = "Keep what is remembered of a project up to date",
    .detail =
        "Reads the project, and what has changed in it whenever that happens, until "
        "its standard input ends. So the next command finds everything read.",
    .opts = opts,
    .args = args,
    .size = sizeof(struct warm_values),
    .run = run,
};
