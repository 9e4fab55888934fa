#include "vars/expr_table.h"

#include "base/map.h"

#define FEW 8 /* keys that are searched one by one, without an index */

static int hash(struct bz_expr_run *r, const struct bz_expr_value *v, uint64_t *out)
{
    size_t i;

    switch (v->kind) {
    case BZ_EXPR_STR:
        *out = bz_str_hash(v->s);
        return bz_expr_value_charge(r, v->s.n / 64);
    case BZ_EXPR_NONE:
        *out = 1;
        return 0;
    case BZ_EXPR_BOOL:
    case BZ_EXPR_INT:
        *out = bz_map_hash_u64((uint64_t)v->i);
        return 0;
    case BZ_EXPR_TUPLE:
        *out = v->seq->len;
        for (i = 0; i < v->seq->len; i++) {
            uint64_t part = 0;
            int rc = hash(r, &v->seq->at[i], &part);

            if (rc < 0)
                return rc;
            *out = bz_map_hash_u64(*out ^ part);
        }
        return bz_expr_value_charge(r, v->seq->len);
    case BZ_EXPR_LIST:
    case BZ_EXPR_SET:
    case BZ_EXPR_DICT:
        return bz_fail(r->err, BZ_E_INVAL, "TypeError: unhashable type: '%s'",
                       bz_expr_value_type(v));
    default: /* a float equals the integer of its value, which hashes otherwise here */
        return bz_expr_value_unknown(r, "such a key");
    }
}

static int find_few(struct bz_expr_run *r, const struct bz_expr_seq *seq,
                    const struct bz_expr_value *key, size_t *at)
{
    bool equal = false;
    int rc = 0;

    for (*at = 0; rc == 0 && *at < seq->len; ++*at) {
        rc = bz_expr_value_equal(r, &seq->at[*at], key, &equal);
        if (equal)
            break;
    }
    return rc;
}

/* Searches from the slot of the hash; *slot is where the key is or would be. */
static int probe(struct bz_expr_run *r, const struct bz_expr_seq *seq,
                 const struct bz_expr_value *key, uint64_t h, size_t *slot)
{
    bool equal = false;
    int rc = 0;

    for (*slot = h & (seq->nslots - 1); seq->slots[*slot];
         *slot = (*slot + 1) & (seq->nslots - 1)) {
        rc = bz_expr_value_equal(r, &seq->at[seq->slots[*slot] - 1], key, &equal);
        if (rc < 0 || equal)
            break;
        if ((rc = bz_expr_value_charge(r, 1)) < 0)
            break;
    }
    return rc;
}

int bz_expr_table_find(struct bz_expr_run *r, const struct bz_expr_seq *seq,
                       const struct bz_expr_value *key, size_t *at)
{
    uint64_t h = 0;
    size_t slot;
    int rc = hash(r, key, &h);

    *at = seq->len;
    if (rc < 0)
        return rc;
    if (!seq->slots)
        return find_few(r, seq, key, at);
    rc = probe(r, seq, key, h, &slot);
    if (rc == 0 && seq->slots[slot])
        *at = seq->slots[slot] - 1;
    return rc;
}

/* Makes an index, or a larger one, of at least twice as many slots as keys. */
static int index_all(struct bz_expr_run *r, struct bz_expr_seq *seq)
{
    size_t i, n = seq->nslots ? seq->nslots * 4 : (size_t)FEW * 8;
    int rc = bz_expr_value_charge(r, n);

    if (rc < 0)
        return rc;
    seq->slots = bz_expr_scratch_alloc(r->mem, n * sizeof(*seq->slots));
    memset(seq->slots, 0, n * sizeof(*seq->slots));
    seq->nslots = n;
    for (i = 0; i < seq->len; i++) {
        uint64_t h = 0;
        size_t slot;

        rc = hash(r, &seq->at[i], &h);
        if (rc < 0)
            return rc;
        for (slot = h & (n - 1); seq->slots[slot]; slot = (slot + 1) & (n - 1))
            ;
        seq->slots[slot] = (uint32_t)(i + 1);
    }
    return 0;
}

/* The values of a dictionary have as much room as its keys. */
static int put_value(struct bz_expr_run *r, struct bz_expr_seq *seq, size_t at,
                     size_t old_cap, const struct bz_expr_value *value)
{
    if (seq->cap != old_cap || !seq->values) {
        struct bz_expr_value *values;
        int rc = bz_expr_value_charge(r, seq->cap);

        if (rc < 0)
            return rc;
        values = bz_expr_scratch_alloc(r->mem, seq->cap * sizeof(*values));
        if (seq->values)
            memcpy(values, seq->values, at * sizeof(*values));
        seq->values = values;
    }
    seq->values[at] = *value;
    return 0;
}

/* Enters the newest key, once there are enough of them for an index. */
static int index_last(struct bz_expr_run *r, struct bz_expr_seq *seq)
{
    uint64_t h = 0;
    size_t slot;
    int rc;

    if (seq->len <= FEW)
        return 0;
    if (seq->len * 2 > seq->nslots)
        return index_all(r, seq);
    rc = hash(r, &seq->at[seq->len - 1], &h);
    if (rc < 0)
        return rc;
    for (slot = h & (seq->nslots - 1); seq->slots[slot];)
        slot = (slot + 1) & (seq->nslots - 1);
    seq->slots[slot] = (uint32_t)seq->len;
    return 0;
}

int bz_expr_table_put(struct bz_expr_run *r, struct bz_expr_seq *seq,
                      const struct bz_expr_value *key,
                      const struct bz_expr_value *value)
{
    size_t at = 0, cap = seq->cap;
    int rc = bz_expr_table_find(r, seq, key, &at);

    if (rc < 0)
        return rc;
    if (at < seq->len) {
        if (value)
            seq->values[at] = *value;
        return 0;
    }
    rc = bz_expr_value_push(r, seq, key);
    if (rc == 0 && value)
        rc = put_value(r, seq, at, cap, value);
    return rc < 0 ? rc : index_last(r, seq);
}

int bz_expr_table_set(struct bz_expr_run *r, const struct bz_expr_value *v,
                      struct bz_expr_value *out)
{
    struct bz_expr_seq *from, *set = NULL;
    size_t i;
    int rc = bz_expr_value_items(r, v, &from);

    if (rc == 0)
        rc = bz_expr_value_new_seq(r, 0, &set);
    if (rc < 0)
        return rc;
    for (i = 0; rc == 0 && i < from->len; i++)
        rc = bz_expr_table_put(r, set, &from->at[i], NULL);
    *out = bz_expr_value_seq(BZ_EXPR_SET, set);
    return rc;
}

int bz_expr_table_words(struct bz_expr_run *r, const struct bz_expr_value *text,
                        struct bz_expr_value *out)
{
    struct bz_str rest = text->s, word;
    struct bz_expr_seq *set;
    int rc = bz_expr_value_new_seq(r, 0, &set);

    if (rc < 0)
        return rc;
    while (rc == 0 && bz_str_next_word(&rest, &word)) {
        struct bz_expr_value v = bz_expr_value_part(text, word);

        rc = bz_expr_table_put(r, set, &v, NULL);
    }
    *out = bz_expr_value_seq(BZ_EXPR_SET, set);
    return rc;
}

/* Adds those keys of `from` that are in `other`, or those that are not. */
static int add_some(struct bz_expr_run *r, struct bz_expr_seq *to,
                    const struct bz_expr_seq *from, const struct bz_expr_seq *other,
                    bool in)
{
    size_t i, at;
    int rc = bz_expr_value_charge(r, from->len);

    for (i = 0; rc == 0 && i < from->len; i++) {
        rc = bz_expr_table_find(r, other, &from->at[i], &at);
        if (rc == 0 && (at < other->len) == in)
            rc = bz_expr_table_put(r, to, &from->at[i], NULL);
    }
    return rc;
}

int bz_expr_table_combine(struct bz_expr_run *r, const struct bz_expr_value *a,
                          const struct bz_expr_value *b, enum bz_expr_tok op,
                          struct bz_expr_value *out)
{
    static const struct bz_expr_seq nothing = {0};
    struct bz_expr_seq *set;
    int rc = bz_expr_value_new_seq(r, 0, &set);

    if (rc < 0)
        return rc;
    *out = bz_expr_value_seq(BZ_EXPR_SET, set);
    if (op == BZ_EXPR_TOK_AMP)
        return add_some(r, set, a->seq, b->seq, true);
    if (op == BZ_EXPR_TOK_BAR)
        rc = add_some(r, set, a->seq, &nothing, false);
    else
        rc = add_some(r, set, a->seq, b->seq, false);
    if (rc == 0 && op != BZ_EXPR_TOK_MINUS)
        rc = add_some(r, set, b->seq, op == BZ_EXPR_TOK_BAR ? &nothing : a->seq, false);
    return rc;
}

int bz_expr_table_subset(struct bz_expr_run *r, const struct bz_expr_seq *a,
                         const struct bz_expr_seq *b, bool *out)
{
    size_t i, at = 0;
    int rc = bz_expr_value_charge(r, a->len);

    *out = false;
    for (i = 0; rc == 0 && i < a->len; i++) {
        rc = bz_expr_table_find(r, b, &a->at[i], &at);
        if (rc < 0 || at == b->len)
            return rc;
    }
    *out = true;
    return rc;
}

int bz_expr_table_equal(struct bz_expr_run *r, const struct bz_expr_value *a,
                        const struct bz_expr_value *b, bool *out)
{
    const struct bz_expr_seq *x = a->seq, *y = b->seq;
    size_t i, at;
    int rc;

    *out = false;
    if (x->len != y->len)
        return 0;
    rc = bz_expr_table_subset(r, x, y, out);
    if (a->kind == BZ_EXPR_SET)
        return rc;
    for (i = 0; rc == 0 && *out && i < x->len; i++) {
        rc = bz_expr_table_find(r, y, &x->at[i], &at);
        if (rc == 0)
            rc = bz_expr_value_equal(r, &x->values[i], &y->values[at], out);
    }
    return rc;
}
