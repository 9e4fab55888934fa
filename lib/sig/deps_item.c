#include "sig/deps_item.h"

#include "base/buf.h"
#include "code/sh_execs.h"

/* One variable under way. */
struct item {
    struct bz_deps *d;
    struct bz_str name;
    struct bz_map *deps;
    struct bz_buf text;      /* the value, if it is not the variable's own text */
    struct bz_str exclude;   /* [vardepsexclude] */
    struct bz_map no_wanted; /* its words */
};

static int get_flag(const struct item *it, const char *flag, unsigned how,
                    struct bz_str *out, struct bz_err *err)
{
    return bz_vars_get_flag(it->d->vars, it->name, bz_str_from(flag), how, out, err);
}

static void add_words(struct item *it, struct bz_str list)
{
    struct bz_str word;

    while (bz_str_next_word(&list, &word))
        (void)bz_map_put(it->deps, word);
}

static void add_reads(struct item *it, const struct bz_refs *refs)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(&refs->reads, NULL); e; e = bz_map_next(&refs->reads, e))
        (void)bz_map_put(it->deps, e->key);
}

/* Commands and functions count only if they are in the store. */
static void add_execs(struct item *it, const struct bz_refs *refs)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(&refs->execs, NULL); e; e = bz_map_next(&refs->execs, e))
        if (bz_map_get(&it->d->keys, e->key))
            (void)bz_map_put(it->deps, e->key);
}

/* ---- what contains() asks for ---- */

struct names BZ_VEC(struct bz_str);

static int by_bytes(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

static void sorted_keys(const struct bz_map *m, struct names *out)
{
    BZ_VEC_CLEAR(out);
    for (const struct bz_map_entry *e = bz_map_next(m, NULL); e; e = bz_map_next(m, e))
        BZ_VEC_PUSH(out, e->key);
    BZ_VEC_SORT(out, by_bytes);
}

static bool has_words(struct bz_str list, struct bz_str item)
{
    struct bz_str word;

    while (bz_str_next_word(&item, &word))
        if (!bz_str_has_word(list, word))
            return false;
    return true;
}

/* NAME{item} = Set, or Unset, for every item that was asked for. */
static int add_contains(struct item *it, const struct bz_map *contains,
                        struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct names vars = {0};
    BZ_CLEANUP(bz_vec_release) struct names asked = {0};

    sorted_keys(contains, &vars);
    for (size_t i = 0; i < vars.len; i++) {
        struct bz_str list;
        int rc;

        if (!it->d->opts.all && (bz_map_get(&it->no_wanted, vars.at[i]) ||
                                 bz_map_get(&it->d->ignored, vars.at[i])))
            continue;
        rc = bz_vars_get(it->d->vars, vars.at[i], 0, &list, err);
        if (rc < 0)
            return rc;
        sorted_keys(bz_map_get(contains, vars.at[i])->p, &asked);
        for (size_t k = 0; k < asked.len; k++)
            bz_buf_addf(&it->text, "\n%.*s{%.*s} = %s", BZ_STR_ARG(vars.at[i]),
                        BZ_STR_ARG(asked.at[k]),
                        has_words(list, asked.at[k]) ? "Set" : "Unset");
    }
    return 0;
}

/* The :remove operations that had an effect, which the text does not show. BitBake
 * means to count the functions they call as well, but does not. */
static int add_removes(struct item *it, struct bz_vars *v, struct bz_err *err)
{
    const struct bz_str *texts;
    size_t n;
    int rc = bz_vars_removed(v, it->name, &texts, &n, err);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct bz_refs refs;
        struct bz_str unused;

        bz_refs_init(&refs, &it->d->arena);
        bz_buf_addf(&it->text, "\n_remove of ");
        bz_buf_add_str(&it->text, texts[i]);
        rc = bz_vars_expand(it->d->vars, texts[i], (struct bz_str){0}, &refs, &unused,
                            err);
        if (rc == 0) {
            add_reads(it, &refs);
            rc = add_contains(it, &refs.contains, err);
        }
        bz_refs_release(&refs);
    }
    return rc;
}

/* ---- the kinds of variables ---- */

static int read_python(struct item *it, struct bz_err *err)
{
    struct bz_py_source src = {
        .name = it->name, .askers = it->d->opts.askers, .naskers = it->d->opts.naskers};
    struct bz_py_found found;
    int rc = bz_vars_get(it->d->code_vars, it->name, BZ_VARS_RAW, &src.code, err);

    if (rc < 0)
        return rc;
    bz_buf_add_str(&it->text, src.code);
    bz_py_scan_init(&found, &it->d->arena);
    rc = bz_py_scan(&src, &found, err);
    if (rc == 0) {
        add_reads(it, &found.refs);
        add_execs(it, &found.refs);
        rc = add_contains(it, &found.refs.contains, err);
    }
    bz_py_scan_release(&found);
    return rc;
}

/* A variable, or a shell function: what its text refers to. */
static int read_text(struct item *it, struct bz_vars *v, struct bz_refs *refs,
                     struct bz_err *err)
{
    struct bz_str raw, unused;
    int rc = bz_vars_get(v, it->name, BZ_VARS_RAW, &raw, err);

    if (rc < 0)
        return rc;
    bz_buf_add_str(&it->text, raw);
    if (raw.p)
        rc = bz_vars_expand(v, raw, it->name, refs, &unused, err);
    if (rc < 0)
        return rc;
    add_reads(it, refs);
    add_execs(it, refs);
    rc = add_contains(it, &refs->contains, err);
    return rc < 0 ? rc : add_removes(it, v, err);
}

static int read_shell(struct item *it, struct bz_refs *refs, struct bz_err *err)
{
    struct bz_refs calls;
    struct bz_str body = {0};
    int rc = read_text(it, it->d->code_vars, refs, err);

    if (rc == 0)
        rc = bz_vars_get(it->d->code_vars, it->name, 0, &body, err);
    if (rc < 0)
        return rc;
    bz_refs_init(&calls, &it->d->arena);
    rc = bz_sh_execs_find(body, &calls, err);
    add_execs(it, &calls);
    bz_refs_release(&calls);
    for (size_t i = 0; i < it->d->nexported && !it->d->opts.all; i++)
        (void)bz_map_put(it->deps, it->d->exported[i]);
    return rc;
}

static int read_function(struct item *it, struct bz_refs *refs, struct bz_err *err)
{
    static const char *const lists[] = {"prefuncs", "postfuncs", "exports"};
    struct bz_str text = {0};
    int rc = get_flag(it, "python", BZ_VARS_RAW, &text, err);

    if (rc == 0)
        rc = text.n > 0 ? read_python(it, err) : read_shell(it, refs, err);
    for (size_t i = 0; rc == 0 && i < BZ_COUNTOF(lists); i++) {
        rc = get_flag(it, lists[i], 0, &text, err);
        if (rc == 0)
            add_words(it, text);
    }
    return rc;
}

/* Fills it->text by the kind of the variable. */
static int read_value(struct item *it, struct bz_err *err)
{
    struct bz_refs refs;
    struct bz_str value = {0}, func = {0};
    int rc = get_flag(it, "vardepvalue", 0, &value, err);

    if (rc == 0 && value.p) { /* it counts instead of all else */
        bz_buf_add_str(&it->text, value);
        return 0;
    }
    if (rc == 0)
        rc = get_flag(it, "func", BZ_VARS_RAW, &func, err);
    if (rc < 0)
        return rc;
    bz_refs_init(&refs, &it->d->arena);
    rc = func.n > 0 ? read_function(it, &refs, err)
                    : read_text(it, it->d->vars, &refs, err);
    bz_refs_release(&refs);
    return rc;
}

/* ---- flags ---- */

static void add_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct item *it = ctx;

    (void)value;
    if (!bz_map_get(&it->d->skipped_flags, flag))
        (void)bz_map_put(it->deps,
                         bz_arena_printf(&it->d->arena, "%.*s[%.*s]",
                                         BZ_STR_ARG(it->name), BZ_STR_ARG(flag)));
}

/* Takes out of the text what stands between the bars of [vardepvalueexclude]. */
static int cut_excluded(struct item *it, struct bz_err *err)
{
    struct bz_str rest, part;
    int rc = get_flag(it, "vardepvalueexclude", BZ_VARS_RAW, &rest, err);

    if (rc < 0 || !rest.p)
        return rc;
    while (bz_str_next_part(&rest, '|', &part)) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf old = it->text;
        struct bz_str left = bz_buf_str(&old);
        size_t at;

        it->text = (struct bz_buf){0};
        while (part.n > 0 && (at = bz_str_find(left, part)) != BZ_STR_NONE) {
            bz_buf_add(&it->text, left.p, at);
            left = bz_str_sub(left, at + part.n, left.n);
        }
        bz_buf_add_str(&it->text, left);
    }
    return 0;
}

static int read_variable(struct item *it, struct bz_err *err)
{
    struct bz_str vardeps;
    int rc = get_flag(it, "vardepsexclude", 0, &it->exclude, err);

    if (rc < 0)
        return rc;
    for (struct bz_str rest = it->exclude, word; bz_str_next_word(&rest, &word);)
        (void)bz_map_put(&it->no_wanted, word);
    rc = read_value(it, err);
    if (rc == 0)
        rc = cut_excluded(it, err);
    if (rc == 0)
        rc = get_flag(it, "vardeps", 0, &vardeps, err);
    if (rc < 0)
        return rc;
    if (it->d->skipped_flags.len > 0)
        bz_vars_flags(it->d->vars, it->name, add_flag, it);
    add_words(it, vardeps);
    return 0;
}

/* NAME[flag]: its text, and what that refers to. */
static int read_flag(struct item *it, struct bz_str name, struct bz_str flag,
                     struct bz_str *value, struct bz_err *err)
{
    struct bz_refs refs;
    struct bz_str unused;
    int rc;

    *value = BZ_STR("");
    if (bz_str_eq(flag, BZ_STR("vardepvalueexclude")))
        return 0;
    rc = bz_vars_get_flag(it->d->vars, name, flag, BZ_VARS_RAW, value, err);
    if (rc < 0 || !value->p)
        return rc;
    bz_refs_init(&refs, &it->d->arena);
    rc = bz_vars_expand(it->d->vars, *value, it->name, &refs, &unused, err);
    add_reads(it, &refs);
    add_execs(it, &refs);
    bz_refs_release(&refs);
    return rc;
}

static void take_out(struct bz_map *deps, const struct bz_map *names)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(names, NULL); e; e = bz_map_next(names, e))
        (void)bz_map_remove(deps, e->key);
}

int bz_deps_item_read(struct bz_deps *d, struct bz_str name, struct bz_map *deps,
                      struct bz_str *value, struct bz_err *err)
{
    struct item it = {.d = d, .name = name, .deps = deps};
    struct bz_str var, flag;
    int rc;

    if (bz_str_ends(name, BZ_STR("]")) &&
        bz_str_cut(bz_str_sub(name, 0, name.n - 1), '[', &var, &flag)) {
        rc = read_flag(&it, var, flag, value, err);
    } else {
        rc = read_variable(&it, err);
        *value = bz_arena_dup(&d->arena, bz_buf_str(&it.text));
    }
    if (!d->opts.all)
        take_out(deps, &it.no_wanted);
    take_out(deps, &d->ignored);
    bz_buf_release(&it.text);
    bz_map_release(&it.no_wanted);
    return rc;
}
