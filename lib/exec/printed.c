#include "exec/printed.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "os/fs.h"

/* The end of the log, from the beginning of a line on, with a word about the rest. */
static int read_end(int fd, const char *log, struct bz_buf *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    struct bz_str rest, line;
    struct stat st;
    size_t n;
    int rc;

    if (fstat(fd, &st) < 0 ||
        lseek(fd, st.st_size > (off_t)BZ_PRINTED_MAX ? -(off_t)BZ_PRINTED_MAX : 0,
              st.st_size > (off_t)BZ_PRINTED_MAX ? SEEK_END : SEEK_SET) < 0)
        return bz_fail_sys(err, "read %s", log);
    /* Whatever is written to it meanwhile, there is an end to it. */
    rc = bz_fs_read_fd(fd, log, 2 * BZ_PRINTED_MAX, &bytes, &n, err);
    if (rc < 0)
        return rc;
    rest = bz_str_of(bytes, n);
    if (st.st_size > (off_t)BZ_PRINTED_MAX) {
        bz_str_cut(rest, '\n', &line, &rest);
        bz_buf_addf(out, "[%llu bytes before this are not kept]\n",
                    (unsigned long long)st.st_size - rest.n);
    }
    bz_buf_add_str(out, rest);
    return 0;
}

void bz_printed_add(struct bz_cache *cache, struct bz_digest_hasher *h, const char *log,
                    struct bz_arena *a, struct bz_reapi_result *r)
{
    BZ_CLEANUP(bz_fs_closep) int fd = open(log, O_RDONLY | O_CLOEXEC);
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_err err;
    int rc =
        fd < 0 ? bz_fail_sys(&err, "open %s", log) : read_end(fd, log, &text, &err);

    if (rc == 0 && text.len > BZ_PRINTED_SHORT)
        rc = bz_cas_put(bz_cache_cas(cache), h, text.data, text.len, &r->out, &err);
    else if (rc == 0)
        r->out_raw = bz_arena_dup(a, bz_str_of(text.data, text.len));
    if (rc < 0)
        bz_log_debug("exec", "a log is not stored: %s", err.msg);
}
