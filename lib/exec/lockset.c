#include "exec/lockset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "os/clock.h"
#include "os/fs.h"
#include "os/path.h"

#define PAUSE (20 * BZ_CLOCK_MS)

static int by_inode(const void *a, const void *b)
{
    const struct bz_lockset_file *x = a, *y = b;

    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static int open_file(const char *path, struct bz_lockset_file *out, struct bz_err *err)
{
    struct bz_path dir;
    struct stat st = {0};
    int rc = bz_path_join(BZ_STR(""), bz_path_dirname(bz_str_from(path)), &dir, err);

    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, dir.s, 0755, err);
    if (rc < 0)
        return rc;
    out->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (out->fd < 0 || fstat(out->fd, &st) < 0)
        rc = bz_fail_sys(err, "open the lock file %s", path);
    out->dev = st.st_dev;
    out->ino = st.st_ino;
    return rc;
}

/* Sorts them, and closes what is there twice. */
static void tidy(struct bz_lockset_files *files)
{
    size_t n = 0;

    BZ_VEC_SORT(files, by_inode);
    for (size_t i = 0; i < files->len; i++)
        if (n > 0 && by_inode(&files->at[n - 1], &files->at[i]) == 0)
            bz_fs_closep(&files->at[i].fd);
        else
            files->at[n++] = files->at[i];
    files->len = n;
}

int bz_lockset_open(struct bz_lockset *s, const char *const *paths, size_t n,
                    struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        struct bz_lockset_file f = {.fd = -1};

        rc = open_file(paths[i], &f, err);
        BZ_VEC_PUSH(&s->files, f);
    }
    if (rc == 0)
        tidy(&s->files);
    return rc;
}

/* There is no descriptor that tells of a lock that is given up. */
static void wait_a_little(void)
{
    const struct timespec pause = {0, PAUSE};

    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static int take(const struct bz_lockset_file *f, int log, struct bz_cancel *cancel,
                struct bz_err *err)
{
    bool said = false;

    while (flock(f->fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return bz_fail_sys(err, "lock a file of [lockfiles]");
        if (bz_cancel_check(cancel) < 0)
            return bz_fail(err, BZ_E_CANCELED, "interrupted");
        if (!said)
            dprintf(log, "waiting for another task to give up a lock file\n");
        said = true;
        wait_a_little();
    }
    return 0;
}

bool bz_lockset_try(struct bz_lockset *s)
{
    for (size_t i = 0; i < s->files.len; i++)
        if (flock(s->files.at[i].fd, LOCK_EX | LOCK_NB) < 0)
            return false;
    return true;
}

int bz_lockset_take(struct bz_lockset *s, int log, struct bz_cancel *cancel,
                    struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < s->files.len && rc == 0; i++)
        rc = take(&s->files.at[i], log, cancel, err);
    return rc;
}

int bz_lockset_give(struct bz_lockset *s, struct bz_spec *spec, struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < s->files.len && rc == 0; i++) {
        rc = bz_spec_lock(spec, s->files.at[i].fd, err);
        s->files.at[i].fd = -1; /* it is the spec's, in any case */
    }
    return rc;
}

void bz_lockset_release(struct bz_lockset *s)
{
    for (size_t i = 0; i < s->files.len; i++)
        bz_fs_closep(&s->files.at[i].fd);
    bz_vec_release(&s->files);
    *s = (struct bz_lockset){0};
}
