#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/fs.h"

/* Of versions that the system's header may not know. */
#define TRUNCATE (UINT64_C(1) << 14)
#define IOCTL_DEV (UINT64_C(1) << 15)
#define NET_TCP UINT64_C(3)
#define SCOPES UINT64_C(3) /* abstract sockets, signals */
#define ABI_NET 4
#define ABI_IOCTL 5
#define ABI_SCOPE 6

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define RUN (READ | LANDLOCK_ACCESS_FS_EXECUTE)
#define OF_FILE                                                                        \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |                      \
     LANDLOCK_ACCESS_FS_READ_FILE | TRUNCATE | IOCTL_DEV)
#define OPEN                                                                           \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE |         \
     IOCTL_DEV)

/* struct landlock_ruleset_attr as of version 6; older kernels are told a shorter one.
 */
struct ruleset {
    uint64_t fs, net, scoped;
};

struct maker {
    int rules;
    uint64_t handled;
    struct bz_err *err;
};

int bz_landlock_find(int *abi, struct bz_err *err)
{
    long n =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    if (n < 0)
        return bz_fail(err, BZ_E_NOSUP, "Landlock: %s", strerror(errno));
    *abi = (int)n;
    return n < BZ_LANDLOCK_REFER
               ? bz_fail(err, BZ_E_NOSUP, "Landlock: Linux 5.19 is needed")
               : 0;
}

static int allow_fd(struct maker *m, int fd, uint64_t what, const char *name)
{
    struct landlock_path_beneath_attr rule = {.parent_fd = fd};
    struct stat st;

    if (fstat(fd, &st) < 0)
        return bz_fail_sys(m->err, "look at %s", name);
    rule.allowed_access = what & m->handled & (S_ISDIR(st.st_mode) ? ~0ULL : OF_FILE);
    if (syscall(SYS_landlock_add_rule, m->rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
        return bz_fail_sys(m->err, "Landlock: allow %s", name);
    return 0;
}

/* What is not there needs no rule. */
static int allow(struct maker *m, const char *path, uint64_t what)
{
    BZ_CLEANUP(bz_fs_closep) int fd = open(path, O_PATH | O_CLOEXEC);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
        return 0;
    return fd < 0 ? bz_fail_sys(m->err, "open %s", path) : allow_fd(m, fd, what, path);
}

static int allow_entry(struct maker *m, const struct bz_spec_entry *e)
{
    switch (e->kind) {
    case BZ_SPEC_HOST:
        return allow(m, e->target, RUN);
    case BZ_SPEC_FILE: /* the host's own, which tells the same, for whoever asks */
        return allow(m, e->target, LANDLOCK_ACCESS_FS_READ_FILE);
    case BZ_SPEC_PROC: /* its own processes cannot be told from others */
        return allow(m, e->target, READ);
    case BZ_SPEC_SHOW:
        return allow(m, e->source.p, RUN);
    case BZ_SPEC_WORK:
        return allow(m, e->source.p, ~UINT64_C(0));
    case BZ_SPEC_DEVICE:
        return allow(m, e->source.p, OPEN);
    case BZ_SPEC_DIR:
    case BZ_SPEC_TEXT:
    case BZ_SPEC_LINK:
    case BZ_SPEC_TMPFS:
    case BZ_SPEC_PTS:
    case BZ_SPEC_OVERLAY:
        break;
    }
    return 0;
}

/* "> /dev/stderr" opens a log anew, by its path. */
static int allow_stream(struct maker *m, int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    return allow_fd(m, fd, OPEN, "a standard stream");
}

int bz_landlock_make(const struct bz_spec *spec, int abi, const int streams[3], int *fd,
                     struct bz_err *err)
{
    struct ruleset set = {.fs = TRUNCATE - 1};
    size_t size = sizeof(set.fs);
    BZ_CLEANUP(bz_fs_closep) int rules = -1;
    struct maker m = {.err = err};
    int rc = 0;

    if (abi >= BZ_LANDLOCK_TRUNCATE)
        set.fs |= TRUNCATE;
    if (abi >= ABI_NET) {
        size = sizeof(set.fs) + sizeof(set.net);
        set.net = spec->network ? 0 : NET_TCP;
    }
    if (abi >= ABI_IOCTL)
        set.fs |= IOCTL_DEV;
    if (abi >= ABI_SCOPE) {
        size = sizeof(set);
        set.scoped = SCOPES;
    }
    rules = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
    if (rules < 0)
        return bz_fail_sys(err, "Landlock: make rules");
    m.rules = rules;
    m.handled = set.fs;
    for (size_t i = 0; i < spec->entries.len && rc == 0; i++)
        rc = allow_entry(&m, &spec->entries.at[i]);
    for (size_t i = 0; i < 3 && rc == 0; i++)
        rc = allow_stream(&m, streams[i]);
    /* Who may not read which name server to ask does not ask, and so is not told that
     * there is no network. */
    if (rc == 0)
        rc = allow(&m, "/etc/resolv.conf", LANDLOCK_ACCESS_FS_READ_FILE);
    if (rc == 0)
        *fd = bz_fs_detach(&rules);
    return rc;
}
