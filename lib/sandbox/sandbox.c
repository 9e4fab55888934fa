#include "sandbox/sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sync.h"
#include "os/fs.h"
#include "os/proc_io.h"
#include "sandbox/child.h"
#include "sandbox/devices.h"
#include "sandbox/image.h"
#include "sandbox/landlock.h"
#include "sandbox/spawn.h"
#include "sandbox/stage.h"

#define OPTIONS_MAX 4095 /* bytes of the options of a mount */
#define LINGER_MS 10000  /* for the processes of a bare one to be killed */
#define STAGES 4         /* for each seat: tasks come in a few kinds */

struct bz_sandbox_seat {
    struct bz_sandbox_seat *next;
    struct bz_userns_opts kind;
    struct bz_userns ns;
    struct bz_stage stages[STAGES];
    unsigned made;   /* stages */
    uint64_t missed; /* the last shape that there was none for */
    int note;        /* a file in memory, for BZ_CHILD_NOTE or BZ_CHILD_BARE_NOTE */
    int rules;       /* of a bare one, for BZ_CHILD_NOTE */
    int alive;       /* of a bare one: hung up when all of it has ended */
    void *stack[2];  /* for the two steps of a child */
};

struct bz_sandbox {
    char *anchor;
    int init;   /* the first process of every sandbox */
    int parent; /* a pidfd of ours */
    int bare;   /* 0, or the version of Landlock */
    struct bz_filter filter;
    struct bz_filter online; /* of bare ones that have a network */
    struct bz_sync_mutex mu;
    struct bz_sandbox_seat *free; /* mu */
};

static void seat_free(struct bz_sandbox_seat *s)
{
    for (size_t i = 0; i < STAGES; i++)
        bz_stage_release(&s->stages[i]);
    bz_userns_release(&s->ns);
    bz_fs_closep(&s->note);
    bz_fs_closep(&s->rules);
    bz_fs_closep(&s->alive);
    bz_spawn_stack_free(s->stack[0]);
    bz_spawn_stack_free(s->stack[1]);
    free(s);
}

/* `bare`: without namespaces. */
static int seat_new(const struct bz_userns_opts *kind, bool bare,
                    struct bz_sandbox_seat **out, struct bz_err *err)
{
    struct bz_sandbox_seat *s = bz_mem_zalloc(sizeof(*s));
    int rc;

    s->kind = *kind;
    s->alive = s->rules = -1;
    s->ns = (struct bz_userns){-1, -1};
    for (size_t i = 0; i < STAGES; i++)
        s->stages[i].mnt = s->stages[i].host = -1;
    s->note = bz_proc_io_lift(memfd_create("note", MFD_CLOEXEC));
    rc = s->note < 0 ? bz_fail_sys(err, "make a file in memory")
                     : bz_spawn_stack_new(&s->stack[0], err);
    if (rc == 0)
        rc = bz_spawn_stack_new(&s->stack[1], err);
    if (rc == 0 && !bare)
        rc = bz_userns_make(&s->ns, kind, s->stack[0], err);
    if (rc < 0)
        seat_free(s);
    else
        *out = s;
    return rc;
}

/* A free seat of that kind, or a new one: there come to be as many as there are
 * children at the same time. */
static int take_seat(struct bz_sandbox *sb, const struct bz_userns_opts *kind,
                     struct bz_sandbox_seat **out, struct bz_err *err)
{
    struct bz_sandbox_seat **at, *found = NULL;

    bz_sync_lock(&sb->mu);
    for (at = &sb->free; *at && !found; at = &(*at)->next)
        if ((*at)->kind.id == kind->id && (*at)->kind.network == kind->network) {
            found = *at;
            *at = found->next;
            break;
        }
    bz_sync_unlock(&sb->mu);
    *out = found;
    return found ? 0 : seat_new(kind, sb->bare, out, err);
}

static void give_seat(struct bz_sandbox *sb, struct bz_sandbox_seat *seat)
{
    bz_sync_lock(&sb->mu);
    seat->next = sb->free;
    sb->free = seat;
    bz_sync_unlock(&sb->mu);
}

static struct bz_sandbox *sandbox_new(void)
{
    struct bz_sandbox *sb = bz_mem_zalloc(sizeof(*sb));

    sb->init = sb->parent = -1;
    return sb;
}

static int open_init(struct bz_sandbox *sb, struct bz_err *err)
{
    int rc = bz_devices_check(err);

    if (rc == 0)
        rc = bz_image_open(&sb->init, err);
    if (rc < 0)
        return rc;
    sb->init = bz_proc_io_lift(sb->init);
    sb->parent = bz_proc_io_lift(pidfd_open(getpid(), 0));
    return sb->init < 0 || sb->parent < 0 ? bz_fail_sys(err, "prepare sandboxes") : 0;
}

int bz_sandbox_probe(struct bz_err *err)
{
    void *stack = NULL;
    int rc = bz_spawn_stack_new(&stack, err);

    if (rc == 0)
        rc = bz_userns_probe(stack, err);
    bz_spawn_stack_free(stack);
    return rc;
}

int bz_sandbox_probe_bare(struct bz_err *err)
{
    int abi;
    int rc = bz_landlock_find(&abi, err);

    if (rc == 0 && !bz_fs_exists(AT_FDCWD, "/proc/thread-self/children"))
        rc = bz_fail(err, BZ_E_NOSUP, "/proc does not list the children of processes");
    return rc;
}

int bz_sandbox_open_bare(struct bz_sandbox **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_sandbox_closep) struct bz_sandbox *sb = sandbox_new();
    int rc = bz_sandbox_probe_bare(err);
    bool truncates;

    if (rc == 0)
        rc = bz_landlock_find(&sb->bare, err);
    truncates = sb->bare < BZ_LANDLOCK_TRUNCATE;
    if (rc == 0)
        rc = bz_filter_make_bare(&sb->filter, false, truncates, err);
    if (rc == 0)
        rc = bz_filter_make_bare(&sb->online, true, truncates, err);
    if (rc == 0)
        rc = open_init(sb, err);
    if (rc < 0)
        return rc;
    *out = sb;
    sb = NULL;
    return 0;
}

int bz_sandbox_open(const char *anchor, struct bz_sandbox **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_sandbox_closep) struct bz_sandbox *sb = sandbox_new();
    const struct bz_userns_opts usual = {.id = BZ_SPEC_USER};
    struct bz_sandbox_seat *seat;
    int rc;

    sb->anchor = bz_mem_dup(anchor, strlen(anchor));
    rc = bz_filter_make(&sb->filter, err);
    if (rc == 0)
        rc = open_init(sb, err);
    if (rc < 0)
        return rc;
    /* Most sandboxes need one like this; whether it works tells whether they do. */
    rc = seat_new(&usual, false, &seat, err);
    if (rc < 0)
        return rc;
    give_seat(sb, seat);
    *out = sb;
    sb = NULL;
    return 0;
}

void bz_sandbox_close(struct bz_sandbox *sb)
{
    if (!sb)
        return;
    while (sb->free) {
        struct bz_sandbox_seat *s = sb->free;

        sb->free = s->next;
        seat_free(s);
    }
    bz_filter_release(&sb->filter);
    bz_filter_release(&sb->online);
    bz_fs_closep(&sb->init);
    bz_fs_closep(&sb->parent);
    free(sb->anchor);
    free(sb);
}

void bz_sandbox_closep(struct bz_sandbox **sb)
{
    bz_sandbox_close(*sb);
}

/* In options of an overlay a comma ends one and a colon a layer. */
static int add_path(struct bz_buf *out, const char *name, const char *path,
                    struct bz_err *err)
{
    int rc = bz_buf_try_addf(out, err, ",%s=", name);

    for (; rc == 0 && *path; path++) {
        if (strchr("\\,:", *path))
            rc = bz_buf_try_add_char(out, '\\', err);
        if (rc == 0)
            rc = bz_buf_try_add_char(out, *path, err);
    }
    return rc;
}

/* Texts of an overlay, for both ways to mount it. */
struct overlay {
    struct bz_buf lower, options;
};

static void overlay_release(struct overlay *o)
{
    bz_buf_release(&o->lower);
    bz_buf_release(&o->options);
}

/* userxattr, because only that works in a user namespace; volatile, because what is in
 * the upper layer counts only after it has been stored. */
static int overlay_fill(struct overlay *o, const struct bz_spec_layers *l,
                        struct bz_err *err)
{
    struct bz_buf *out = &o->options;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < l->n; i++)
        rc = bz_buf_try_addf(&o->lower, err, i ? ":%u" : "%u", i);
    if (rc == 0)
        rc = bz_buf_try_addf(out, err, "userxattr,volatile,lowerdir=%s",
                             bz_buf_text(&o->lower));
    if (rc == 0)
        rc = add_path(out, "upperdir", l->upper, err);
    if (rc == 0)
        rc = add_path(out, "workdir", l->work, err);
    return rc < 0 ? bz_err_wrap(err, "%u layers are too many", l->n) : 0;
}

/* With what exec wants: a null at the end. */
static const char **list_words(const struct bz_spec_words *words, const char *first)
{
    const char **list = bz_mem_array(words->len + 2, sizeof(*list));
    size_t n = 0;

    if (first)
        list[n++] = first;
    for (size_t i = 0; i < words->len; i++)
        list[n++] = words->at[i];
    return list;
}

static int tell_failure(const struct bz_child *c, struct bz_err *err)
{
    const struct bz_mount_failure *f = &c->failure;

    errno = f->sys;
    if (f->what)
        return bz_fail_sys(err, "sandbox: %s %s", f->step, f->what);
    return bz_fail_sys(err, "sandbox: %s", f->step);
}

static void wait_for(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Both steps; when it returns, the sandbox runs, or there is none. */
static int run_steps(struct bz_child *c, void *stack, struct bz_err *err)
{
    pid_t first;
    int rc;

    if (c->bare) {
        rc = bz_spawn_start(stack, 0, bz_child_bare, c, &c->pid, err);
        if (rc < 0 || !c->failure.step)
            return rc;
        wait_for(c->pid);
        return tell_failure(c, err);
    }
    rc = bz_spawn_start(stack, 0, bz_child_enter, c, &first, err);
    if (rc < 0)
        return rc;
    wait_for(first);
    if (!c->failure.step && c->pid > 0)
        return 0;
    if (c->pid > 0)
        wait_for(c->pid);
    if (c->failure.step)
        return tell_failure(c, err);
    return bz_fail(err, BZ_E_IO, "sandbox: killed before it began");
}

static int *no_trees(const struct bz_spec *spec)
{
    int *trees = bz_mem_array(spec->entries.len, sizeof(*trees));

    for (size_t i = 0; i < spec->entries.len; i++)
        trees[i] = -1;
    return trees;
}

static bool *find_fixed(const struct bz_spec *spec)
{
    bool *fixed = bz_mem_array(spec->entries.len, sizeof(*fixed));

    for (size_t i = 0; i < spec->entries.len; i++)
        fixed[i] = bz_spec_is_fixed(spec, i);
    return fixed;
}

/* The stage of the seat that fits, or a new one the second time that none does. Without
 * one the sandbox makes all by itself, and tells what is wrong if that fails, too. */
static void use_stage(struct bz_sandbox_seat *seat, struct bz_child *c)
{
    struct bz_stage *stage = NULL;
    struct bz_err ignored;
    bool can = bz_mount_can_base(&c->plan);
    uint64_t shape;

    for (size_t i = 0; i < STAGES && can && !stage; i++)
        if (bz_stage_fits(&seat->stages[i], &c->plan))
            stage = &seat->stages[i];
    if (can && !stage) {
        shape = bz_stage_shape(&c->plan);
        if (shape == seat->missed) {
            stage = &seat->stages[seat->made++ % STAGES];
            if (bz_stage_make(stage, &c->plan, seat->ns.user, seat->stack[0],
                              &ignored) < 0)
                stage = NULL;
        }
        seat->missed = shape;
    }
    c->plan.based = stage != NULL;
    c->stage = stage ? stage->mnt : -1;
    c->host = stage ? stage->host : -1;
}

/* What start() leaves to the two kinds. */
static int prepare(struct bz_sandbox *sb, struct bz_sandbox_seat *seat,
                   struct bz_child *c, struct overlay *layers, struct bz_err *err)
{
    const struct bz_spec *spec = c->plan.spec;
    int rc = 0;

    if (ftruncate(c->note, 0) < 0)
        return bz_fail_sys(err, "clear a file in memory");
    if (sb->bare) {
        bz_fs_closep(&seat->rules);
        seat->rules = -1;
        rc = bz_landlock_make(spec, sb->bare, c->fd, &seat->rules, err);
        if (rc < 0)
            return rc;
        c->rules = seat->rules = bz_proc_io_lift(seat->rules);
        return c->rules < 0 ? bz_fail_sys(err, "prepare a sandbox") : 0;
    }
    if (spec->layers.n > 0)
        rc = overlay_fill(layers, &spec->layers, err);
    if (rc < 0)
        return rc;
    c->plan.layers = bz_buf_text(&layers->options);
    c->plan.lower = bz_buf_text(&layers->lower);
    use_stage(seat, c);
    return 0;
}

static const char *init_name(const struct bz_sandbox *sb, const struct bz_spec *spec)
{
    if (sb->bare)
        return spec->network ? "bare-open" : "bare";
    return spec->network ? "open" : "init";
}

static int start(struct bz_sandbox *sb, const struct bz_spec *spec,
                 const struct bz_proc_io *io, struct bz_sandbox_child *child,
                 struct bz_err *err)
{
    BZ_CLEANUP(overlay_release)
    struct overlay layers = {{.limit = OPTIONS_MAX}, {.limit = OPTIONS_MAX}};
    BZ_CLEANUP(bz_mem_freep)
    const char **argv = list_words(&spec->argv, init_name(sb, spec));
    BZ_CLEANUP(bz_mem_freep) const char **env = list_words(&spec->env, NULL);
    BZ_CLEANUP(bz_mem_freep) bool *fixed = find_fixed(spec);
    BZ_CLEANUP(bz_mem_freep) int *trees = no_trees(spec);
    BZ_CLEANUP(bz_fs_closep) int ours = -1;
    BZ_CLEANUP(bz_fs_closep) int theirs = -1;
    struct bz_child c = {
        .plan = {spec,   fixed, sb->anchor, NULL, false, NULL, trees},
        .ns = child->seat->ns,
        .stack = child->seat->stack[1],
        .fd = {io->child[0], io->child[1],  io->child[2]      },
        .note = child->seat->note,
        .init = sb->init,
        .parent = sb->parent,
        .bare = sb->bare > 0,
        .filter = sb->bare && spec->network ? &sb->online.prog : &sb->filter.prog,
        .argv = argv,
        .env = env
    };
    int ends[2], rc = prepare(sb, child->seat, &c, &layers, err);

    if (rc < 0)
        return rc;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return bz_fail_sys(err, "make a pipe");
    ours = ends[0];
    theirs = c.status = bz_proc_io_lift(ends[1]);
    if (theirs < 0)
        return bz_fail_sys(err, "make a pipe");
    if (sb->bare)
        child->seat->alive = fcntl(ours, F_DUPFD_CLOEXEC, 0);
    rc = run_steps(&c, child->seat->stack[0], err);
    if (rc < 0)
        return rc;
    child->proc = (struct bz_proc){.pid = c.pid,
                                   .pidfd = pidfd_open(c.pid, 0),
                                   .out = -1,
                                   .err = -1,
                                   .leads_group = !spec->terminal,
                                   .status = bz_fs_detach(&ours)};
    if (child->proc.pidfd < 0) {
        int status;

        rc = bz_fail_sys(err, "watch a sandbox");
        bz_proc_signal(&child->proc, SIGKILL);
        bz_proc_reap(&child->proc, &status, NULL);
    }
    return rc;
}

int bz_sandbox_start(struct bz_sandbox *sb, const struct bz_spec *spec,
                     const struct bz_proc_spec *io, struct bz_sandbox_child *child,
                     struct bz_err *err)
{
    const struct bz_userns_opts kind = {spec->root ? 0 : BZ_SPEC_USER, spec->network};
    BZ_CLEANUP(bz_proc_io_release) struct bz_proc_io streams = BZ_PROC_IO_NONE;
    int rc = bz_proc_io_open(&streams, io, err);

    BZ_ASSERT(spec->argv.len > 0);
    if (rc == 0)
        rc = take_seat(sb, &kind, &child->seat, err);
    if (rc < 0)
        return rc;
    rc = start(sb, spec, &streams, child, err);
    if (rc < 0) {
        bz_sandbox_leave(sb, child);
        return rc;
    }
    child->proc.out = bz_fs_detach(&streams.out);
    child->proc.err = bz_fs_detach(&streams.err);
    return 0;
}

/* What init has noted. A name server of the sandbox's own is none: what was tried is to
 * find the address of a host. */
static void read_note(int fd, char *out, size_t size)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a = {0};
    char text[INET6_ADDRSTRLEN];
    const void *address;
    in_port_t port;

    out[0] = '\0';
    if (pread(fd, &a, sizeof(a), 0) < (ssize_t)sizeof(a.v4))
        return;
    address = a.any.sa_family == AF_INET ? (const void *)&a.v4.sin_addr
                                         : (const void *)&a.v6.sin6_addr;
    port = a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port;
    if (!inet_ntop(a.any.sa_family, address, text, sizeof(text)))
        return;
    if (strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0)
        snprintf(out, size, "a name server");
    else
        snprintf(out, size, "%s port %u", text, (unsigned)ntohs(port));
}

/* Whoever was killed together with the first process may have left others, which the
 * second one ends. */
static void wait_for_rest(struct bz_sandbox_seat *seat)
{
    struct pollfd end = {.fd = seat->alive}; /* no events: only that it is hung up */

    while (end.fd >= 0 && poll(&end, 1, LINGER_MS) < 0 && errno == EINTR)
        continue;
    bz_fs_closep(&seat->alive);
    seat->alive = -1;
}

void bz_sandbox_leave(struct bz_sandbox *sb, struct bz_sandbox_child *child)
{
    child->tried[0] = '\0';
    if (sb->bare)
        wait_for_rest(child->seat);
    read_note(child->seat->note, child->tried, sizeof(child->tried));
    give_seat(sb, child->seat);
    child->seat = NULL;
}
