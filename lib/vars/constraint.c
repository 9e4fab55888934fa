#include "vars/constraint.h"

#include "base/buf.h"
#include "base/map.h"

enum { VERSION_MAX = 1024 };

/* Where in a list we are. */
struct reading {
    struct bz_arena *arena;
    struct bz_constraints *out;
    struct bz_map index; /* name to its place in `out`, plus one */
    struct bz_buf version;
    struct bz_str op;
    size_t last; /* the name that versions belong to, plus one */
    bool opened; /* an operator is next */
    bool version_follows;
};

bool bz_constraint_next_name(struct bz_str *rest, struct bz_str *name)
{
    bool inside = false;

    while (bz_str_next_word(rest, name)) {
        inside = inside || name->p[0] == '(';
        if (!inside)
            return true;
        inside = name->p[name->n - 1] != ')';
    }
    return false;
}

static int cut_operator(struct reading *r, struct bz_str *word, struct bz_err *err)
{
    static const struct bz_str ops[] = {
        BZ_STR("<="), BZ_STR("=<"), BZ_STR("<<"), BZ_STR("=="),
        BZ_STR("!="), BZ_STR(">="), BZ_STR("=>"), BZ_STR(">>"),
        BZ_STR("<"),  BZ_STR(">"),  BZ_STR("="),
    };

    r->opened = false;
    r->version_follows = true;
    for (size_t i = 0; i < BZ_COUNTOF(ops); i++) {
        if (!bz_str_cut_prefix(word, ops[i]))
            continue;
        r->op = ops[i];
        return 0;
    }
    return bz_fail(err, BZ_E_INVAL,
                   "'(%.*s' has no operator; write for example '(>= 1.0)'",
                   BZ_STR_ARG(*word));
}

/* Several words in brackets run together, and each makes a constraint of its own. */
static int add_version(struct reading *r, struct bz_str word, struct bz_err *err)
{
    struct bz_constraint_version v = {.op = r->op};

    if (bz_str_cut_suffix(&word, BZ_STR(")"))) {
        r->version_follows = false;
        if (r->version.len > 0 && word.n > 0)
            bz_buf_add_str(&r->version, BZ_STR(" "));
    }
    if (word.n == 0)
        return 0;
    if (r->last == 0)
        return bz_fail(err, BZ_E_INVAL, "the version '%.*s' has no name before it",
                       BZ_STR_ARG(word));
    if (r->version.len + word.n > VERSION_MAX)
        return bz_fail(err, BZ_E_LIMIT, "a version of more than %d bytes", VERSION_MAX);
    bz_buf_add_str(&r->version, word);
    v.version = bz_arena_dup(r->arena, bz_buf_str(&r->version));
    BZ_VEC_PUSH(&r->out->at[r->last - 1].versions, v);
    return 0;
}

static void add_name(struct reading *r, struct bz_str name)
{
    struct bz_map_entry *e = bz_map_put(&r->index, name);

    if (e->u == 0) {
        BZ_VEC_PUSH(r->out, (struct bz_constraint){.name = name});
        e->u = r->out->len;
    }
    r->last = e->u;
    r->version.len = 0;
    r->op = (struct bz_str){0};
}

static int add_word(struct reading *r, struct bz_str word, struct bz_err *err)
{
    if (bz_str_cut_prefix(&word, BZ_STR("("))) {
        r->opened = true;
        if (word.n == 0)
            return 0;
    }
    if (r->opened) {
        int rc = cut_operator(r, &word, err);

        if (rc < 0 || word.n == 0)
            return rc;
    }
    if (r->version_follows)
        return add_version(r, word, err);
    add_name(r, word);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct bz_constraint *x = a, *y = b;

    return bz_str_cmp(x->name, y->name);
}

int bz_constraint_parse(struct bz_arena *arena, struct bz_str list,
                        struct bz_constraints *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf plain = {0};
    struct reading r = {.arena = arena, .out = out};
    struct bz_str rest, part, word;
    int rc = 0;

    while (bz_str_next_part(&list, ',', &part)) /* commas are nothing */
        bz_buf_add_str(&plain, part);
    rest = bz_arena_dup(arena, bz_buf_str(&plain));
    while (rc == 0 && bz_str_next_word(&rest, &word))
        rc = add_word(&r, word, err);
    BZ_VEC_SORT(out, by_name);
    bz_map_release(&r.index);
    bz_buf_release(&r.version);
    return rc;
}

void bz_constraint_release(struct bz_constraints *c)
{
    for (size_t i = 0; i < c->len; i++)
        bz_vec_release(&c->at[i].versions);
    bz_vec_release(c);
}
