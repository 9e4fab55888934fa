#include "serve_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/proc.h"

#define LOOK_MS 100                /* how often to see whether it is still wanted */
#define PATIENCE (10 * BZ_CLOCK_S) /* with one that nobody waits for */
#define ERRORS ((size_t)16 << 10)  /* bytes kept of standard error */

/* ---- what it says ---- */

static void keep_line(struct bz_serve_child *c, bool out, struct bz_str line)
{
    struct bz_buf *to = out ? &c->kept : &c->errors;

    if (to->len + line.n >= (out ? BZ_SERVE_CHILD_OUT : ERRORS)) {
        c->too_much |= out;
        bz_buf_truncate(to, 0);
        if (line.n >= ERRORS)
            return;
    }
    bz_buf_add_str(to, line);
    bz_buf_add_char(to, '\n');
}

static void take_line(struct bz_serve_child *c, bool out, struct bz_str line)
{
    if (!c->line || !c->line(c->ctx, out, line))
        keep_line(c, out, line);
}

static void take_bytes(struct bz_serve_child *c, bool out, struct bz_str bytes)
{
    struct bz_buf *rest = out ? &c->out_line : &c->err_line;
    size_t end;

    while ((end = bz_str_find_byte(bytes, '\n')) != BZ_STR_NONE) {
        bz_buf_add(rest, bytes.p, end);
        take_line(c, out, bz_buf_str(rest));
        bz_buf_truncate(rest, 0);
        bytes = bz_str_drop(bytes, end + 1);
    }
    bz_buf_add_str(rest, bytes);
    if (rest->len > BZ_SERVE_CHILD_LINE) {
        c->too_much = true;
        bz_buf_truncate(rest, 0);
    }
}

/* True if there may be more. */
static bool take_some(struct bz_serve_child *c, bool out, int fd)
{
    char bytes[16384];
    ssize_t n;

    do
        n = read(fd, bytes, sizeof(bytes));
    while (n < 0 && errno == EINTR);
    if (n > 0)
        take_bytes(c, out, bz_str_of(bytes, (size_t)n));
    return n > 0;
}

/* ---- how it ends ---- */

static void interrupt(struct bz_serve_child *c, const struct bz_proc *p)
{
    bz_proc_signal(p, SIGINT);
    c->signals++;
    c->next = bz_clock_in(PATIENCE);
}

/* The client is gone, or the time is up: gently at first, but it does end. */
static void see_to_end(struct bz_serve_child *c, const struct bz_proc *p)
{
    if (!c->stopping && !c->too_much && bz_call_check(c->call) == 0)
        return;
    if (c->signals == 0 || (c->signals == 1 && bz_clock_now() > c->next))
        interrupt(c, p);
    else if (bz_clock_now() > c->next)
        bz_proc_signal(p, SIGKILL);
    c->stopping = true;
}

static void take_wake(struct bz_serve_child *c, const struct bz_proc *p)
{
    eventfd_t n;

    if (eventfd_read(c->wake, &n) == 0)
        interrupt(c, p);
}

static void pump(struct bz_serve_child *c, struct bz_proc *p)
{
    enum { PIDFD, OUT, ERR, WAKE, FDS };
    bool alive = true;
    struct pollfd fds[FDS] = {
        [PIDFD] = {p->pidfd, POLLIN, 0},
        [OUT] = {p->out,   POLLIN, 0},
        [ERR] = {p->err,   POLLIN, 0},
        [WAKE] = {c->wake,  POLLIN, 0},
    };

    while (alive) {
        int n = poll(fds, FDS, LOOK_MS);

        see_to_end(c, p);
        if (n <= 0)
            continue;
        if (fds[WAKE].revents)
            take_wake(c, p);
        /* What it said before it ended is there when it has. */
        alive = !fds[PIDFD].revents;
        for (int i = OUT; i <= ERR; i++)
            if (fds[i].revents && !take_some(c, i == OUT, fds[i].fd) &&
                fds[i].revents & (POLLHUP | POLLERR))
                fds[i].fd = -1;
    }
    while (fds[OUT].fd >= 0 && take_some(c, true, p->out))
        ;
    while (fds[ERR].fd >= 0 && take_some(c, false, p->err))
        ;
}

static void take_rest(struct bz_serve_child *c)
{
    if (c->out_line.len > 0)
        take_line(c, true, bz_buf_str(&c->out_line));
    if (c->err_line.len > 0)
        take_line(c, false, bz_buf_str(&c->err_line));
}

static const char *const *line_of(struct bz_arena *a, const char *const *argv)
{
    size_t n = 0;
    const char **all;

    while (argv[n])
        n++;
    all = BZ_ARENA_ARRAY(a, const char *, n + 2);
    /* Whatever is at its path meanwhile, this is the program that the server is. */
    all[0] = "/proc/self/exe";
    memcpy(all + 1, argv, n * sizeof(*all));
    return all;
}

int bz_serve_child_run(struct bz_serve_child *c, const struct bz_serve_request *r,
                       struct bz_err *err)
{
    struct bz_proc_spec spec = {
        .argv = line_of(&c->call->arena, r->argv), .env = r->env, .cwd = r->project};
    struct bz_proc p;
    struct rusage usage;
    int status;
    int rc = bz_proc_spawn(&spec, &p, err);

    if (rc < 0)
        return rc;
    if (c->started)
        c->started(c->ctx, p.pid);
    pump(c, &p);
    bz_proc_reap(&p, &status, &usage);
    take_rest(c);
    c->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return c->too_much ? bz_fail(err, BZ_E_LIMIT, "the answer is too long") : 0;
}

void bz_serve_child_release(struct bz_serve_child *c)
{
    bz_buf_release(&c->kept);
    bz_buf_release(&c->errors);
    bz_buf_release(&c->out_line);
    bz_buf_release(&c->err_line);
}
