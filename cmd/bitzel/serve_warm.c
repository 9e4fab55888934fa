#include "serve_warm.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "os/clock.h"
#include "os/fs.h"

/* All that decides what the project says, but its files. */
static char *key_of(const struct bz_serve_request *r)
{
    struct bz_buf key = {0};

    bz_buf_addf(&key, "%s\n", r->project);
    for (const char *const *word = r->globals; *word; word++)
        bz_buf_addf(&key, "%s\n", *word);
    for (const char *const *var = r->env; *var; var++)
        bz_buf_addf(&key, "%s\n", *var);
    bz_buf_text(&key);
    return key.data;
}

static void end(struct bz_serve_warm_project *p)
{
    struct rusage usage;
    int status;

    if (!p->key)
        return;
    bz_fs_closep(&p->line);
    bz_proc_signal(&p->proc, SIGTERM);
    bz_proc_reap(&p->proc, &status, &usage);
    free(p->key);
    *p = (struct bz_serve_warm_project){.line = -1};
}

static bool has_ended(const struct bz_serve_warm_project *p)
{
    struct pollfd fd = {p->proc.pidfd, POLLIN, 0};

    return poll(&fd, 1, 0) > 0;
}

static void begin(struct bz_serve_warm_project *p, const struct bz_serve_request *r)
{
    const char *argv[16] = {"/proc/self/exe", "warm", "--quiet"};
    struct bz_proc_spec spec = {.argv = argv,
                                .env = r->env,
                                .cwd = r->project,
                                .in.kind = BZ_PROC_IN_FD,
                                .out.kind = BZ_PROC_NULL,
                                .err.kind = BZ_PROC_NULL};
    struct bz_err err;
    int line[2];
    size_t n = 3;

    for (const char *const *word = r->globals; *word; word++) {
        if (n + 1 == BZ_COUNTOF(argv))
            return; /* strange enough to be left alone */
        argv[n++] = *word;
    }
    if (pipe2(line, O_CLOEXEC) < 0)
        return;
    spec.in.fd = line[0];
    if (bz_proc_spawn(&spec, &p->proc, &err) < 0) {
        bz_log_info("serve", "%s", err.msg);
        close(line[1]);
    } else {
        p->key = key_of(r);
        p->line = line[1];
        p->used = bz_clock_now();
    }
    close(line[0]);
}

/* The one of that key, or the place for it: an empty one, or the oldest. */
static struct bz_serve_warm_project *place_of(struct bz_serve_warm *w, const char *key)
    BZ_REQUIRES(w->mutex)
{
    struct bz_serve_warm_project *best = &w->projects[0];

    for (size_t i = 0; i < BZ_SERVE_WARM_MOST; i++) {
        struct bz_serve_warm_project *p = &w->projects[i];

        if (p->key && strcmp(p->key, key) == 0)
            return p;
        if (p->used < best->used)
            best = p;
    }
    return best;
}

void bz_serve_warm_keep(struct bz_serve_warm *w, const struct bz_serve_request *r)
{
    char *key = key_of(r);
    struct bz_serve_warm_project *p;

    bz_sync_lock(&w->mutex);
    p = place_of(w, key);
    if (p->key && strcmp(p->key, key) == 0 && !has_ended(p)) {
        p->used = bz_clock_now();
    } else {
        end(p);
        begin(p, r);
    }
    bz_sync_unlock(&w->mutex);
    free(key);
}

void bz_serve_warm_close(struct bz_serve_warm *w)
{
    bz_sync_lock(&w->mutex);
    for (size_t i = 0; i < BZ_SERVE_WARM_MOST; i++)
        end(&w->projects[i]);
    bz_sync_unlock(&w->mutex);
}
