#include "sig/files.h"

#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "os/fs.h"
#include "os/fs_source.h"
#include "os/fs_walk.h"
#include "os/path.h"

/* A list is a row of records: a letter, a number with a colon after it, a text, '\0'.
 *   xN:NAMES   directories of these names are left out of what follows; N is 1 if links
 *              to files are not followed
 *   +AT:PATH   it was there; its name begins at byte AT, or is decided by its kind if
 *              AT is 0
 *   -0:PATH    it was not there
 *   !0:NAME    counts as missing
 *   n9:TEXT    the number of the place that what follows is in
 *   vAT:PATH   it was there and is shown to the task where it is: as +, with its mode
 *   q0:TEXT    a revision to be resolved: what to ask for (fetch/revision.h)
 *   u0:TEXT    the result is not to be used again, and why */
struct record {
    char letter;
    size_t at;
    struct bz_str text; /* terminated */
};

static bool next_record(struct bz_str *list, struct record *r)
{
    size_t end = bz_str_find_byte(*list, '\0');
    struct bz_str head, number;

    if (end == BZ_STR_NONE || end < 3)
        return false;
    if (!bz_str_cut(bz_str_sub(*list, 0, end), ':', &head, &r->text) || head.n < 2)
        return false;
    r->letter = head.p[0];
    r->at = 0;
    number = bz_str_sub(head, 1, head.n);
    if (number.n > 5)
        return false;
    for (size_t i = 0; i < number.n; i++) {
        if (number.p[i] < '0' || number.p[i] > '9')
            return false;
        r->at = r->at * 10 + (size_t)(number.p[i] - '0');
    }
    *list = bz_str_sub(*list, end + 1, list->n);
    /* The number is a place in the text, but for layers, which it counts. */
    return (r->letter == 'n' || r->at <= r->text.n) && r->text.n > 0 &&
           r->text.n < BZ_PATH_MAX;
}

/* Each once; but 'x' and 'n' hold for what follows them. */
static void add_record(struct bz_buf *list, char letter, size_t at, struct bz_str text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf record = {0};

    bz_buf_addf(&record, "%c%zu:%.*s", letter, at, BZ_STR_ARG(text));
    bz_buf_add_char(&record, '\0');
    if (letter == 'x' || letter == 'n' || list->len == 0 ||
        !memmem(list->data, list->len, record.data, record.len))
        bz_buf_add_str(list, bz_buf_str(&record));
}

/* ---- making a list ---- */

/* Where the name of a path begins: after the longest directory of FILESPATH that it is
 * below, or after the mark that BitBake knows for that; 0 if it is not known. */
static size_t name_at(struct bz_str path, struct bz_str dirs)
{
    size_t mark = bz_str_find(path, BZ_STR("/./")), best = 0;
    struct bz_str dir;

    while (dirs.n > 0 && bz_str_next_part(&dirs, ':', &dir)) {
        while (bz_str_ends(dir, BZ_STR("/")))
            dir.n--;
        if (dir.n > best && dir.n + 1 < path.n && path.p[dir.n] == '/' &&
            bz_str_starts(path, dir))
            best = dir.n;
    }
    if (best > 0)
        return best + 1;
    return mark == BZ_STR_NONE ? 0 : mark + 3;
}

/* The next path with its answer. Blanks may be in a path; it ends where an answer does,
 * as in BitBake. */
static bool next_word(struct bz_str *rest, struct bz_str *word)
{
    struct bz_str part;

    *rest = bz_str_trim_start(*rest);
    if (rest->n == 0)
        return false;
    *word = bz_str_of(rest->p, 0);
    while (bz_str_next_word(rest, &part)) {
        word->n = (size_t)(part.p + part.n - word->p);
        if (bz_str_ends(part, BZ_STR(":True")) || bz_str_ends(part, BZ_STR(":False")))
            break;
    }
    return true;
}

static int add_word(struct bz_str task, struct bz_str word, struct bz_str dirs,
                    struct bz_buf *list, struct bz_err *err)
{
    bool there = bz_str_cut_suffix(&word, BZ_STR(":True"));

    if (!there && !bz_str_cut_suffix(&word, BZ_STR(":False")))
        return bz_fail(err, BZ_E_INVAL,
                       "%.*s[file-checksums]: expected a path with :True or :False "
                       "after it, not '%.*s'",
                       BZ_STR_ARG(task), BZ_STR_ARG(word));
    if (!bz_str_starts(word, BZ_STR("/")) || word.n >= BZ_PATH_MAX ||
        memchr(word.p, '\0', word.n))
        return bz_fail(err, BZ_E_INVAL,
                       "%.*s[file-checksums]: expected an absolute path, not '%.*s'",
                       BZ_STR_ARG(task), BZ_STR_ARG(word));
    add_record(list, there ? '+' : '-', there ? name_at(word, dirs) : 0, word);
    return 0;
}

static int add_words(struct bz_vars *v, struct bz_str task, struct bz_str words,
                     struct bz_buf *list, struct bz_err *err)
{
    struct bz_str dirs = {0}, skip = {0}, word;
    int rc = bz_vars_get(v, BZ_STR("FILESPATH"), 0, &dirs, err);

    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("BB_SIGNATURE_LOCAL_DIRS_EXCLUDE"), 0, &skip, err);
    if (bz_str_trim(words).n > 0)
        add_record(list, 'x', bz_str_eq(task, BZ_STR("do_fetch")),
                   bz_fs_source_excluded(skip));
    while (rc == 0 && next_word(&words, &word))
        rc = add_word(task, word, dirs, list, err);
    return rc;
}

/* A source that is nowhere: missing, and to be found again where it may appear. */
static int add_missing(struct bz_vars *v, struct bz_str url, struct bz_buf *list,
                       struct bz_err *err)
{
    struct bz_str path = url, unused, dirs, dir;
    int rc = bz_vars_get(v, BZ_STR("FILESPATH"), 0, &dirs, err);

    if (rc < 0)
        return rc;
    (void)bz_str_cut(path, ';', &path, &unused);
    (void)bz_str_cut(path, ':', &unused, &path);
    (void)bz_str_cut_prefix(&path, BZ_STR("//"));
    if (path.n == 0 || path.n >= BZ_PATH_MAX)
        return bz_fail(err, BZ_E_INVAL, "no file is called '%.*s'", BZ_STR_ARG(url));
    while (dirs.n > 0 && bz_str_next_part(&dirs, ':', &dir)) {
        struct bz_path place;

        rc = bz_path_join(dir, path, &place, err);
        if (rc < 0)
            return rc;
        add_record(list, '-', 0, bz_path_str(&place));
    }
    add_record(list, '!', 0, path);
    return 0;
}

/* The local files of SRC_URI, one at a time: that one is missing is for do_fetch to
 * complain about, and must not keep the others from counting. */
static int add_sources(struct bz_vars *v, struct bz_str task, struct bz_buf *list,
                       struct bz_err *err)
{
    struct bz_str sources, url;
    int rc = bz_vars_get(v, BZ_STR("SRC_URI"), 0, &sources, err);

    while (rc == 0 && bz_str_next_word(&sources, &url)) {
        BZ_CLEANUP(bz_vars_freep) struct bz_vars *one = NULL;
        struct bz_str words = {0};

        if (url.n < 5 || strncasecmp(url.p, "file:", 5) != 0)
            continue;
        one = bz_vars_new(v);
        rc = bz_vars_set(one, BZ_STR("SRC_URI"), url, 0, NULL, err);
        if (rc == 0)
            rc = bz_vars_expand(one, BZ_STR("${@bb.fetch.get_checksum_file_list(d)}"),
                                (struct bz_str){0}, NULL, &words, err);
        if (rc == 0)
            rc = add_words(v, task, words, list, err);
        else if (rc == BZ_E_INVAL)
            rc = add_missing(v, url, list, err);
    }
    return rc;
}

int bz_files_of(struct bz_vars *v, struct bz_str task, struct bz_buf *list,
                struct bz_err *err)
{
    struct bz_str words;
    int rc = bz_vars_get_flag(v, task, BZ_STR("file-checksums"), 0, &words, err);

    if (rc < 0)
        return bz_err_wrap(err, "%.*s[file-checksums]", BZ_STR_ARG(task));
    if (words.p)
        return add_words(v, task, words, list, err);
    return bz_str_eq(task, BZ_STR("do_fetch")) ? bz_files_sources(v, list, err) : 0;
}

int bz_files_sources(struct bz_vars *v, struct bz_buf *list, struct bz_err *err)
{
    return add_sources(v, BZ_STR("do_fetch"), list, err);
}

bool bz_files_hold(struct bz_str list)
{
    struct record r;

    while (list.n > 0) {
        struct stat st;

        if (!next_record(&list, &r))
            return false;
        if (r.letter != '+' && r.letter != '-' && r.letter != 'v')
            continue;
        if (r.letter != 'v' && bz_str_find_byte(r.text, '*') != BZ_STR_NONE)
            continue;
        if ((stat(r.text.p, &st) == 0) != (r.letter != '-'))
            return false;
    }
    return true;
}

/* ---- reading a list ---- */

struct reader {
    const struct bz_sums *again; /* to compare with, instead of reading; or NULL */
    size_t compared;
    struct bz_sums *sums;
    struct bz_arena *arena;
    struct bz_base_files *out;
    size_t before;              /* how many there were */
    struct bz_str skip;         /* directories to leave out */
    bool exact;                 /* links to files are not followed */
    bool shown;                 /* the task sees it with its mode */
    unsigned origin;            /* where it is from */
    mode_t mode;                /* which is this */
    struct bz_str root, prefix; /* of the walk: its path, and what names begin with */
    struct bz_path dir;         /* in the walk: the directory that was visited last */
    bool pending;               /* it may be empty */
};

static int push(struct reader *r, struct bz_str name, const struct bz_sums_file *file,
                struct bz_err *err)
{
    if (r->again) {
        r->compared++;
        return 0;
    }
    if (r->out->len - r->before >= BZ_FILES_MAX)
        return bz_fail(err, BZ_E_LIMIT, "more than %zu files count; see %.*s",
                       BZ_FILES_MAX, BZ_STR_ARG(name));
    BZ_VEC_PUSH(r->out,
                (struct bz_base_file){bz_arena_dup(r->arena, name), file->digest,
                                      file->present, file->executable,
                                      r->shown ? r->mode & 07777 : 0, r->origin});
    return 0;
}

static int look(const struct reader *r, const char *path, struct bz_sums_file *file,
                struct bz_err *err)
{
    *file = (struct bz_sums_file){0};
    return r->again ? bz_sums_recheck(r->again, path, err)
                    : bz_sums_get(r->sums, path, file, err);
}

static struct bz_str trim_slashes(struct bz_str s)
{
    while (s.n > 1 && bz_str_ends(s, BZ_STR("/")))
        s.n--;
    return s;
}

/* The name of an entry of the walk; that of the root if `path` is "". */
static struct bz_str name_of(const struct reader *r, struct bz_str path,
                             const char *end)
{
    struct bz_str top = r->prefix.n > 0 ? r->prefix : BZ_STR(".");

    if (path.n == 0)
        return bz_arena_printf(r->arena, "%.*s%s", BZ_STR_ARG(top), end);
    return bz_arena_printf(r->arena, "%.*s%s%.*s%s", BZ_STR_ARG(r->prefix),
                           r->prefix.n > 0 ? "/" : "", BZ_STR_ARG(path), end);
}

/* An entry that is no file: a link with its target, or an empty directory. */
static int push_other(struct reader *r, struct bz_str path, const char *end,
                      struct bz_str text, struct bz_err *err)
{
    struct bz_sums_file file = {.present = true};
    struct bz_path full;
    int rc = bz_path_join(r->root, path, &full, err);

    if (rc < 0)
        return rc;
    if (r->again) {
        rc = bz_sums_recheck_note(r->again, full.s, text, err);
        return rc < 0 ? rc : push(r, path, &file, err);
    }
    bz_sums_note(r->sums, full.s, text);
    bz_digest_begin(r->sums->hasher);
    bz_digest_add_field(r->sums->hasher, 'l', text.p, text.n);
    bz_digest_end(r->sums->hasher, &file.digest);
    for (size_t i = 0; i < BZ_DIGEST_LEN; i++)
        file.digest.b[i] ^= 0xff; /* the digest of no file's content */
    return push(r, name_of(r, path, end), &file, err);
}

/* The directory that was visited last counts if it is empty: the entry after it, if
 * there is one, does not lie in it. */
static int settle_dir(struct reader *r, const char *next, struct bz_err *err)
{
    struct bz_str dir = bz_path_str(&r->dir), rest = bz_str_from(next ? next : "");
    bool pending = r->pending;

    r->pending = false;
    if (!pending || (next && (dir.n == 0 || (bz_str_cut_prefix(&rest, dir) &&
                                             bz_str_starts(rest, BZ_STR("/"))))))
        return 0;
    return push_other(r, dir, "/", BZ_STR("/"), err);
}

static int visit_dir(struct reader *r, const char *path, struct bz_err *err)
{
    int rc = bz_path_join(BZ_STR(""), bz_str_from(path), &r->dir, err);

    if (rc == 0 && r->shown) /* with its mode, be it empty or not */
        rc = push_other(r, bz_path_str(&r->dir), "/", BZ_STR("/"), err);
    r->pending = rc == 0 && !r->shown;
    return rc < 0 ? rc : BZ_FS_WALK_ON;
}

static int visit_link(struct reader *r, const struct bz_fs_walk_entry *e,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *to = NULL;
    int rc = bz_fs_readlink(e->dir, e->name, &to, err);

    if (rc < 0)
        return rc == BZ_E_NOENT ? 0 : rc;
    return push_other(r, bz_str_from(e->path), "", bz_str_from(to), err);
}

static int visit(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct reader *r = ctx;
    struct bz_sums_file file;
    struct bz_path path;
    struct stat to;
    int rc = settle_dir(r, e->path, err);

    r->mode = e->st->st_mode;
    if (rc == 0 && S_ISDIR(e->st->st_mode))
        return visit_dir(r, e->path, err);
    if (rc == 0 && S_ISLNK(e->st->st_mode)) {
        rc = visit_link(r, e, err);
        if (r->exact || fstatat(e->dir, e->name, &to, 0) < 0 || !S_ISREG(to.st_mode))
            return rc < 0 ? rc : BZ_FS_WALK_ON;
    }
    if (rc == 0 && !S_ISREG(e->st->st_mode) && !S_ISLNK(e->st->st_mode)) {
        rc = push_other(r, bz_str_from(e->path), "|", BZ_STR("|"), err);
        return rc < 0 ? rc : BZ_FS_WALK_ON;
    }
    if (rc == 0)
        rc = bz_path_join(r->root, bz_str_from(e->path), &path, err);
    if (rc == 0)
        rc = look(r, path.s, &file, err);
    if (rc == 0)
        rc = push(r, name_of(r, bz_str_from(e->path), ""), &file, err);
    return rc < 0 ? rc : BZ_FS_WALK_ON;
}

/* All below a directory, or the directory itself if nothing is. */
static int read_dir(struct reader *r, const char *path, size_t at, struct bz_err *err)
{
    struct bz_str all = bz_str_from(path);
    int rc;

    r->root = all;
    r->prefix = BZ_STR("");
    if (at > 0)
        r->prefix = trim_slashes(bz_str_sub(all, at, all.n));
    r->dir.n = 0;
    r->dir.s[0] = '\0';
    r->pending = true;
    rc = r->shown ? bz_fs_walk(AT_FDCWD, path, visit, r, err)
                  : bz_fs_source_walk(path, r->skip, visit, r, err);
    return rc < 0 ? rc : settle_dir(r, NULL, err);
}

/* A file, or all below a directory. `at` is where its name begins; 0: a file is called
 * by its last component, and what is in a directory as it is there. */
static int read_path(struct reader *r, const char *path, size_t at, struct bz_err *err)
{
    struct bz_str all = bz_str_from(path);
    struct bz_sums_file file = {0};
    struct stat st = {0};
    int rc = 0;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (trim_slashes(all).n == 1)
            return bz_fail(err, BZ_E_INVAL, "the directory / cannot count as a file");
        return read_dir(r, path, at, err);
    }
    r->mode = st.st_mode;
    rc = look(r, path, &file, err);
    return rc < 0 ? rc
                  : push(r, at > 0 ? bz_str_sub(all, at, all.n) : bz_path_basename(all),
                         &file, err);
}

static int read_pattern(struct reader *r, const struct record *rec, struct bz_err *err)
{
    glob_t found = {0};
    int rc = 0;

    switch (glob(rec->text.p, GLOB_NOESCAPE | GLOB_NOSORT, NULL, &found)) {
    case 0:
    case GLOB_NOMATCH:
        break;
    default:
        rc = bz_fail(err, BZ_E_IO, "cannot search for %.*s", BZ_STR_ARG(rec->text));
    }
    for (size_t i = 0; i < found.gl_pathc && rc == 0; i++)
        rc = read_path(r, found.gl_pathv[i], 0, err);
    globfree(&found);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    const struct bz_base_file *x = a, *y = b;
    int order = bz_str_cmp(x->name, y->name);

    if (order == 0)
        order = bz_digest_cmp(&x->digest, &y->digest);
    if (order == 0)
        order = (int)x->executable - (int)y->executable;
    return order ? order : (x->origin > y->origin) - (x->origin < y->origin);
}

static int read_list(struct reader *r, struct bz_str list, struct bz_err *err)
{
    struct record rec;
    unsigned layer = 0;
    int rc = 0;

    while (list.n > 0 && rc == 0) {
        if (!next_record(&list, &rec))
            return bz_fail(err, BZ_E_CORRUPT, "this is no list of files");
        if (rec.letter == 'x') {
            r->skip = rec.text;
            r->exact = rec.at == 1;
        } else if (rec.letter == 'n') {
            layer = (unsigned)rec.at;
        } else if (rec.letter == '+' &&
                   bz_str_find_byte(rec.text, '*') != BZ_STR_NONE) {
            rc = read_pattern(r, &rec, err);
        } else if (rec.letter == '+') {
            r->origin++; /* of two with one name, which is which */
            rc = read_path(r, rec.text.p, rec.at, err);
        } else if (rec.letter == 'v') {
            struct reader own = *r;

            own.skip = BZ_STR("");
            own.exact = false;
            own.shown = true;
            own.origin = layer;
            rc = read_path(&own, rec.text.p, rec.at, err);
            r->compared = own.compared;
        } else if (rec.letter == '!') {
            rc = push(r, rec.text, &(struct bz_sums_file){0}, err);
        }
    }
    return rc;
}

int bz_files_read(struct bz_str list, struct bz_sums *sums, struct bz_arena *arena,
                  struct bz_base_files *out, struct bz_err *err)
{
    struct reader r = {.sums = sums, .arena = arena, .out = out, .before = out->len};
    int rc = read_list(&r, list, err);

    BZ_VEC_SORT(out, by_name);
    return rc;
}

int bz_files_recheck(struct bz_str list, const struct bz_sums *sums, size_t n,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct reader r = {.again = sums, .arena = &arena};
    int rc;

    BZ_ASSERT(sums);
    rc = read_list(&r, list, err);
    if (rc == 0 && (r.compared != n || !bz_files_hold(list)))
        return bz_fail(err, BZ_E_BUSY, "files that count came or went");
    return rc;
}

/* ---- what else a list has ---- */

void bz_files_add_view(struct bz_buf *list, struct bz_str path, size_t at, size_t layer,
                       bool there)
{
    if (path.n == 0 || path.n >= BZ_PATH_MAX)
        return;
    if (there)
        add_record(list, 'n', layer, BZ_STR("layer"));
    add_record(list, there ? 'v' : '-', there ? at : 0, path);
}

void bz_files_add_question(struct bz_buf *list, struct bz_str question)
{
    add_record(list, 'q', 0, question);
}

void bz_files_add_unused(struct bz_buf *list, struct bz_str why)
{
    add_record(list, 'u', 0, why);
}

static bool next_of(struct bz_str *list, char letter, struct bz_str *text)
{
    struct record rec;

    while (list->n > 0 && next_record(list, &rec))
        if (rec.letter == letter) {
            *text = rec.text;
            return true;
        }
    return false;
}

bool bz_files_next_view(struct bz_str *list, struct bz_str *path)
{
    return next_of(list, 'v', path);
}

bool bz_files_next_question(struct bz_str *list, struct bz_str *question)
{
    return next_of(list, 'q', question);
}

bool bz_files_unused(struct bz_str list, struct bz_str *why)
{
    return next_of(&list, 'u', why);
}
