#include "sig/sums.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "os/fs.h"

enum { TRIES = 5 }; /* to read a file that changes */

/* An entry: this and the path, which tells others of the same key apart. */
struct record {
    struct bz_stamp stamp;
    struct bz_digest digest;
};

static int hash_fd(void *ctx, int fd, struct bz_digest *out, struct bz_err *err)
{
    struct bz_sums *s = ctx;
    uint64_t size;

    return bz_digest_fd(s->hasher, fd, out, &size, err);
}

void bz_sums_open(struct bz_sums *s, struct bz_entries *catalog,
                  struct bz_digest_hasher *hasher)
{
    *s = (struct bz_sums){.catalog = catalog, .hasher = hasher, .hash = hash_fd};
    s->ctx = s;
}

void bz_sums_close(struct bz_sums *s)
{
    bz_map_release(&s->index);
    bz_map_release(&s->noted);
    bz_vec_release(&s->seen);
    bz_arena_release(&s->arena);
    *s = (struct bz_sums){0};
}

static bool find(const struct bz_sums *s, struct bz_str path, struct record *out)
{
    struct bz_entries_key key;
    struct bz_str bytes;

    bz_entries_key_of(path, &key);
    if (!s->catalog || !bz_entries_find(s->catalog, BZ_SUMS_KIND, &key, &bytes) ||
        bytes.n < sizeof(*out))
        return false;
    memcpy(out, bytes.p, sizeof(*out));
    return bz_str_eq(bz_str_drop(bytes, sizeof(*out)), path);
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
    int64_t now = bz_stamp_now();
    struct record old;
    struct stat st;
    int rc;

    if (stat(path, &st) < 0)
        return 0; /* not there, or out of reach, which is the same for a task */
    bz_stamp_stat(&st, now, &out->stamp);
    out->file.present = true;
    if (out->stamp.kind == BZ_STAMP_FILE && find(s, out->path, &old) &&
        bz_stamp_same(&old.stamp, &out->stamp)) {
        out->file.digest = old.digest;
        out->file.executable = st.st_mode & S_IXUSR;
        out->stamp = old.stamp;
        return 0;
    }
    out->read = true;
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

/* ---- keeping ---- */

void bz_sums_keep(struct bz_sums *s)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};

    for (size_t i = 0; i < s->seen.len && s->catalog; i++) {
        const struct bz_sums_seen *seen = &s->seen.at[i];
        struct record r = {seen->stamp, seen->file.digest};
        struct bz_entries_key key;

        if (!seen->read || !seen->file.present || !seen->stamp.settled ||
            seen->stamp.kind != BZ_STAMP_FILE)
            continue;
        bz_buf_truncate(&bytes, 0);
        bz_buf_add(&bytes, &r, sizeof(r));
        bz_buf_add_str(&bytes, seen->path);
        bz_entries_key_of(seen->path, &key);
        bz_entries_put(s->catalog, BZ_SUMS_KIND, &key, bz_buf_str(&bytes));
    }
    s->catalog = NULL;
    s->hasher = NULL;
}
