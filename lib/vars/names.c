#include "vars/names.h"

#include <strings.h>

#include "base/log.h"
#include "base/mem.h"
#include "vars/assign.h"
#include "vars/expand.h"
#include "vars/history.h"
#include "vars/override.h"
#include "vars/value.h"

struct list BZ_VEC(struct bz_str);

static int by_bytes(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

/* ---- all names ---- */

enum { /* what is known of a name while the stores are walked, nearest first */
       VAR_SEEN = 1,
       VARIANTS_SEEN = 2,
       LISTED = 4,
};

static void visit(const struct bz_vars *v, const struct bz_store_node *node,
                  struct bz_map *seen, struct list *out)
{
    struct bz_map_entry *e = bz_map_put(seen, node->name);
    bool is = false;

    if (node->var && !(e->u & VAR_SEEN)) {
        e->u |= VAR_SEEN;
        is = !bz_store_empty(node->var);
    }
    if (node->variants && !(e->u & VARIANTS_SEEN)) {
        e->u |= VARIANTS_SEEN;
        is |= bz_override_any(v, node->variants);
    }
    if (!is || (e->u & LISTED))
        return;
    e->u |= LISTED;
    BZ_VEC_PUSH(out, node->name);
}

int bz_names_list(struct bz_vars *v, const struct bz_str **names, size_t *n,
                  struct bz_err *err)
{
    struct bz_map seen = {0};
    struct list out = {0};
    int rc = bz_override_need(v, err);

    if (rc < 0)
        return rc;
    if (v->names_gen != v->gen) {
        for (const struct bz_vars *s = v; s; s = s->parent) {
            const struct bz_map_entry *e;

            for (e = bz_map_next(&s->nodes, NULL); e; e = bz_map_next(&s->nodes, e))
                for (const struct bz_store_node *node = e->p; node; node = node->next)
                    visit(v, node, &seen, &out);
        }
        bz_map_release(&seen);
        BZ_VEC_SORT(&out, by_bytes);
        free(v->names);
        v->names = out.at;
        v->nnames = out.len;
        v->names_gen = v->gen;
    }
    *names = v->names;
    *n = v->nnames;
    return 0;
}

/* ---- exports ---- */

/* BitBake's idea of a boolean: nothing and "" are false, other words an error. */
static int is_true(struct bz_vars *v, const struct bz_store_cell *c, struct bz_str flag,
                   bool *yes, struct bz_err *err)
{
    static const char *const words[] = {"n", "no",  "0", "false",
                                        "y", "yes", "1", "true"};
    struct bz_str text;
    int rc = bz_value_flag(v, c, flag, 0, &text, err);

    *yes = false;
    if (rc < 0 || text.n == 0)
        return rc;
    for (size_t i = 0; i < BZ_COUNTOF(words); i++) {
        if (strlen(words[i]) != text.n || strncasecmp(words[i], text.p, text.n) != 0)
            continue;
        *yes = i >= BZ_COUNTOF(words) / 2;
        return 0;
    }
    return bz_fail(err, BZ_E_INVAL, "%.*s[%.*s]: not a boolean: '%.*s'",
                   BZ_STR_ARG(c->name), BZ_STR_ARG(flag), BZ_STR_ARG(text));
}

int bz_names_flag_true(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                       bool *yes, struct bz_err *err)
{
    return is_true(v, bz_store_cell(v, name), flag, yes, err);
}

static int is_exported(struct bz_vars *v, const struct bz_store_cell *c, bool *yes,
                       struct bz_err *err)
{
    bool not ;
    int rc = is_true(v, c, BZ_STR("export"), yes, err);

    if (rc < 0 || !*yes || bz_str_starts(c->name, BZ_STR("__"))) {
        *yes = false;
        return rc;
    }
    rc = is_true(v, c, BZ_STR("unexport"), &not, err);
    *yes = rc == 0 && !not ;
    return rc;
}

static int is_unexported(struct bz_vars *v, const struct bz_store_cell *c, bool *yes,
                         struct bz_err *err)
{
    int rc = is_true(v, c, BZ_STR("unexport"), yes, err);

    if (bz_str_starts(c->name, BZ_STR("__")))
        *yes = false;
    return rc;
}

int bz_names_exported(struct bz_vars *v, bool un, const struct bz_str **names,
                      size_t *n, struct bz_err *err)
{
    struct bz_map seen = {0};
    struct list out = {0};
    struct bz_str *kept;
    int rc = 0;

    for (const struct bz_vars *s = v; s && rc == 0; s = s->parent) {
        for (size_t i = 0; i < s->exports.len && rc == 0; i++) {
            struct bz_str name = s->exports.at[i];
            bool yes = false;

            if (bz_map_put(&seen, name)->u++ == 0)
                rc = un ? is_unexported(v, bz_store_cell(v, name), &yes, err)
                        : is_exported(v, bz_store_cell(v, name), &yes, err);
            if (rc == 0 && yes)
                BZ_VEC_PUSH(&out, name);
        }
    }
    BZ_VEC_SORT(&out, by_bytes);
    kept = BZ_ARENA_ARRAY(&v->arena, struct bz_str, out.len);
    if (out.len > 0)
        memcpy(kept, out.at, out.len * sizeof(*kept));
    *names = kept;
    *n = out.len;
    bz_vec_release(&out);
    bz_map_release(&seen);
    return rc;
}

/* ---- names that are to be expanded ---- */

struct key {
    struct bz_str name, expanded;
};

struct keys BZ_VEC(struct key);

static int by_name(const void *a, const void *b)
{
    return bz_str_cmp(((const struct key *)a)->name, ((const struct key *)b)->name);
}

/* Adds the name if it is a variable and expands to another one. */
static int consider(struct bz_vars *v, struct bz_str name, struct keys *keys,
                    struct bz_err *err)
{
    const struct bz_store_cell *c = bz_store_cell(v, name);
    struct bz_buf text;
    int rc;

    if (bz_store_empty(c->var) && !bz_override_any(v, c->variants))
        return 0;
    text = bz_store_take(v);
    rc = bz_expand_named(v, name, (struct bz_str){0}, NULL, &text, err);
    if (rc == 0 && !bz_str_eq(name, bz_buf_str(&text)))
        BZ_VEC_PUSH(keys,
                    (struct key){c->name, bz_arena_dup(&v->arena, bz_buf_str(&text))});
    bz_store_give(v, &text);
    return rc;
}

static int find_keys(struct bz_vars *v, struct keys *keys, struct bz_err *err)
{
    struct bz_map seen = {0};
    int rc = bz_override_need(v, err);

    for (const struct bz_vars *s = v; s && rc == 0; s = s->parent)
        for (size_t i = 0; i < s->dynamic.len && rc == 0; i++)
            if (bz_map_put(&seen, s->dynamic.at[i])->u++ == 0)
                rc = consider(v, s->dynamic.at[i], keys, err);
    bz_map_release(&seen);
    BZ_VEC_SORT(keys, by_name);
    return rc;
}

/* Says so if both the key and what it expands to have a value. */
static int warn_of_loss(struct bz_vars *v, const struct key *key, struct bz_err *err)
{
    struct bz_history_event e = {.file = NULL};
    struct bz_str lost, value = {0};
    int rc = bz_value_get(v, bz_store_cell(v, key->expanded), BZ_VARS_RAW, &lost, err);

    if (rc == 0 && lost.p)
        rc = bz_value_get(v, bz_store_cell(v, key->name), BZ_VARS_RAW, &value, err);
    if (rc < 0 || !value.p)
        return rc;
    if (!bz_history_last(v, key->name, &e))
        e.file = "(no file)";
    bz_log_warn("vars", "%s:%u: variable %.*s (%.*s) replaces %.*s (%.*s)", e.file,
                e.line, BZ_STR_ARG(key->name), BZ_STR_ARG(value),
                BZ_STR_ARG(key->expanded), BZ_STR_ARG(lost));
    return 0;
}

int bz_names_expand(struct bz_vars *v, struct bz_err *err)
{
    struct keys keys = {0};
    int rc = find_keys(v, &keys, err);

    for (size_t i = 0; i < keys.len && rc == 0; i++) {
        rc = warn_of_loss(v, &keys.at[i], err);
        if (rc == 0)
            rc = bz_assign_rename(v, keys.at[i].name, keys.at[i].expanded, NULL, err);
    }
    bz_vec_release(&keys);
    return rc;
}
