#include "os/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/path.h"
#include "os/proc_io.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define FIRST_FREE 3 /* descriptor after the standard ones */

/* What the child gets; every descriptor here is ours to close. */
struct plan {
    int cwd;
    struct bz_proc_io io;
    struct bz_path program;
};

static void plan_release(struct plan *plan)
{
    bz_fs_closep(&plan->cwd);
    bz_proc_io_release(&plan->io);
}

static const char *path_of(const char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return DEFAULT_PATH;
}

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

static int find_program(const char *name, const char *const *env, struct bz_path *out,
                        struct bz_err *err)
{
    struct bz_str dirs = bz_str_from(path_of(env)), dir;

    if (strchr(name, '/'))
        return bz_path_join(BZ_STR(""), bz_str_from(name), out, err);
    while (*name && bz_str_next_part(&dirs, ':', &dir))
        if (bz_path_is_absolute(dir) &&
            bz_path_join(dir, bz_str_from(name), out, err) == 0 && is_program(out->s))
            return 0;
    errno = ENOENT;
    return bz_fail_sys(err, "run '%s'", name);
}

static int make_plan(const struct bz_proc_spec *spec, const char *const *env,
                     struct plan *plan, struct bz_err *err)
{
    int rc = find_program(spec->argv[0], env, &plan->program, err);

    if (rc < 0)
        return rc;
    if (spec->cwd) {
        /* Opened here, so that its failure is not taken for the program's. */
        plan->cwd = bz_proc_io_lift(open(spec->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (plan->cwd < 0)
            return bz_fail_sys(err, "run %s in %s", spec->argv[0], spec->cwd);
    }
    rc = bz_proc_io_open(&plan->io, spec, err);
    return rc < 0 ? bz_err_wrap(err, "run %s", spec->argv[0]) : 0;
}

/* posix_spawn's set-up calls fail only for want of memory or for wrong arguments. */
static void must(int rc)
{
    BZ_ASSERT(rc == 0);
}

static void set_actions(posix_spawn_file_actions_t *acts, const struct plan *plan)
{
    must(posix_spawn_file_actions_init(acts));
    if (plan->cwd >= 0)
        must(posix_spawn_file_actions_addfchdir_np(acts, plan->cwd));
    for (int i = 0; i < (int)BZ_COUNTOF(plan->io.child); i++)
        must(posix_spawn_file_actions_adddup2(acts, plan->io.child[i], i));
    /* O_CLOEXEC covers what we opened; this, what a library or our parent left open. */
    must(posix_spawn_file_actions_addclosefrom_np(acts, FIRST_FREE));
}

static void set_attributes(posix_spawnattr_t *attr, enum bz_proc_group group)
{
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    if (group == BZ_PROC_OWN_GROUP)
        flags |= POSIX_SPAWN_SETPGROUP; /* to 0, the initial value: its own */
    else if (group == BZ_PROC_OWN_SESSION)
        flags |= POSIX_SPAWN_SETSID;
    must(posix_spawnattr_init(attr));
    must(posix_spawnattr_setsigmask(attr, &none));
    must(posix_spawnattr_setsigdefault(attr, &all));
    must(posix_spawnattr_setflags(attr, flags));
}

static int start(const struct bz_proc_spec *spec, const char *const *env,
                 const struct plan *plan, pid_t *pid, struct bz_err *err)
{
    posix_spawn_file_actions_t acts;
    posix_spawnattr_t attr;
    int sys;

    set_actions(&acts, plan);
    set_attributes(&attr, spec->group);
    /* The casts are what the interface wants; it changes neither array. */
    sys = posix_spawn(pid, plan->program.s, &acts, &attr,
                      (char *const *)(uintptr_t)spec->argv,
                      (char *const *)(uintptr_t)env);
    posix_spawn_file_actions_destroy(&acts);
    posix_spawnattr_destroy(&attr);
    if (sys == 0)
        return 0;
    errno = sys;
    if (sys == ENOENT &&
        bz_fs_exists(plan->cwd < 0 ? AT_FDCWD : plan->cwd, plan->program.s))
        return bz_fail_sys(err, "run %s: its interpreter", plan->program.s);
    return bz_fail_sys(err, "run %s", plan->program.s);
}

int bz_proc_spawn(const struct bz_proc_spec *spec, struct bz_proc *p,
                  struct bz_err *err)
{
    BZ_CLEANUP(plan_release)
    struct plan plan = {.cwd = -1, .io = BZ_PROC_IO_NONE};
    const char *const *env = spec->env;
    int rc;

    if (!env)
        env = (const char *const *)environ;
    rc = make_plan(spec, env, &plan, err);
    if (rc < 0)
        return rc;
    *p = (struct bz_proc){.pidfd = -1, .out = -1, .err = -1, .status = -1};
    rc = start(spec, env, &plan, &p->pid, err);
    if (rc < 0)
        return rc;
    p->leads_group = spec->group != BZ_PROC_OUR_GROUP;
    /* Not reaped yet, so the number can only mean our child. */
    p->pidfd = pidfd_open(p->pid, 0);
    if (p->pidfd < 0) {
        int status;

        rc = bz_fail_sys(err, "watch %s", spec->argv[0]);
        bz_proc_signal(p, SIGKILL);
        bz_proc_reap(p, &status, NULL);
        return rc;
    }
    p->out = bz_fs_detach(&plan.io.out);
    p->err = bz_fs_detach(&plan.io.err);
    return 0;
}

void bz_proc_signal(const struct bz_proc *p, int sig)
{
    /* A child may leave the group it led, and then there may be none. */
    if (!p->leads_group || kill(-p->pid, sig) < 0)
        kill(p->pid, sig);
}

void bz_proc_reap(struct bz_proc *p, int *status, struct rusage *usage)
{
    siginfo_t info;
    pid_t got;
    struct bz_proc_told told;
    int rc;

    /* Until the child is reaped nobody else can have its group's number. */
    do
        rc = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOWAIT);
    while (rc < 0 && errno == EINTR);
    if (p->leads_group)
        kill(-p->pid, SIGKILL);
    do
        got = wait4(p->pid, status, 0, usage);
    while (got < 0 && errno == EINTR);
    BZ_ASSERT(got == p->pid);
    /* Written by one call of a process that has ended: all or none. */
    if (p->status >= 0 && read(p->status, &told, sizeof(told)) == sizeof(told)) {
        *status = told.status;
        if (usage)
            usage->ru_maxrss = told.peak;
    }
    bz_fs_closep(&p->status);
    bz_fs_closep(&p->pidfd);
    bz_fs_closep(&p->out);
    bz_fs_closep(&p->err);
    *p = (struct bz_proc){.pidfd = -1, .out = -1, .err = -1, .status = -1};
}
