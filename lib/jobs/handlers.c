#include "jobs/handlers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "jobs/callargs.h"
#include "os/fs.h"

static int reply_count(struct bz_call *c, size_t n)
{
    char text[24];

    return bz_call_reply(c, text, (size_t)snprintf(text, sizeof(text), "%zu", n));
}

/* ---- memory ---- */

static int memory_read(struct bz_call *c, void *ctx)
{
    const struct bz_doc *args;
    struct bz_str name = {0};
    const struct bz_symbol *s = NULL;
    uint64_t offset = 0, size = UINT64_MAX;
    int status = bz_callargs_read(c, &args);

    (void)ctx;
    if (status == 0)
        status = bz_callargs_text(c, args, "read_from", &name);
    if (status == 0)
        status = bz_callargs_count(c, args, "offset", &offset);
    if (status == 0)
        status = bz_callargs_count(c, args, "size", &size);
    if (status == 0)
        status = bz_call_symbol(c, name, BZ_SYMBOLS_READ, &s);
    if (status != 0)
        return status;
    if (offset > s->size || (size != UINT64_MAX && size > s->size - offset))
        status = bz_call_fail(c, BZ_TASK_FAILED, "symbol %s has %zu bytes", s->name,
                              s->size);
    else
        status = bz_call_reply(c, (const char *)s->p + offset,
                               size == UINT64_MAX ? s->size - offset : size);
    return status;
}

static int memory_write(struct bz_call *c, void *ctx)
{
    const struct bz_doc *args;
    struct bz_str name = {0}, data = {0};
    const struct bz_symbol *s = NULL;
    uint64_t offset = 0;
    int status = bz_callargs_read(c, &args);

    (void)ctx;
    if (status == 0)
        status = bz_callargs_text(c, args, "write_to", &name);
    if (status == 0)
        status = bz_callargs_text(c, args, "data", &data);
    if (status == 0)
        status = bz_callargs_count(c, args, "offset", &offset);
    if (status == 0)
        status = bz_call_symbol(c, name, BZ_SYMBOLS_WRITE, &s);
    if (status != 0)
        return status;
    if (offset > s->size || data.n > s->size - offset) {
        status = bz_call_fail(c, BZ_TASK_FAILED, "symbol %s has %zu bytes", s->name,
                              s->size);
    } else {
        memcpy((char *)s->p + offset, data.p, data.n);
        status = reply_count(c, data.n);
    }
    return status;
}

/* ---- files ---- */

static int open_beneath(struct bz_str root, struct bz_str rest, int flags, int *fd)
{
    struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC | O_NONBLOCK,
                           .mode = flags & O_CREAT ? 0600 : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    char path[4096];
    int dir = open(root.p, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0 || rest.n >= sizeof(path))
        return -1;
    memcpy(path, rest.p, rest.n);
    path[rest.n] = '\0';
    *fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
    close(dir);
    return *fd < 0 ? -1 : 0;
}

static int open_file(struct bz_call *c, const struct bz_handlers *h, struct bz_str path,
                     int flags, int *fd)
{
    struct stat st;

    for (size_t i = 0; i < h->roots->len; i++) {
        struct bz_str root = h->roots->at[i], rest = path;

        /* All but "/" itself are without a '/' at the end. */
        if ((root.n > 1 && !bz_str_cut_prefix(&rest, root)) || rest.n < 2 ||
            rest.p[0] != '/')
            continue;
        rest = bz_str_drop(rest, 1);
        errno = 0;
        if (open_beneath(root, rest, flags, fd) < 0)
            return bz_call_fail(c, BZ_TASK_FAILED, "%.*s: %s", BZ_STR_ARG(path),
                                strerror(errno ? errno : ENAMETOOLONG));
        if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
            return 0;
        bz_fs_closep(fd);
        return bz_call_fail(c, BZ_TASK_FAILED, "%.*s is no file", BZ_STR_ARG(path));
    }
    return bz_call_fail(c, BZ_TASK_FAILED,
                        "%.*s is not below a root of the config file",
                        BZ_STR_ARG(path));
}

static int file_read(struct bz_call *c, void *ctx)
{
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    const struct bz_doc *args;
    struct bz_str path = {0};
    uint64_t offset = 0, size = BZ_HANDLERS_FILE;
    struct stat st;
    ssize_t n;
    int status = bz_callargs_read(c, &args);

    if (status == 0)
        status = bz_callargs_text(c, args, "path", &path);
    if (status == 0)
        status = bz_callargs_count(c, args, "offset", &offset);
    if (status == 0)
        status = bz_callargs_count(c, args, "size", &size);
    if (status == 0)
        status = open_file(c, ctx, path, O_RDONLY, &fd);
    if (status != 0)
        return status;
    if (fstat(fd, &st) < 0 || offset > (uint64_t)st.st_size)
        offset = (uint64_t)st.st_size;
    if (size > (uint64_t)st.st_size - offset)
        size = (uint64_t)st.st_size - offset;
    if (size > BZ_HANDLERS_FILE)
        return bz_call_fail(c, BZ_TASK_FAILED, "more than %zu bytes at a time",
                            BZ_HANDLERS_FILE);
    bytes = bz_task_try(c->task->alloc, size + 1);
    if (!bytes)
        return bz_call_fail(c, BZ_TASK_NO_MEMORY, "no memory for %zu bytes",
                            (size_t)size);
    n = pread(fd, bytes, size, (off_t)offset);
    if (n < 0)
        return bz_call_fail(c, BZ_TASK_FAILED, "%.*s: %s", BZ_STR_ARG(path),
                            strerror(errno));
    return bz_call_reply(c, bytes, (size_t)n);
}

static int file_write(struct bz_call *c, void *ctx)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    const struct bz_doc *args;
    struct bz_str path = {0}, data = {0};
    struct bz_err err;
    bool append = false;
    int status = bz_callargs_read(c, &args);

    if (status == 0)
        status = bz_callargs_text(c, args, "path", &path);
    if (status == 0)
        status = bz_callargs_text(c, args, "data", &data);
    if (status == 0)
        status = bz_callargs_flag(c, args, "append", &append);
    if (status == 0)
        status = open_file(c, ctx, path,
                           O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC), &fd);
    if (status != 0)
        return status;
    if (bz_fs_write_all(fd, bz_arena_dup(&c->arena, path).p, data.p, data.n, &err) < 0)
        return bz_call_fail_err(c, BZ_E_IO, &err);
    return reply_count(c, data.n);
}

/* There is always one, which nobody has to ask for. */
static int updater(struct bz_call *c, void *ctx)
{
    (void)ctx;
    return bz_call_reply(c, NULL, 0);
}

int bz_handlers_offer(struct bz_handlers *h, struct bz_dispatch *d, struct bz_err *err)
{
    const struct bz_handler rows[] = {
        {"memory_read",  memory_read,    h,       false, false},
        {"memory_write", memory_write,   h,       false, false},
        {"file_read",    file_read,      h,       true,  false},
        {"file_write",   file_write,     h,       true,  false},
        {"http_get",     bz_webjob_get,  &h->web, true,  false},
        {"http_post",    bz_webjob_post, &h->web, true,  false},
 /* As others call them. */
        {"read_memory",  memory_read,    h,       false, false},
        {"write_memory", memory_write,   h,       false, false},
        {"updater",      updater,        h,       false, false},
    };
    int rc = 0;

    for (size_t i = 0; i < BZ_COUNTOF(rows) && rc == 0; i++) {
        h->rows[i] = rows[i];
        rc = bz_dispatch_offer(d, &h->rows[i], err);
    }
    return rc;
}

void bz_handlers_release(struct bz_handlers *h)
{
    bz_webjob_release(&h->web);
}
