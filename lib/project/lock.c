#include "project/lock.h"

#include "base/buf.h"
#include "base/mem.h"
#include "codec/jsonw.h"
#include "codec/utf8.h"
#include "project/kas.h"

enum { LOCK_VERSION = 14 }; /* the first format version with overrides */

/* What a lock file says of one repository. */
struct entry {
    struct bz_str repo;
    struct bz_str commit; /* p is NULL: null, a commit taken back */
    bool has_commit;
    struct bz_str branch; /* likewise */
    bool has_branch;
    struct bz_str url; /* p is NULL if there is none */
    bool pinned;       /* by this call */
};

/* A lock file in the making. */
struct lock {
    struct bz_arena arena; /* the file that is there */
    struct entries BZ_VEC(struct entry) list;
    struct bz_map at; /* repository to its index in the list */
};

int bz_lock_name(struct bz_str kasfile, struct bz_path *out, struct bz_err *err)
{
    struct bz_str base = bz_path_basename(kasfile);
    size_t dot = bz_str_rfind_byte(base, '.');
    struct bz_str stem = kasfile, suffix = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    if (dot != BZ_STR_NONE && dot > 0) {
        suffix = bz_str_sub(base, dot, base.n);
        stem.n -= suffix.n;
    }
    bz_buf_add_str(&name, stem);
    bz_buf_addf(&name, ".lock");
    bz_buf_add_str(&name, suffix);
    return bz_path_join(BZ_STR(""), bz_buf_str(&name), out, err);
}

/* The entry of a repository, made if there is none. */
static struct entry *entry_of(struct lock *lock, struct bz_str repo)
{
    uint32_t known = lock->at.len;
    struct bz_map_entry *at = bz_map_put(&lock->at, repo);

    if (lock->at.len > known) {
        at->u = lock->list.len;
        BZ_VEC_PUSH(&lock->list, (struct entry){.repo = repo});
    }
    return &lock->list.at[at->u];
}

static void take_override(struct lock *lock, const struct bz_doc *d)
{
    const struct bz_doc *commit = bz_doc_find(d, "commit");
    const struct bz_doc *branch = bz_doc_find(d, "branch");
    const struct bz_doc *url = bz_doc_find(d, "url");
    struct entry *e = entry_of(lock, d->key);

    e->has_commit = commit;
    e->has_branch = branch;
    if (commit && commit->type == BZ_DOC_STR)
        e->commit = commit->text;
    if (branch && branch->type == BZ_DOC_STR)
        e->branch = branch->text;
    if (url)
        e->url = url->text;
}

/* BZ_E_NOSUP if the map has a key that is not among these words. */
static int only(const char *file, const struct bz_doc *map, const char *words,
                struct bz_err *err)
{
    for (size_t i = 0; map && i < map->count; i++) {
        struct bz_str rest = bz_str_from(words), word;
        bool known = false;

        while (!known && bz_str_next_word(&rest, &word))
            known = bz_str_eq(word, map->items[i].key);
        if (!known)
            return bz_fail(err, BZ_E_NOSUP,
                           "%s:%u: '%.*s' is not for a lock file, which is therefore "
                           "not rewritten",
                           file, map->items[i].key_line, BZ_STR_ARG(map->items[i].key));
    }
    return 0;
}

/* What a file overrides about repositories, or NULL. */
static const struct bz_doc *pins_of(const struct bz_kas_file *file)
{
    const struct bz_doc *overrides = bz_doc_find(file->doc, "overrides");

    return overrides ? bz_doc_find(overrides, "repos") : NULL;
}

static int take_file(struct lock *lock, const struct bz_kas_file *file,
                     struct bz_err *err)
{
    const struct bz_doc *repos = pins_of(file);
    int rc = only(file->shown, file->doc, "header overrides", err);

    if (rc == 0)
        rc = only(file->shown, bz_doc_find(file->doc, "header"), "version", err);
    if (rc == 0)
        rc = only(file->shown, bz_doc_find(file->doc, "overrides"), "repos", err);
    for (size_t i = 0; rc == 0 && repos && i < repos->count; i++) {
        rc = only(file->shown, &repos->items[i], "commit branch url", err);
        take_override(lock, &repos->items[i]);
    }
    return rc;
}

static int take_pins(struct lock *lock, const struct bz_lock_pin *pins, size_t n,
                     struct bz_err *err)
{
    for (size_t i = 0; i < n; i++) {
        struct bz_str id = pins[i].repo;
        struct entry *e = entry_of(lock, id);

        if (bz_utf8_valid(id) != id.n || bz_str_find_byte(id, '\0') != BZ_STR_NONE)
            return bz_fail(err, BZ_E_INVAL, "lock: the id of a repository is not text");
        if (!bz_repo_is_hash(pins[i].commit))
            return bz_fail(err, BZ_E_INVAL,
                           "lock '%.*s': '%.*s' is not the full hash of a commit",
                           BZ_STR_ARG(id), BZ_STR_ARG(pins[i].commit));
        if (e->pinned)
            return bz_fail(err, BZ_E_INVAL, "lock '%.*s': two commits", BZ_STR_ARG(id));
        e->commit = pins[i].commit;
        e->has_commit = e->pinned = true;
    }
    return 0;
}

/* Whether both YAML 1.1 and 1.2 take the plain word for a string. Of digits and letters
 * that may be part of a number they do not, nor of what means true, false or null. */
static bool is_plain(struct bz_str s)
{
    static const char *const words[] = {"y",   "n",    "yes",   "no",  "on",
                                        "off", "true", "false", "null"};
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-_.";
    bool word = false;

    if (s.n == 0 || strchr("-_.", s.p[0]))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!s.p[i] || !strchr(safe, s.p[i]))
            return false;
        word |= !strchr("0123456789-_.eE", s.p[i]);
    }
    for (size_t i = 0; i < BZ_COUNTOF(words); i++)
        if (s.n == strlen(words[i]) && strncasecmp(s.p, words[i], s.n) == 0)
            return false;
    return word && !(s.n > 1 && s.p[0] == '0' && strchr("xobXOB", s.p[1]));
}

/* The character that these bytes are in UTF-8. */
static uint32_t decode(const char *p, size_t n)
{
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)p[0] & first[n];

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    return c;
}

/* In double quotes. All but printable ASCII is escaped: YAML folds some line breaks and
 * refuses other characters, and nobody needs them here. */
static void add_quoted(struct bz_buf *out, struct bz_str s)
{
    bz_buf_add_char(out, '"');
    for (size_t i = 0; i < s.n;) {
        size_t n = bz_utf8_len(s.p + i, s.n - i);
        uint32_t c;

        BZ_ASSERT(n > 0);
        c = decode(s.p + i, n);
        if (c < 0x20 || c > 0x7e)
            bz_buf_addf(out, "\\U%08X", c);
        else
            bz_buf_addf(out, "%s%c", c == '"' || c == '\\' ? "\\" : "", (char)c);
        i += n;
    }
    bz_buf_add_char(out, '"');
}

static void add_scalar(struct bz_buf *out, struct bz_str s)
{
    if (is_plain(s))
        bz_buf_add_str(out, s);
    else
        add_quoted(out, s);
}

static void add_field(struct bz_buf *out, const char *key, struct bz_str value)
{
    bz_buf_addf(out, "      %s:%s", key, value.p ? " " : "");
    if (value.p)
        add_scalar(out, value);
    bz_buf_add_char(out, '\n');
}

static void format_yaml(struct bz_buf *out, unsigned version, const struct lock *lock)
{
    bz_buf_addf(out, "header:\n  version: %u\noverrides:\n  repos:%s\n", version,
                lock->list.len ? "" : " {}");
    for (size_t i = 0; i < lock->list.len; i++) {
        const struct entry *e = &lock->list.at[i];

        bz_buf_addf(out, "    ");
        add_scalar(out, e->repo);
        bz_buf_addf(out, ":%s\n",
                    e->has_commit || e->has_branch || e->url.p ? "" : " {}");
        if (e->has_commit)
            add_field(out, "commit", e->commit);
        if (e->has_branch)
            add_field(out, "branch", e->branch);
        if (e->url.p)
            add_field(out, "url", e->url);
    }
}

static void json_field(struct bz_jsonw *w, const char *key, struct bz_str value)
{
    bz_jsonw_key(w, key);
    if (value.p)
        bz_jsonw_str(w, value);
    else
        bz_jsonw_null(w);
}

static void format_json(struct bz_buf *out, unsigned version, const struct lock *lock)
{
    struct bz_jsonw w = bz_jsonw_to(out, 2);

    bz_jsonw_map(&w);
    bz_jsonw_map(bz_jsonw_key(&w, "header"));
    bz_jsonw_int(bz_jsonw_key(&w, "version"), version);
    bz_jsonw_map_end(&w);
    bz_jsonw_map(bz_jsonw_key(&w, "overrides"));
    bz_jsonw_map(bz_jsonw_key(&w, "repos"));
    for (size_t i = 0; i < lock->list.len; i++) {
        const struct entry *e = &lock->list.at[i];

        bz_jsonw_map(bz_jsonw_key_str(&w, e->repo));
        if (e->has_commit)
            json_field(&w, "commit", e->commit);
        if (e->has_branch)
            json_field(&w, "branch", e->branch);
        if (e->url.p)
            json_field(&w, "url", e->url);
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_map_end(&w);
    bz_jsonw_map_end(&w);
    bz_jsonw_map_end(&w);
    bz_buf_add_char(out, '\n');
}

static int by_repo(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return bz_str_cmp(x->repo, y->repo);
}

static int rewrite(struct lock *lock, const char *path, const struct bz_lock_pin *pins,
                   size_t n, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_kas_file file = {0};
    int rc = bz_kas_file_read(&lock->arena, path, "/", NULL, &file, err);

    if (rc == 0)
        rc = take_file(lock, &file, err);
    else if (rc == BZ_E_NOENT)
        rc = 0;
    if (rc == 0)
        rc = take_pins(lock, pins, n, err);
    if (rc < 0)
        return rc;
    if (file.version < LOCK_VERSION)
        file.version = LOCK_VERSION;
    BZ_VEC_SORT(&lock->list, by_repo);
    if (bz_str_ends(bz_str_from(path), BZ_STR(".json")))
        format_json(&text, file.version, lock);
    else
        format_yaml(&text, file.version, lock);
    return bz_kas_file_write(path, bz_buf_str(&text), err);
}

int bz_lock_write(const char *path, const struct bz_lock_pin *pins, size_t n,
                  struct bz_err *err)
{
    struct lock lock = {0};
    int rc = rewrite(&lock, path, pins, n, err);

    bz_map_release(&lock.at);
    bz_vec_release(&lock.list);
    bz_arena_release(&lock.arena);
    return rc;
}

struct pins BZ_VEC(struct bz_lock_pin);

/* A pin on its way to the lock files. */
struct parcel {
    const struct bz_lock_pin *pin;
    bool placed; /* a lock file has it */
};

/* The parcels that this lock file pins already. */
static int save_in(const struct bz_kas_source *source, const struct bz_map *parcels,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct pins mine = {0};
    const struct bz_doc *repos = pins_of(source->file);

    for (size_t i = 0; repos && i < repos->count; i++) {
        const struct bz_map_entry *e = bz_map_get(parcels, repos->items[i].key);
        struct parcel *parcel = e ? e->p : NULL;

        if (!parcel || !bz_doc_find(&repos->items[i], "commit"))
            continue;
        parcel->placed = true;
        if (!source->external)
            BZ_VEC_PUSH(&mine, *parcel->pin);
    }
    return mine.len ? bz_lock_write(source->file->path, mine.at, mine.len, err) : 0;
}

static int save(const struct bz_kas *kas, const struct bz_map *parcels,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct pins rest = {0};

    for (size_t i = 0; i < kas->nfiles; i++) {
        int rc = kas->files[i].lock ? save_in(&kas->files[i], parcels, err) : 0;

        if (rc < 0)
            return rc;
    }
    for (struct bz_map_entry *e = bz_map_next(parcels, NULL); e;
         e = bz_map_next(parcels, e)) {
        const struct parcel *parcel = e->p;

        if (!parcel->placed)
            BZ_VEC_PUSH(&rest, *parcel->pin);
    }
    return rest.len ? bz_lock_write(kas->lock, rest.at, rest.len, err) : 0;
}

int bz_lock_save(const struct bz_kas *kas, const struct bz_lock_pin *pins, size_t n,
                 struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) struct parcel *all = bz_mem_array(n, sizeof(*all));
    BZ_CLEANUP(bz_map_release) struct bz_map parcels = {0};

    for (size_t i = 0; i < n; i++) {
        all[i].pin = &pins[i];
        bz_map_put(&parcels, pins[i].repo)->p = &all[i];
        if (parcels.len != i + 1)
            return bz_fail(err, BZ_E_INVAL, "lock '%.*s': two commits",
                           BZ_STR_ARG(pins[i].repo));
    }
    return save(kas, &parcels, err);
}
