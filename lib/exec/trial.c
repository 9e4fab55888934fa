#include "exec/trial.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "codec/digest.h"
#include "exec/outline.h"
#include "os/fs.h"
#include "os/fs_remove.h"
#include "os/path.h"
#include "sandbox/devices.h"
#include "sandbox/sandbox.h"

#define FORMAT "trial 1\n"
#define READ_MAX ((size_t)1 << 20)

/* The directories of one. */
struct room {
    struct bz_arena arena;
    char *top;
    const char *anchor, *upper, *work, *layers, *tmp;
};

static const char *add_dir(struct room *r, const char *name, int *rc,
                           struct bz_err *err)
{
    const char *path = bz_arena_printf(&r->arena, "%s/%s", r->top, name).p;

    if (*rc == 0)
        *rc = bz_fs_mkdirs(AT_FDCWD, path, 0755, err);
    return path;
}

/* In the store, or in what exists of the way there. */
static int room_open(struct room *r, const char *store, struct bz_err *err)
{
    struct bz_str dir = bz_str_from(store), top;
    int rc = 0;

    while (dir.n > 1 && !bz_fs_exists(AT_FDCWD, bz_arena_dup(&r->arena, dir).p))
        dir = bz_path_dirname(dir);
    top = bz_arena_printf(&r->arena, "%.*s/.bitzel-trial-XXXXXX", BZ_STR_ARG(dir));
    r->top = bz_mem_dup(top.p, top.n);
    if (!mkdtemp(r->top)) {
        rc = bz_fail_sys(err, "make a directory in %.*s", BZ_STR_ARG(dir));
        free(r->top);
        r->top = NULL;
        return rc;
    }
    r->anchor = add_dir(r, "root", &rc, err);
    r->upper = add_dir(r, "upper", &rc, err);
    r->work = add_dir(r, "work", &rc, err);
    r->tmp = add_dir(r, "tmp", &rc, err);
    r->layers = add_dir(r, "layers", &rc, err);
    add_dir(r, "layers/0", &rc, err);
    return rc;
}

static void room_close(struct room *r)
{
    struct bz_err ignored;

    if (r->top && bz_fs_remove(AT_FDCWD, r->top, &ignored) < 0)
        bz_log_warn("exec", "%s", ignored.msg);
    free(r->top);
    bz_arena_release(&r->arena);
}

/* That the program is not there inside is all right: it got that far. */
static int run_in(struct room *r, struct bz_err *err)
{
    BZ_CLEANUP(bz_spec_release) struct bz_spec spec;
    BZ_CLEANUP(bz_sandbox_closep) struct bz_sandbox *sb = NULL;
    const struct bz_spec_layers layers = {r->layers, 1, r->upper, r->work};
    const struct bz_proc_spec io = {.out.kind = BZ_PROC_NULL, .err.kind = BZ_PROC_NULL};
    struct bz_sandbox_child child = {0};
    struct bz_ground ground;
    int status, rc = bz_sandbox_open(r->anchor, &sb, err);

    bz_spec_init(&spec);
    bz_ground_usual(&ground);
    bz_outline_add(&ground, &(struct bz_job){0}, &spec);
    if (rc == 0)
        rc = bz_spec_add(&spec, BZ_SPEC_WORK, "/tmp", bz_str_from(r->tmp), err);
    if (rc == 0)
        rc = bz_spec_overlay(&spec, BZ_JOB_ROOT, &layers, err);
    bz_spec_arg(&spec, "/bin/true");
    if (rc == 0)
        rc = bz_sandbox_start(sb, &spec, &io, &child, err);
    if (rc < 0)
        return rc;
    bz_proc_reap(&child.proc, &status, NULL);
    bz_sandbox_leave(sb, &child);
    return 0;
}

int bz_trial_run(const char *store, struct bz_err *err)
{
    struct room r = {0};
    struct bz_err why;
    int rc = bz_devices_check(err);

    if (rc < 0)
        return rc;
    rc = room_open(&r, store, err);
    if (rc == 0) {
        rc = run_in(&r, &why);
        if (rc == BZ_E_NOSUP)
            *err = why;
        else if (rc < 0)
            rc = bz_fail(err, BZ_E_NOSUP,
                         "sandboxes do not work here: %s; 'bitzel doctor' says what to "
                         "do",
                         why.msg);
    }
    room_close(&r);
    return rc;
}

/* ---- what is remembered ---- */

static bool add_file(struct bz_digest_hasher *h, const char *path)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_err ignored;
    size_t n = 0;

    if (bz_fs_read(AT_FDCWD, path, READ_MAX, &text, &n, &ignored) < 0)
        return false;
    bz_digest_add_field(h, 'f', text, n);
    return true;
}

/* What decides whether it works, besides the kernel: this boot, these mounts, what we
 * are allowed, and the program itself. */
static bool find_key(char hex[BZ_DIGEST_HEX_LEN + 1])
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    const uid_t user = geteuid();
    struct bz_digest key;
    struct bz_err ignored;
    bool good;

    if (bz_digest_hasher_new(&h, &ignored) < 0)
        return false;
    bz_digest_begin(h);
    bz_digest_add_field(h, 'v', FORMAT, sizeof(FORMAT) - 1);
    bz_digest_add_field(h, 'u', &user, sizeof(user));
    good = add_file(h, "/proc/sys/kernel/random/boot_id") &&
           add_file(h, "/proc/self/mountinfo");
    (void)add_file(h, "/proc/self/attr/current"); /* not everywhere */
    bz_digest_end(h, &key);
    bz_digest_hex(&key, hex);
    return good;
}

static bool is_known(const char *path, const char *key)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    BZ_CLEANUP(bz_fs_closep)
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct bz_err ignored;
    size_t n = 0;

    return fd >= 0 && bz_fs_read_fd(fd, path, READ_MAX, &text, &n, &ignored) == 0 &&
           bz_str_eq(bz_str_of(text, n), bz_str_from(key));
}

int bz_trial_recall(const char *store, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    const char *path = bz_arena_printf(&a, "%s/sandbox", store).p;
    char key[BZ_DIGEST_HEX_LEN + 1];
    bool keyed = find_key(key);
    struct bz_err ignored;
    int rc;

    if (keyed && is_known(path, key))
        return 0;
    rc = bz_trial_run(store, err);
    if (rc == 0 && keyed && bz_fs_exists(AT_FDCWD, store) &&
        bz_fs_write(AT_FDCWD, path, key, strlen(key), 0644, BZ_FS_NOSYNC, &ignored) < 0)
        return 0; /* it is tried again next time */
    return rc;
}
