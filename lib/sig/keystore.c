#include "sig/keystore.h"

#include "base/buf.h"
#include "recipe/runscript.h"

/* What tasks see of these is the same on every machine (bz_runscript_enter): they count
 * whatever a list says that was made for machines where it is not. */
static bool is_fixed(struct bz_str name)
{
    static const char *const names[] = {"HOME",  "LC_ALL", "LOGNAME", "PATH",
                                        "SHELL", "TERM",   "USER"};

    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        if (bz_str_eq(name, bz_str_from(names[i])))
            return true;
    return false;
}

/* What differs from machine to machine and from day to day, and what code sees. */
static const struct {
    struct bz_str name, value;
} varying[] = {
    {BZ_STR("BB_NUMBER_PARSE_THREADS"), BZ_STR("1")             },
    {BZ_STR("BB_NUMBER_THREADS"),       BZ_STR("1")             },
    {BZ_STR("DATE"),                    BZ_STR("20010203")      },
    {BZ_STR("DATETIME"),                BZ_STR("20010203040506")},
    {BZ_STR("PARALLEL_MAKE"),           BZ_STR("-j 1")          },
    {BZ_STR("PARALLEL_MAKEINST"),       BZ_STR("-j 1")          },
    {BZ_STR("TIME"),                    BZ_STR("040506")        },
};

struct info {
    bool ignored;  /* everywhere */
    bool placed;   /* it has been looked where its value leads */
    bool known;    /* what follows has been read */
    bool busy;     /* is being read */
    bool replaced; /* by the text */
    struct bz_str text;
    struct bz_map exclude; /* its [vardepsexclude] */
};

/* ---- what the metadata says of a variable ---- */

/* The text without what stands between the bars of [vardepvalueexclude]. */
static void cut_parts(struct bz_str text, struct bz_str parts, struct bz_buf *out)
{
    struct bz_str part;

    bz_buf_add_str(out, text);
    while (bz_str_next_part(&parts, '|', &part)) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf old = *out;
        struct bz_str left = bz_buf_str(&old);
        size_t at;

        *out = (struct bz_buf){0};
        while (part.n > 0 && (at = bz_str_find(left, part)) != BZ_STR_NONE) {
            bz_buf_add(out, left.p, at);
            left = bz_str_drop(left, at + part.n);
        }
        bz_buf_add_str(out, left);
    }
}

static int read_replacement(struct bz_keystore *k, struct bz_str name,
                            struct info *info, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf left = {0};
    struct bz_str parts = {0}, raw = {0};
    int rc = bz_vars_get_flag(k->key, name, BZ_STR("vardepvalue"), 0, &info->text, err);

    if (rc < 0 || info->text.p) {
        info->replaced = info->text.p != NULL;
        return rc;
    }
    rc = bz_vars_get_flag(k->plain, name, BZ_STR("vardepvalueexclude"), BZ_VARS_RAW,
                          &parts, err);
    if (rc < 0 || parts.n == 0)
        return rc;
    rc = bz_vars_get(k->plain, name, BZ_VARS_RAW, &raw, err);
    if (rc < 0 || !raw.p)
        return rc;
    cut_parts(raw, parts, &left);
    rc = bz_vars_expand(k->key, bz_vars_keep(k->key, bz_buf_str(&left)), name, NULL,
                        &info->text, err);
    info->replaced = rc == 0;
    return rc;
}

static int read_info(struct bz_keystore *k, struct bz_str name, struct info *info,
                     struct bz_err *err)
{
    struct bz_str words = {0}, word;
    int rc = bz_vars_get_flag(k->plain, name, BZ_STR("vardepsexclude"), 0, &words, err);

    while (rc == 0 && bz_str_next_word(&words, &word))
        (void)bz_map_put(&info->exclude, word);
    info->busy = true; /* its own text may name it */
    if (rc == 0)
        rc = read_replacement(k, name, info, err);
    info->busy = false;
    return rc;
}

static struct info *new_info(struct bz_keystore *k, struct bz_str name)
{
    struct info *info = BZ_ARENA_NEW(&k->arena, struct info);

    bz_map_put(&k->infos, bz_arena_dup(&k->arena, name))->p = info;
    return info;
}

static int info_of(struct bz_keystore *k, struct bz_str name, struct info **out,
                   struct bz_err *err)
{
    const struct bz_map_entry *e = bz_map_get(&k->infos, name);

    *out = e ? e->p : new_info(k, name);
    if ((*out)->known)
        return 0;
    (*out)->known = true;
    return read_info(k, name, *out, err);
}

/* Of NAME[flag] the variable. */
static struct bz_str base_of(struct bz_str name)
{
    struct bz_str base, flag;

    bz_str_cut(name, '[', &base, &flag);
    return base;
}

static bool is_below(struct bz_str path, struct bz_str dir)
{
    return dir.n > 1 && bz_str_cut_prefix(&path, dir) &&
           (path.n == 0 || path.p[0] == '/');
}

/* Metadata ignores directories because they differ from host to host; within the build
 * directory they do not (roots.h), and decide where output goes. But for those that
 * tasks have no part in. */
static bool is_work(struct bz_keystore *k, struct bz_str name)
{
    static const char *const others[] = {
        "CACHE",  "CCACHE_DIR", "DL_DIR", "FILE",           "FILESPATH",
        "GITDIR", "THISDIR",    "BBPATH", "PERSISTENT_DIR", "SSTATE_DIR"};
    struct bz_str value = {0}, top = {0};
    struct bz_err ignored;

    for (size_t i = 0; i < BZ_COUNTOF(others); i++)
        if (bz_str_eq(name, bz_str_from(others[i])))
            return false;
    return bz_vars_get(k->plain, name, 0, &value, &ignored) == 0 && value.n > 0 &&
           bz_vars_get(k->plain, BZ_STR("TOPDIR"), 0, &top, &ignored) == 0 &&
           is_below(value, top);
}

/* A variable that is ignored everywhere is known beforehand (ignore_all). */
static bool is_ignored(struct bz_keystore *k, struct bz_str name)
{
    const struct bz_map_entry *e = bz_map_get(&k->infos, name);
    struct info *info = e ? e->p : NULL;

    if (info && info->ignored && !info->placed) {
        info->placed = true;
        info->ignored = !is_work(k, name);
    }
    return info && info->ignored;
}

int bz_keystore_excluded(struct bz_keystore *k, struct bz_str in, struct bz_str name,
                         bool *out, struct bz_err *err)
{
    struct info *info;
    int rc = 0;

    *out = is_ignored(k, name);
    if (*out || in.n == 0)
        return 0;
    rc = info_of(k, base_of(in), &info, err);
    *out = rc == 0 && bz_map_get(&info->exclude, name) != NULL;
    return rc;
}

static int ask(void *ctx, struct bz_str in, struct bz_str name, enum bz_vars_kept *what,
               struct bz_str *text, struct bz_err *err)
{
    struct bz_keystore *k = ctx;
    struct info *info;
    bool excluded;
    int rc = bz_keystore_excluded(k, in, name, &excluded, err);

    *what = excluded ? BZ_VARS_KEEP : BZ_VARS_EXPAND;
    if (rc < 0 || excluded)
        return rc;
    rc = info_of(k, name, &info, err);
    if (rc == 0 && info->replaced && !info->busy) {
        *what = BZ_VARS_REPLACE;
        *text = info->text;
    }
    return rc;
}

/* ---- the stores ---- */

static int ignore_all(struct bz_keystore *k, struct bz_err *err)
{
    struct bz_str words, word;
    int rc = bz_vars_get(k->plain, BZ_STR("BB_BASEHASH_IGNORE_VARS"), 0, &words, err);

    while (rc == 0 && bz_str_next_word(&words, &word))
        if (!is_fixed(word) && !bz_map_get(&k->infos, word))
            new_info(k, word)->ignored = true;
    return rc;
}

static int fix_varying(struct bz_keystore *k, struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < BZ_COUNTOF(varying) && rc == 0; i++)
        if (is_ignored(k, varying[i].name) && bz_vars_exists(k->plain, varying[i].name))
            rc = bz_vars_set(k->plain, varying[i].name, varying[i].value, 0, NULL, err);
    return rc;
}

static int fix_clock(struct bz_keystore *k, int64_t clock, struct bz_err *err)
{
    if (clock == 0)
        return 0;
    bz_vars_set_clock(k->plain, clock);
    return bz_vars_set_clocked(
        k->plain, bz_arena_printf(&k->arena, "%lld", (long long)clock), err);
}

int bz_keystore_open(struct bz_keystore *k, const struct bz_vars *recipe,
                     struct bz_str task, const struct bz_keystore_opts *opts,
                     struct bz_err *err)
{
    struct bz_vars_keep keep = {ask, k, NULL};
    int rc;

    *k = (struct bz_keystore){.plain = bz_vars_new(recipe)};
    rc =
        bz_runscript_enter(k->plain, task.p ? task : BZ_STR("do_any"), opts->path, err);
    if (rc == 0)
        rc = ignore_all(k, err);
    if (rc == 0)
        rc = fix_clock(k, opts->clock, err);
    if (rc == 0 && !opts->real)
        rc = fix_varying(k, err);
    if (rc < 0)
        return rc;
    k->key = bz_vars_new(k->plain);
    keep.plain = k->plain;
    bz_vars_set_keep(k->key, &keep);
    return 0;
}

void bz_keystore_close(struct bz_keystore *k)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(&k->infos, NULL); e; e = bz_map_next(&k->infos, e))
        bz_map_release(&((struct info *)e->p)->exclude);
    bz_map_release(&k->infos);
    bz_vars_free(k->key);
    bz_vars_free(k->plain);
    bz_arena_release(&k->arena);
    *k = (struct bz_keystore){0};
}

/* With references as they are written. */
static struct bz_str unmark(struct bz_keystore *k, struct bz_str text)
{
    char *copy;

    if (text.n == 0 || !memchr(text.p, BZ_VARS_MARK, text.n))
        return text;
    copy = bz_arena_alloc(&k->arena, text.n + 1, 1);
    memcpy(copy, text.p, text.n);
    for (size_t i = 0; i + 1 < text.n; i++)
        if (copy[i] == BZ_VARS_MARK && copy[i + 1] == '{')
            copy[i] = '$';
    copy[text.n] = '\0';
    return bz_str_of(copy, text.n);
}

int bz_keystore_get(struct bz_keystore *k, struct bz_str name, struct bz_str *out,
                    struct bz_err *err)
{
    struct info *info;
    int rc = info_of(k, name, &info, err);

    if (rc < 0)
        return rc;
    if (info->replaced)
        *out = info->text;
    else
        rc = bz_vars_get(k->key, name, 0, out, err);
    if (rc == 0)
        *out = unmark(k, *out);
    return rc;
}

int bz_keystore_flag(struct bz_keystore *k, struct bz_str name, const char *flag,
                     struct bz_str *out, struct bz_err *err)
{
    int rc = bz_vars_get_flag(k->key, name, bz_str_from(flag), 0, out, err);

    if (rc == 0)
        *out = unmark(k, *out);
    return rc;
}
