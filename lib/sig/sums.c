#include "sig/sums.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "os/fs.h"
#include "sig/seal.h"

enum { TRIES = 5 }; /* to read a file that changes */

static const struct bz_seal_kind kind = {"bz-sums1"};

struct bz_sums_record {
    struct bz_stamp stamp;
    struct bz_digest digest;
    uint32_t at, n; /* the path, in the texts */
};

/* The content: this, the records, the texts. */
struct head {
    uint64_t nrecords;
};

static int hash_fd(void *ctx, int fd, struct bz_digest *out, struct bz_err *err)
{
    struct bz_sums *s = ctx;
    uint64_t size;

    return bz_digest_fd(s->hasher, fd, out, &size, err);
}

/* ---- what was remembered ---- */

static struct bz_str text_of(const struct bz_sums *s, const struct bz_sums_record *r)
{
    if (r->at > s->texts.n || r->n > s->texts.n - r->at)
        return BZ_STR("");
    return bz_str_sub(s->texts, r->at, (size_t)r->at + r->n);
}

static void take_content(struct bz_sums *s, struct bz_str content)
{
    struct head head = {0};

    if (content.n < sizeof(head))
        return;
    memcpy(&head, content.p, sizeof(head));
    if (head.nrecords > (content.n - sizeof(head)) / sizeof(struct bz_sums_record))
        return;
    s->nrecords = head.nrecords;
    s->records =
        (const struct bz_sums_record *)(const void *)(content.p + sizeof(head));
    s->texts = bz_str_sub(content, sizeof(head) + s->nrecords * sizeof(*s->records),
                          content.n);
}

void bz_sums_open(struct bz_sums *s, const char *path, struct bz_digest_hasher *hasher)
{
    struct bz_str content;
    struct bz_err err;

    *s = (struct bz_sums){.hasher = hasher, .hash = hash_fd};
    s->ctx = s;
    if (!path)
        return;
    if (bz_seal_read(path, kind, hasher, &s->bytes, &content, &err) < 0)
        bz_log_debug("sums", "no digests of files are recalled: %s", err.msg);
    else
        take_content(s, content);
}

void bz_sums_close(struct bz_sums *s)
{
    bz_map_release(&s->index);
    bz_map_release(&s->noted);
    bz_vec_release(&s->seen);
    bz_arena_release(&s->arena);
    free(s->bytes);
    *s = (struct bz_sums){0};
}

static const struct bz_sums_record *find(const struct bz_sums *s, struct bz_str path)
{
    size_t low = 0, high = s->nrecords;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = bz_str_cmp(text_of(s, &s->records[middle]), path);

        if (order == 0)
            return &s->records[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- files ---- */

static bool stamp_fd(int fd, struct bz_stamp *out, bool *executable)
{
    int64_t now = bz_stamp_now();
    struct stat st;

    if (fstat(fd, &st) < 0)
        return false;
    bz_stamp_stat(&st, now, out);
    *executable = st.st_mode & S_IXUSR;
    return true;
}

static int read_file(struct bz_sums *s, const char *path, struct bz_sums_seen *out,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    int rc = bz_fs_open_file(AT_FDCWD, path, &fd, err);

    s->nread++;
    for (int i = 0; i < TRIES && rc == 0; i++) {
        struct bz_stamp after;

        if (lseek(fd, 0, SEEK_SET) < 0 ||
            !stamp_fd(fd, &out->stamp, &out->file.executable))
            return bz_fail_sys(err, "read %s", path);
        rc = s->hash(s->ctx, fd, &out->file.digest, err);
        if (rc < 0)
            return bz_err_wrap(err, "read %s", path);
        if (!stamp_fd(fd, &after, &out->file.executable))
            return bz_fail_sys(err, "read %s", path);
        if (bz_stamp_same(&out->stamp, &after))
            return 0;
    }
    return rc < 0 ? rc
                  : bz_fail(err, BZ_E_BUSY, "%s changes while it is read; try again",
                            path);
}

static int look(struct bz_sums *s, const char *path, struct bz_sums_seen *out,
                struct bz_err *err)
{
    const struct bz_sums_record *old;
    int64_t now = bz_stamp_now();
    struct stat st;
    int rc;

    if (stat(path, &st) < 0)
        return 0; /* not there, or out of reach, which is the same for a task */
    bz_stamp_stat(&st, now, &out->stamp);
    out->file.present = true;
    old = out->stamp.kind == BZ_STAMP_FILE ? find(s, out->path) : NULL;
    if (old && bz_stamp_same(&old->stamp, &out->stamp)) {
        out->file.digest = old->digest;
        out->file.executable = st.st_mode & S_IXUSR;
        out->stamp = old->stamp;
        return 0;
    }
    rc = read_file(s, path, out, err);
    if (rc == BZ_E_NOENT) { /* it went just now */
        out->file = (struct bz_sums_file){0};
        out->stamp = (struct bz_stamp){0};
        rc = 0;
    }
    return rc;
}

int bz_sums_get(struct bz_sums *s, const char *path, struct bz_sums_file *out,
                struct bz_err *err)
{
    const struct bz_map_entry *known = bz_map_get(&s->index, bz_str_from(path));
    struct bz_sums_seen seen = {0};
    int rc;

    if (known) {
        *out = s->seen.at[known->u - 1].file;
        return 0;
    }
    seen.path = bz_arena_dup(&s->arena, bz_str_from(path));
    rc = look(s, path, &seen, err);
    if (rc < 0)
        return rc;
    *out = seen.file;
    BZ_VEC_PUSH(&s->seen, seen);
    bz_map_put(&s->index, seen.path)->u = s->seen.len;
    return 0;
}

static bool has_content(const char *path, const struct bz_digest *digest)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    struct bz_sums again = {.hash = hash_fd, .ctx = &again};
    struct bz_sums_seen now = {0};
    struct bz_err ignored;

    if (bz_digest_hasher_new(&hasher, &ignored) < 0)
        return false;
    again.hasher = hasher;
    return read_file(&again, path, &now, &ignored) == 0 &&
           bz_digest_eq(&now.file.digest, digest);
}

int bz_sums_recheck(const struct bz_sums *s, const char *path, struct bz_err *err)
{
    const struct bz_map_entry *known = bz_map_get(&s->index, bz_str_from(path));
    const struct bz_sums_seen *seen = known ? &s->seen.at[known->u - 1] : NULL;
    struct bz_stamp now;

    bz_stamp_path(AT_FDCWD, path, &now);
    if (seen && bz_stamp_same(&seen->stamp, &now) &&
        (!seen->file.present || seen->stamp.settled ||
         has_content(path, &seen->file.digest)))
        return 0;
    return bz_fail(err, BZ_E_BUSY, "%s changed", path);
}

void bz_sums_note(struct bz_sums *s, const char *path, struct bz_str text)
{
    struct bz_str *own = BZ_ARENA_NEW(&s->arena, struct bz_str);

    *own = bz_arena_dup(&s->arena, text);
    bz_map_put(&s->noted, bz_arena_dup(&s->arena, bz_str_from(path)))->p = own;
}

int bz_sums_recheck_note(const struct bz_sums *s, const char *path, struct bz_str text,
                         struct bz_err *err)
{
    const struct bz_map_entry *known = bz_map_get(&s->noted, bz_str_from(path));

    if (known && bz_str_eq(*(const struct bz_str *)known->p, text))
        return 0;
    return bz_fail(err, BZ_E_BUSY, "%s changed", path);
}

/* ---- saving ---- */

static int by_path(const void *a, const void *b)
{
    const struct bz_sums_seen *x = a, *y = b;

    return bz_str_cmp(x->path, y->path);
}

/* What is to be remembered, in any order. Nothing of an earlier run that this one has
 * looked at itself. */
static void collect(const struct bz_sums *s, struct bz_sums_seens *all)
{
    for (size_t i = 0; i < s->seen.len && all->len < BZ_SUMS_MAX; i++)
        if (s->seen.at[i].file.present && s->seen.at[i].stamp.settled &&
            s->seen.at[i].stamp.kind == BZ_STAMP_FILE)
            BZ_VEC_PUSH(all, s->seen.at[i]);
    if (all->len + s->nrecords > BZ_SUMS_MAX)
        return;
    for (size_t i = 0; i < s->nrecords; i++) {
        struct bz_sums_seen old = {.path = text_of(s, &s->records[i]),
                                   .stamp = s->records[i].stamp,
                                   .file = {.digest = s->records[i].digest}};

        if (!bz_map_get(&s->index, old.path))
            BZ_VEC_PUSH(all, old);
    }
}

int bz_sums_save(struct bz_sums *s, const char *path, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_sums_seens all = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct head head = {0};
    uint32_t at = 0;

    if (s->nread == 0)
        return 0;
    collect(s, &all);
    BZ_VEC_SORT(&all, by_path);
    head.nrecords = all.len;
    bz_buf_add(&out, &head, sizeof(head));
    for (size_t i = 0; i < all.len; i++) {
        struct bz_sums_record r = {.stamp = all.at[i].stamp,
                                   .digest = all.at[i].file.digest,
                                   .at = at,
                                   .n = (uint32_t)all.at[i].path.n};

        bz_buf_add(&out, &r, sizeof(r));
        at += r.n;
    }
    for (size_t i = 0; i < all.len; i++)
        bz_buf_add_str(&out, all.at[i].path);
    return bz_seal_write(path, kind, s->hasher, bz_buf_str(&out), err);
}
