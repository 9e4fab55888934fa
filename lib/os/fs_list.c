#include "os/fs_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void closedirp(DIR **d)
{
    if (*d)
        closedir(*d);
}

static int read_names(DIR *d, const char *name, struct bz_fs_list *list,
                      struct bz_err *err)
{
    size_t cap = 0;
    struct dirent *e;

    while (errno = 0, (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (list->n == BZ_FS_LIST_MAX)
            return bz_fail(err, BZ_E_LIMIT, "list %s: more than %zu names", name,
                           BZ_FS_LIST_MAX);
        if (list->n == cap) {
            cap = cap ? cap * 2 : 32;
            list->names = bz_mem_resize(list->names, cap, sizeof(*list->names));
        }
        list->names[list->n++] = bz_mem_dup(e->d_name, strlen(e->d_name));
    }
    return errno ? bz_fail_sys(err, "list %s", name) : 0;
}

int bz_fs_list_fd(int fd, const char *name, struct bz_fs_list *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list list = {0};
    BZ_CLEANUP(closedirp) DIR *d = NULL;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), rc;

    if (own >= 0)
        d = fdopendir(own);
    if (!d) {
        rc = bz_fail_sys(err, "list %s", name);
        bz_fs_closep(&own);
        return rc;
    }
    rewinddir(d);
    rc = read_names(d, name, &list, err);
    if (rc < 0)
        return rc;
    if (list.n)
        qsort(list.names, list.n, sizeof(*list.names), by_bytes);
    *out = list;
    list = (struct bz_fs_list){0};
    return 0;
}

int bz_fs_list_dir(int dir, const char *path, struct bz_fs_list *out,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return bz_fail_sys(err, "open directory %s", path);
    return bz_fs_list_fd(fd, path, out, err);
}

void bz_fs_list_release(struct bz_fs_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct bz_fs_list){0};
}
