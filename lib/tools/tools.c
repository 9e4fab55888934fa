#include "tools/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"
#include "os/path.h"
#include "os/stamp.h"

#define FORMAT "tools 1"
#define MOUNTS_MAX ((size_t)16 << 20)
#define DIRS_MAX 512 /* whose stamps are looked at by bz_tools_hold() */
enum { TRIES = 5 };  /* to read a file that changes */

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return bz_map_hash_u64(sum * 31 + value);
}

static uint64_t sum_stamp(const struct bz_stamp *s, uint64_t mode)
{
    uint64_t sum = mix(mode, s->dev);

    sum = mix(mix(sum, s->ino), s->size);
    sum = mix(mix(sum, (uint64_t)s->mtime), (uint64_t)s->ctime);
    return sum ? sum : 1;
}

static const char *full_path(char out[PATH_MAX], const char *root, struct bz_str path)
{
    snprintf(out, PATH_MAX, "%s%.*s", root, BZ_STR_ARG(path));
    return out;
}

enum bz_tools_kind bz_tools_kind(const struct bz_tools_entry *e)
{
    return S_ISREG(e->mode)   ? BZ_TOOLS_FILE
           : S_ISDIR(e->mode) ? BZ_TOOLS_DIR
           : S_ISLNK(e->mode) ? BZ_TOOLS_LINK
                              : BZ_TOOLS_OTHER;
}

/* ---- stamps of places ---- */

/* A stamp, the length of a path and the path. */
static void put_place(struct bz_buf *out, uint64_t stamp, struct bz_str path)
{
    uint32_t n = (uint32_t)path.n;

    bz_buf_add(out, &stamp, sizeof(stamp));
    bz_buf_add(out, &n, sizeof(n));
    bz_buf_add_str(out, path);
}

static bool take(struct bz_str *rest, void *out, size_t n)
{
    if (rest->n < n)
        return false;
    memcpy(out, rest->p, n);
    *rest = bz_str_drop(*rest, n);
    return true;
}

static bool take_text(struct bz_str *rest, struct bz_str *out)
{
    uint32_t n;

    if (!take(rest, &n, sizeof(n)) || n > rest->n || n >= PATH_MAX)
        return false;
    *out = bz_str_of(rest->p, n);
    *rest = bz_str_drop(*rest, n);
    return true;
}

/* Of what a path leads to. */
static uint64_t stamp_place(const char *root, struct bz_str path, bool *settled)
{
    char full[PATH_MAX];
    struct bz_stamp stamp;

    if (strlen(root) + path.n >= sizeof(full))
        return 0;
    bz_stamp_path(AT_FDCWD, full_path(full, root, path), &stamp);
    if (stamp.kind == BZ_STAMP_ABSENT)
        return 0;
    *settled &= stamp.settled != 0;
    return sum_stamp(&stamp, stamp.kind);
}

void bz_tools_mounts(const char *root, struct bz_buf *out)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_str rest, line;
    struct bz_err ignored;
    size_t n = 0;

    if (root[0] || bz_fs_read(AT_FDCWD, "/proc/self/mountinfo", MOUNTS_MAX, &text, &n,
                              &ignored) < 0)
        return;
    rest = bz_str_of(text, n);
    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line)) {
        struct bz_str skip, device, top, point;

        if (bz_str_next_part(&line, ' ', &skip) &&
            bz_str_next_part(&line, ' ', &skip) &&
            bz_str_next_part(&line, ' ', &device) &&
            bz_str_next_part(&line, ' ', &top) &&
            bz_str_next_part(&line, ' ', &point) && bz_tool_paths_covers(point))
            bz_buf_addf(out, "%.*s %.*s %.*s\n", BZ_STR_ARG(top), BZ_STR_ARG(point),
                        BZ_STR_ARG(device));
    }
}

static uint64_t sum_mounts(const char *root)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf mounts = {0};

    bz_tools_mounts(root, &mounts);
    return bz_str_hash(bz_buf_str(&mounts));
}

struct crowd {
    struct bz_str dir;
    size_t n; /* entries in it */
};

static int by_size(const void *a, const void *b)
{
    const struct crowd *x = a, *y = b;

    return (x->n < y->n) - (x->n > y->n);
}

bool bz_tools_stamps(const struct bz_tools *t, const char *root, struct bz_buf *out)
{
    BZ_CLEANUP(bz_vec_release) struct bz_tool_paths_names places = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map dirs = {0};
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct crowd) crowds = {0};
    uint64_t mounts = sum_mounts(root);
    bool settled = true;

    bz_buf_add(out, &mounts, sizeof(mounts));
    bz_tool_paths_places(&places);
    for (size_t i = 0; i < places.len; i++)
        put_place(out, stamp_place(root, places.at[i], &settled), places.at[i]);
    for (size_t i = 0; i < t->entries.len; i++) {
        struct bz_str dir = bz_path_dirname(t->entries.at[i].path);

        if (bz_tool_paths_covers(dir))
            bz_map_put(&dirs, dir)->u++;
    }
    for (const struct bz_map_entry *e = NULL; (e = bz_map_next(&dirs, e));)
        BZ_VEC_PUSH(&crowds, (struct crowd){e->key, e->u});
    BZ_VEC_SORT(&crowds, by_size);
    for (size_t i = 0; i < crowds.len && i < DIRS_MAX; i++)
        put_place(out, stamp_place(root, crowds.at[i].dir, &settled), crowds.at[i].dir);
    return settled;
}

bool bz_tools_hold(struct bz_str stamps, const char *root)
{
    uint64_t then, mounts;
    struct bz_str path;
    bool settled = true;

    if (!take(&stamps, &mounts, sizeof(mounts)) || mounts != sum_mounts(root))
        return false;
    while (stamps.n > 0)
        if (!take(&stamps, &then, sizeof(then)) || !take_text(&stamps, &path) ||
            stamp_place(root, path, &settled) != then)
            return false;
    return true;
}

/* ---- what is remembered ---- */

/* An entry of the catalog: the head, packages, entries. */
struct head {
    uint64_t list;   /* which list it is for */
    uint64_t places; /* what decides the paths; 0: not to be relied on */
    uint32_t packages, entries;
};

struct row {
    uint64_t stamp;
    uint32_t package, mode;
    struct bz_digest digest;
};

struct opening {
    struct bz_tools *t;
    const struct bz_tools_opts *o;
    struct bz_digest_hasher *hasher;
    struct bz_entries_key key;
    uint64_t list, places; /* as in the head */
    struct bz_map old;     /* path -> number of entry in `known`, from 1 */
    struct bz_tools_entries known;
    bool changed;
};

/* 0 if a stamp has not settled. */
static uint64_t sum_places(const char *root)
{
    BZ_CLEANUP(bz_vec_release) struct bz_tool_paths_names places = {0};
    uint64_t sum = sum_mounts(root);
    bool settled = true;

    bz_tool_paths_places(&places);
    for (size_t i = 0; i < places.len; i++)
        sum = mix(sum, stamp_place(root, places.at[i], &settled));
    return settled ? sum : 0;
}

static bool take_names(struct bz_str *rest, uint32_t n, struct bz_arena *a,
                       struct bz_tool_paths_names *out)
{
    struct bz_str name;

    for (uint32_t i = 0; i < n; i++) {
        if (!take_text(rest, &name))
            return false;
        BZ_VEC_PUSH(out, bz_arena_dup(a, name));
    }
    return true;
}

static bool take_entries(struct opening *p, struct bz_str *rest, const struct head *h)
{
    struct bz_str before = BZ_STR("");

    for (uint32_t i = 0; i < h->entries; i++) {
        struct bz_tools_entry e = {0};
        struct row row;

        if (!take(rest, &row, sizeof(row)) || !take_text(rest, &e.path) ||
            !bz_tool_paths_covers(e.path) || memchr(e.path.p, '\0', e.path.n) ||
            bz_str_cmp(before, e.path) >= 0 ||
            (row.package != BZ_TOOL_PATHS_NOBODY && row.package >= h->packages))
            return false;
        before = e.path = bz_arena_dup(&p->t->arena, e.path);
        e.package = row.package;
        e.mode = row.mode;
        e.stamp = row.stamp;
        e.digest = row.digest;
        BZ_VEC_PUSH(&p->known, e);
        bz_map_put(&p->old, e.path)->u = p->known.len;
    }
    return true;
}

/* True if the paths that are remembered are those that would be found. */
static bool recall(struct opening *p)
{
    struct bz_str bytes;
    struct head h;

    if (!p->o->catalog ||
        !bz_entries_find(p->o->catalog, BZ_TOOLS_KIND, &p->key, &bytes) ||
        !take(&bytes, &h, sizeof(h)) || h.list != p->list)
        return false;
    if (!take_names(&bytes, h.packages, &p->t->arena, &p->t->packages) ||
        !take_entries(p, &bytes, &h) || bytes.n > 0)
        return false;
    p->t->dpkg = true;
    return h.places != 0 && h.places == p->places;
}

static void remember(struct opening *p)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    const struct bz_tools *t = p->t;
    struct head h = {.list = p->list,
                     .places = p->places,
                     .packages = (uint32_t)t->packages.len,
                     .entries = (uint32_t)t->entries.len};

    bz_buf_add(&bytes, &h, sizeof(h));
    for (size_t i = 0; i < t->packages.len; i++) {
        uint32_t n = (uint32_t)t->packages.at[i].n;

        bz_buf_add(&bytes, &n, sizeof(n));
        bz_buf_add_str(&bytes, t->packages.at[i]);
    }
    for (size_t i = 0; i < t->entries.len; i++) {
        const struct bz_tools_entry *e = &t->entries.at[i];
        struct row row = {e->stamp, e->package, e->mode, e->digest};
        uint32_t n = (uint32_t)e->path.n;

        bz_buf_add(&bytes, &row, sizeof(row));
        bz_buf_add(&bytes, &n, sizeof(n));
        bz_buf_add_str(&bytes, e->path);
    }
    bz_entries_put(p->o->catalog, BZ_TOOLS_KIND, &p->key, bz_buf_str(&bytes));
}

/* ---- what is there ---- */

/* Says that a list has words for nothing. */
static int fail_missing(const struct bz_tool_paths_names *missing, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf names = {0};

    for (size_t i = 0; i < missing->len; i++)
        bz_buf_addf(&names, "%s'%.*s'", i ? ", " : "", BZ_STR_ARG(missing->at[i]));
    return bz_fail(err, BZ_E_INVAL,
                   "the list of tools has %s, but no program or installed package is "
                   "called so; install it, or write '?' before the name if it may be "
                   "missing",
                   bz_buf_text(&names));
}

static int find(struct opening *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_tool_paths_release) struct bz_tool_paths found = {0};
    struct bz_tools *t = p->t;
    int rc;

    p->places = sum_places(p->o->root); /* before: what changes meanwhile is found */
    rc = bz_tool_paths_find(&found, p->o->root, p->o->words, err);

    if (rc == 0 && found.missing.len > 0)
        rc = fail_missing(&found.missing, err);
    if (rc < 0)
        return rc;
    BZ_VEC_CLEAR(&t->entries);
    BZ_VEC_CLEAR(&t->packages);
    for (size_t i = 0; i < found.all.len; i++)
        BZ_VEC_PUSH(&t->entries,
                    (struct bz_tools_entry){
                        .path = bz_arena_dup(&t->arena, found.all.at[i].path),
                        .package = found.all.at[i].package});
    for (size_t i = 0; i < found.packages.len; i++)
        BZ_VEC_PUSH(&t->packages, bz_arena_dup(&t->arena, found.packages.at[i]));
    t->dpkg = found.dpkg;
    p->changed = true;
    return 0;
}

/* What stands for the content of a file that is not read. */
static void digest_stat(struct opening *p, const struct stat *st, struct bz_digest *out)
{
    const int64_t parts[] = {st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec};

    bz_digest_begin(p->hasher);
    bz_digest_add_field(p->hasher, 's', parts, sizeof(parts));
    bz_digest_end(p->hasher, out);
}

static int read_file(struct opening *p, const char *path, struct bz_tools_entry *e,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0 && (errno == EACCES || errno == EPERM) && lstat(path, &st) == 0) {
        digest_stat(p, &st, &e->digest); /* tasks cannot read it either */
        return 0;
    }
    if (fd < 0)
        return bz_fail_sys(err, "open %s", path);
    p->t->nread++;
    for (int i = 0; i < TRIES; i++) {
        struct bz_stamp before, after;
        uint64_t size;
        int rc;

        if (!bz_stamp_fd(fd, &before) || lseek(fd, 0, SEEK_SET) < 0)
            return bz_fail_sys(err, "read %s", path);
        rc = bz_digest_fd(p->hasher, fd, &e->digest, &size, err);
        if (rc < 0)
            return bz_err_wrap(err, "read %s", path);
        if (bz_stamp_fd(fd, &after) && bz_stamp_same(&before, &after)) {
            e->stamp = before.settled ? sum_stamp(&before, e->mode) : 0;
            return 0;
        }
    }
    return bz_fail(err, BZ_E_BUSY, "%s changes while it is read; try again", path);
}

static int read_entry(struct opening *p, const char *path, const struct stat *st,
                      struct bz_tools_entry *e, struct bz_err *err)
{
    if (S_ISREG(st->st_mode) && p->t->dpkg)
        return read_file(p, path, e, err);
    if (S_ISREG(st->st_mode)) {
        digest_stat(p, st, &e->digest);
    } else if (S_ISLNK(st->st_mode)) {
        char text[PATH_MAX];
        ssize_t n = readlink(path, text, sizeof(text));

        if (n < 0)
            return bz_fail_sys(err, "read %s", path);
        bz_digest_bytes(p->hasher, text, (size_t)n, &e->digest);
    }
    return 0;
}

/* Looks at a path; `gone` if there is nothing, or a directory has become something else
 * or come to be one. */
static int check(struct opening *p, struct bz_tools_entry *e, bool *gone,
                 struct bz_err *err)
{
    const struct bz_map_entry *known = bz_map_get(&p->old, e->path);
    const struct bz_tools_entry *old = known ? &p->known.at[known->u - 1] : NULL;
    char full[PATH_MAX];
    const char *path = full_path(full, p->o->root, e->path);
    int64_t now = bz_stamp_now();
    struct bz_stamp stamp;
    struct stat st;
    uint64_t sum;

    if (lstat(path, &st) < 0) {
        *gone = true;
        return 0;
    }
    bz_stamp_stat(&st, now, &stamp);
    *gone |= e->mode != 0 && S_ISDIR(e->mode) != S_ISDIR(st.st_mode);
    e->mode = st.st_mode;
    if (S_ISDIR(st.st_mode))
        return 0;
    sum = sum_stamp(&stamp, st.st_mode);
    if (old && old->stamp == sum) {
        e->stamp = old->stamp;
        e->digest = old->digest;
        return 0;
    }
    p->changed = true;
    e->stamp = stamp.settled ? sum : 0;
    return read_entry(p, path, &st, e, err);
}

static int check_all(struct opening *p, bool *gone, struct bz_err *err)
{
    for (size_t i = 0; i < p->t->entries.len; i++) {
        int rc = check(p, &p->t->entries.at[i], gone, err);

        if (rc < 0 || *gone)
            return rc;
    }
    return 0;
}

static void digest_all(struct opening *p)
{
    struct bz_digest_hasher *h = p->hasher;

    bz_digest_begin(h);
    bz_digest_add_field(h, 'f', FORMAT, sizeof(FORMAT) - 1);
    for (size_t i = 0; i < p->t->entries.len; i++) {
        const struct bz_tools_entry *e = &p->t->entries.at[i];

        bz_digest_add_field(h, 'p', e->path.p, e->path.n);
        bz_digest_add_field(h, 'm', &e->mode, sizeof(e->mode));
        if (!S_ISDIR(e->mode))
            bz_digest_add_field(h, 'd', e->digest.b, sizeof(e->digest.b));
    }
    bz_digest_end(h, &p->t->digest);
}

/* Packages may be installed meanwhile: then it is found once more. */
static int open_all(struct opening *p, struct bz_err *err)
{
    bool gone = !recall(p);
    int rc = 0;

    if (!gone)
        for (size_t i = 0; i < p->known.len; i++)
            BZ_VEC_PUSH(&p->t->entries, p->known.at[i]);
    for (int i = 0; i < TRIES; i++) {
        if (gone)
            rc = find(p, err);
        gone = false;
        if (rc == 0)
            rc = check_all(p, &gone, err);
        if (rc < 0 || !gone)
            break;
    }
    if (rc == 0 && gone)
        rc = bz_fail(err, BZ_E_BUSY, "the tools of this machine change; try again");
    if (rc < 0)
        return rc;
    digest_all(p);
    if (p->changed && p->t->dpkg && p->o->catalog)
        remember(p);
    return 0;
}

int bz_tools_open(struct bz_tools *t, const struct bz_tools_opts *opts,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    struct opening p = {.t = t, .o = opts};
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    int rc = bz_digest_hasher_new(&hasher, err);

    *t = (struct bz_tools){0};
    if (rc < 0)
        return rc;
    p.hasher = hasher;
    bz_buf_addf(&name, FORMAT " %s %.*s", opts->root, BZ_STR_ARG(opts->words));
    bz_entries_key_of(bz_buf_str(&name), &p.key);
    p.list = bz_str_hash(bz_buf_str(&name));
    p.places = sum_places(opts->root);
    rc = open_all(&p, err);
    bz_map_release(&p.old);
    bz_vec_release(&p.known);
    return rc;
}

void bz_tools_release(struct bz_tools *t)
{
    bz_vec_release(&t->entries);
    bz_vec_release(&t->packages);
    bz_arena_release(&t->arena);
    *t = (struct bz_tools){0};
}
