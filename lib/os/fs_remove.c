#include "os/fs_remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Reads of one directory while others keep filling it, and of the root while deep
 * directories are moved up to it. */
#define PASSES 100000

struct level {
    DIR *dir;
    char *name;      /* in the level above; the root's is the path as given */
    unsigned passes; /* times it was read to its end */
    bool progress;   /* something left it during this pass */
    bool failed;     /* something in it cannot be removed */
};

struct remover {
    int above; /* the directory the root lies in, the caller's */
    struct level levels[BZ_FS_REMOVE_DEPTH];
    size_t depth;
    unsigned long moved; /* names given to directories moved up */
    int rc;              /* of the first failure, which `err` describes */
    struct bz_err *err;
};

static struct level *deepest(struct remover *r)
{
    return &r->levels[r->depth - 1];
}

static int parent_fd(const struct remover *r)
{
    return r->depth ? dirfd(r->levels[r->depth - 1].dir) : r->above;
}

/* Notes the failure errno describes, of `name` in the deepest open directory. */
static void note_failure(struct remover *r, const char *name)
{
    char path[160] = "";
    size_t n = 0;
    int sys = errno;

    if (r->depth)
        deepest(r)->failed = true;
    if (r->rc < 0)
        return;
    for (size_t i = 0; i < r->depth && n < sizeof(path); i++)
        n += (size_t)snprintf(path + n, sizeof(path) - n, "%s/", r->levels[i].name);
    errno = sys;
    if (sys == EXDEV)
        r->rc = bz_fail_sys(r->err, "remove %s%s: it is a mount point", path, name);
    else
        r->rc = bz_fail_sys(r->err, "remove %s%s", path, name);
}

static int open_below(int parent, const char *name)
{
    const struct open_how how = {
        .flags = OPEN_DIR,
        .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
    };
    int fd = (int)syscall(SYS_openat2, parent, name, &how, sizeof(how));

    /* EPERM is what older seccomp filters say to calls they do not know. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = openat(parent, name, OPEN_DIR);
    return fd;
}

static int open_dir(const struct remover *r, const char *name)
{
    int parent = parent_fd(r);

    /* The root's path is the caller's word: it may lead through links and mounts. */
    return r->depth ? open_below(parent, name) : openat(parent, name, OPEN_DIR);
}

/* Lets us list, change and search a directory that is ours; for one that is not,
 * the calls that follow tell what is allowed. */
static void make_accessible(int fd)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU)
        (void)fchmod(fd, S_IRWXU);
}

/* Opens a directory as the next level. -1 with errno set when that fails. */
static int descend(struct remover *r, const char *name)
{
    int fd = open_dir(r, name);
    DIR *dir;

    if (fd < 0 && errno == EACCES) {
        if (fchmodat(parent_fd(r), name, S_IRWXU, AT_SYMLINK_NOFOLLOW) < 0)
            errno = EACCES;
        else
            fd = open_dir(r, name);
    }
    if (fd < 0)
        return -1;
    make_accessible(fd);
    dir = fdopendir(fd);
    if (!dir) {
        bz_fs_closep(&fd);
        return -1;
    }
    r->levels[r->depth++] = (struct level){
        .dir = dir,
        .name = bz_mem_dup(name, strlen(name)),
    };
    return 0;
}

/* Moves a directory that lies too deep up to the root, for a later pass there. */
static int move_up(struct remover *r, const char *name)
{
    int from = parent_fd(r), root = dirfd(r->levels[0].dir);
    char fresh[40];

    if (unlinkat(from, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 0;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return -1; /* a mount point, say: its mode is not ours to change */
    /* Moving a directory rewrites its "..", for which it has to be writable. */
    if (fchmodat(from, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    do {
        snprintf(fresh, sizeof(fresh), BZ_FS_TEMP_PREFIX "%lu", r->moved++);
        if (renameat2(from, name, root, fresh, RENAME_NOREPLACE) == 0) {
            r->levels[0].progress = true;
            return 0;
        }
    } while (errno == EEXIST);
    return -1;
}

static bool changed_kind(bool was_dir, int sys)
{
    return was_dir ? sys == ENOTDIR || sys == ELOOP || sys == EOPNOTSUPP
                   : sys == EISDIR;
}

/* Removes an entry of the deepest level, or makes it the next level. `is_dir` is what
 * the directory said of it; some file systems do not tell. */
static void remove_entry(struct remover *r, const char *name, bool is_dir)
{
    struct level *here = deepest(r);

    for (int tries = 0; tries < 2; tries++, is_dir = !is_dir) {
        int rc;

        if (!is_dir)
            rc = unlinkat(parent_fd(r), name, 0);
        else if (r->depth == BZ_FS_REMOVE_DEPTH)
            rc = move_up(r, name);
        else
            rc = descend(r, name);
        if (rc == 0 || errno == ENOENT)
            break;
        if (!changed_kind(is_dir, errno)) {
            note_failure(r, name);
            return;
        }
    }
    /* Also when somebody keeps exchanging a file for a directory and back: it is left
     * to the next pass, and passes are bounded. */
    here->progress = true;
}

/* The deepest level is read to its end: removes it, or has it read again. */
static void ascend(struct remover *r)
{
    struct level done = *deepest(r);

    r->depth--;
    if (!done.failed && unlinkat(parent_fd(r), done.name, AT_REMOVEDIR) < 0 &&
        errno != ENOENT) {
        bool refilled = errno == ENOTEMPTY || errno == EEXIST;

        if (refilled && done.progress && done.passes < PASSES) {
            r->depth++;
            deepest(r)->progress = false;
            deepest(r)->passes++;
            rewinddir(done.dir);
            return;
        }
        /* Exchanged for a file meanwhile: the level above sees it in its next pass. */
        if (errno != ENOTDIR || !r->depth)
            note_failure(r, done.name);
    }
    if (done.failed && r->depth)
        deepest(r)->failed = true;
    closedir(done.dir);
    free(done.name);
}

static void remove_tree(struct remover *r)
{
    while (r->depth) {
        const struct dirent *e;

        errno = 0;
        e = readdir(deepest(r)->dir);
        if (!e) {
            if (errno)
                note_failure(r, "");
            ascend(r);
        } else if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            remove_entry(r, e->d_name, e->d_type == DT_DIR);
        }
    }
}

int bz_fs_remove(int dir, const char *path, struct bz_err *err)
{
    struct remover r = {.above = dir, .err = err};
    size_t n = strlen(path);
    BZ_CLEANUP(bz_mem_freep) char *root = bz_mem_dup(path, n);
    const char *base;

    /* With a slash at its end, even O_NOFOLLOW would follow a link. */
    while (n > 1 && root[n - 1] == '/')
        root[--n] = '\0';
    base = strrchr(root, '/');
    base = base ? base + 1 : root;
    if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return bz_fail(err, BZ_E_INVAL, "remove '%s': not a name", path);
    if (unlinkat(dir, root, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return bz_fail_sys(err, "remove %s", root);
    if (descend(&r, root) < 0)
        return errno == ENOENT ? 0 : bz_fail_sys(err, "remove %s", root);
    remove_tree(&r);
    return r.rc;
}
