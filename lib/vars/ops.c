#include "vars/ops.h"

#include "vars/expand.h"
#include "vars/override.h"

static const struct bz_str keywords[BZ_STORE_KINDS] = {
    [BZ_STORE_APPEND] = {":append",  7},
    [BZ_STORE_PREPEND] = {":prepend", 8},
    [BZ_STORE_REMOVE] = {":remove",  7},
};

/* What stands behind a keyword: nothing, or ':' and what may name overrides. A newline
 * at the very end does not count, as for "$" in BitBake's regular expression. */
static bool is_tail(struct bz_str tail, struct bz_str *override)
{
    *override = (struct bz_str){0};
    if (tail.n == 0 || bz_str_eq(tail, BZ_STR("\n")))
        return true;
    if (tail.p[0] != ':')
        return false;
    *override = bz_str_sub(tail, 1, tail.n);
    for (size_t i = 1; i < tail.n; i++)
        if (tail.p[i] >= 'A' && tail.p[i] <= 'Z')
            return false;
    return true;
}

static size_t next_colon(struct bz_str name, size_t from)
{
    size_t at = bz_str_find_byte(bz_str_sub(name, from, name.n), ':');

    return at == BZ_STR_NONE ? at : from + at;
}

bool bz_ops_parse(struct bz_str name, struct bz_ops_name *out)
{
    size_t i = bz_str_find_byte(name, ':');
    size_t line = i == BZ_STR_NONE ? i : bz_str_find_byte(name, '\n');

    for (; i < line; i = next_colon(name, i + 1)) { /* a base has one line */
        for (int kind = 0; kind < BZ_STORE_KINDS; kind++) {
            struct bz_str tail = bz_str_sub(name, i, name.n);

            if (!bz_str_cut_prefix(&tail, keywords[kind]) ||
                !is_tail(tail, &out->override))
                continue;
            out->base = bz_str_sub(name, 0, i);
            out->kind = (enum bz_store_kind)kind;
            out->keyword = keywords[kind];
            return true;
        }
    }
    return false;
}

void bz_ops_add(struct bz_vars *v, struct bz_store_var *var, enum bz_store_kind kind,
                struct bz_store_op op)
{
    bz_store_grow_ops(v, &var->ops[kind]);
    var->ops[kind].at[var->ops[kind].n++] = op;
}

void bz_ops_drop(struct bz_store_var *var)
{
    for (int kind = 0; kind < BZ_STORE_KINDS; kind++)
        var->ops[kind].n = 0;
}

/* Whether an operation applies now. */
static int is_active(struct bz_vars *v, const struct bz_store_op *op, bool *active,
                     struct bz_err *err)
{
    int rc = bz_override_need(v, err);

    *active = op->override.n == 0 || bz_override_active(v, op->override);
    return rc;
}

static int any_active(struct bz_vars *v, const struct bz_store_ops *ops, bool *any,
                      struct bz_err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < ops->n && !*any && rc == 0; i++)
        rc = is_active(v, &ops->at[i], any, err);
    return rc;
}

/* Adds operation i if it applies. */
static int add_op(struct bz_vars *v, const struct bz_store_ops *ops, uint32_t i,
                  struct bz_buf *out, struct bz_err *err)
{
    bool active;
    int rc = is_active(v, &ops->at[i], &active, err);

    if (rc == 0 && active)
        rc = bz_buf_try_add_str(out, ops->at[i].text, err);
    return rc;
}

int bz_ops_apply(struct bz_vars *v, const struct bz_store_var *var, struct bz_str value,
                 struct bz_buf *out, bool *any, struct bz_err *err)
{
    const struct bz_store_ops *prepends = &var->ops[BZ_STORE_PREPEND];
    const struct bz_store_ops *appends = &var->ops[BZ_STORE_APPEND];
    int rc;

    *any = false;
    rc = any_active(v, appends, any, err);
    if (rc == 0)
        rc = any_active(v, prepends, any, err);
    if (rc < 0 || !*any)
        return rc;
    /* Each goes before what is there already, so the last one stands first. */
    for (uint32_t i = prepends->n; i-- > 0 && rc == 0;)
        rc = add_op(v, prepends, i, out, err);
    if (rc == 0)
        rc = bz_buf_try_add_str(out, value, err);
    for (uint32_t i = 0; i < appends->n && rc == 0; i++)
        rc = add_op(v, appends, i, out, err);
    return rc;
}

int bz_ops_removes(struct bz_vars *v, const struct bz_store_var *var,
                   struct bz_ops_texts *texts, struct bz_err *err)
{
    const struct bz_store_ops *ops = &var->ops[BZ_STORE_REMOVE];
    bool active;
    int rc = 0;

    for (uint32_t i = 0; i < ops->n && rc == 0; i++) {
        rc = is_active(v, &ops->at[i], &active, err);
        if (rc == 0 && active)
            BZ_VEC_PUSH(texts, ops->at[i].text);
    }
    return rc;
}

/* ---- taking words out ---- */

/* The words to take out, each with the list of texts that name it. */
struct words {
    struct bz_arena arena;
    struct bz_map map; /* word -> index of its first user, from 1 */
    struct BZ_VEC(struct user) users;
};

struct user {
    uint32_t text; /* which text names the word */
    uint64_t next; /* the word's next user, from 1 */
};

/* The words of one text. */
static int learn(struct bz_vars *v, struct words *w, struct bz_str text, size_t index,
                 struct bz_err *err)
{
    struct bz_buf expanded = bz_store_take(v);
    struct bz_str rest, word;
    int rc = bz_expand_named(v, text, (struct bz_str){0}, NULL, &expanded, err);

    if (rc == 0) {
        rest = bz_arena_dup(&w->arena, bz_buf_str(&expanded));
        while (bz_str_next_word(&rest, &word)) {
            struct bz_map_entry *e = bz_map_put(&w->map, word);

            BZ_VEC_PUSH(&w->users, (struct user){(uint32_t)index, e->u});
            e->u = w->users.len;
        }
    }
    bz_store_give(v, &expanded);
    return rc;
}

/* Copies all but the words, and notes which texts were of use. */
static int filter(struct words *w, struct bz_str value, bool *used, struct bz_buf *out,
                  struct bz_err *err)
{
    struct bz_str rest = value, word;
    const char *done = value.p;
    int rc = 0;

    while (rc == 0 && bz_str_next_word(&rest, &word)) {
        const struct bz_map_entry *e = bz_map_get(&w->map, word);

        if (!e)
            continue;
        for (uint64_t i = e->u; i > 0; i = w->users.at[i - 1].next)
            used[w->users.at[i - 1].text] = true;
        rc = bz_buf_try_add(out, done, (size_t)(word.p - done), err);
        done = word.p + word.n;
    }
    if (rc == 0)
        rc = bz_buf_try_add(out, done, (size_t)(value.p + value.n - done), err);
    return rc;
}

static int by_bytes(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

static void sort_unique(struct bz_ops_texts *texts)
{
    size_t n = 0;

    BZ_VEC_SORT(texts, by_bytes);
    for (size_t i = 0; i < texts->len; i++)
        if (n == 0 || !bz_str_eq(texts->at[n - 1], texts->at[i]))
            texts->at[n++] = texts->at[i];
    texts->len = n;
}

int bz_ops_remove(struct bz_vars *v, struct bz_str value, struct bz_ops_texts *texts,
                  struct bz_buf *out, struct bz_err *err)
{
    struct words w = {0};
    bool *used = NULL;
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; i < texts->len && rc == 0; i++)
        rc = learn(v, &w, texts->at[i], i, err);
    if (rc == 0) {
        used = BZ_ARENA_ARRAY(&w.arena, bool, texts->len);
        rc = filter(&w, value, used, out, err);
    }
    for (size_t i = 0; rc == 0 && i < texts->len; i++)
        if (used[i])
            texts->at[n++] = texts->at[i];
    texts->len = n;
    sort_unique(texts);
    bz_vec_release(&w.users);
    bz_map_release(&w.map);
    bz_arena_release(&w.arena);
    return rc;
}
