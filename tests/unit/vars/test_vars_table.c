#include "vars/vars_table.h"

#include <stdio.h>

#include "base/log.h"
#include "tests/unit/bz_test.h"
#include "tests/unit/vars/observe.h"

enum {
    STORES = 12,  /* random ones */
    CHANGES = 40, /* in each level of a store */
    LEVELS = 4,
};

/* ---- random stores ---- */

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *d, size_t n)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return (uint32_t)((d->state >> 11) % n);
}

static const char *pick(struct dice *d, const char *const *from, size_t n)
{
    return from[roll(d, n)];
}
#define PICK(d, from) pick((d), (from), BZ_COUNTOF(from))

static const char *const bases[] = {"A",         "B",    "C",      "D",
                                    "OVERRIDES", "FILE", "DISTRO", "N_${A}"};
static const char *const overrides[] = {
    "",      "",      "",        ":o1", ":o2", ":x",         ":o1:x",
    ":x:o2", ":${A}", ":task-t", ":o1", ":1",  ":task-t:o1", ":X"};
static const char *const keywords[] = {"",        "",         "",       "",
                                       ":append", ":prepend", ":remove"};
static const char *const values[] = {
    "",
    "x",
    "o1",
    "one two x three",
    "${A} two",
    "${B}${C}",
    "${D} ${UNSET}",
    "x:o1:${DISTRO}",
    "${@d.getVar('B') or 'none'}",
    "${@bb.utils.contains('C', 'x', 'yes', 'no', d)}",
    "${OVERRIDES}",
    "${@time.strftime('%Y', time.gmtime())}",
    "${@os.getuid()}",
    "1",
    "no",
    "line\n  and line\n",
    "${A",
};
static const char *const flags[] = {
    "export",  "unexport", "doc", "func", "_defaultval", "_defaultval_flag_doc",
    "vardeps",
};
static const char *const files[] = {"/layer/a.bb", "/layer/classes/b.bbclass"};

/* Changes that are not made to a store from a table: its header names the exceptions.
 */
enum {
    NO_LEVELS = 1, /* several levels became one */
    NO_CLOCK = 2,  /* which names were read is not known */
};

struct change {
    struct dice *d;
    struct bz_vars *v;
    char name[64], other[64];
    struct bz_str value;
    struct bz_vars_at at;
    unsigned without;
};

/* Each change is made to several stores; what it says of them must be the same. */
static int change_flag(struct change *c, struct bz_err *err)
{
    struct bz_str name = bz_str_from(c->name), flag = bz_str_from(PICK(c->d, flags));

    if ((c->without & NO_LEVELS) &&
        bz_str_ends(flag, BZ_STR("export"))) /* a matter of order */
        flag = BZ_STR("doc");
    switch (roll(c->d, 8)) {
    case 0:
        return bz_vars_append_flag(c->v, name, flag, c->value, &c->at, err);
    case 1:
        return bz_vars_prepend_flag(c->v, name, flag, c->value, &c->at, err);
    case 2:
        bz_vars_del_flag(c->v, name, flag, &c->at);
        return 0;
    case 3:
        if (!(c->without & NO_LEVELS))
            bz_vars_del_flags(c->v, name, &c->at);
        return 0;
    case 4: /* NULL is a value, too */
        return bz_vars_set_flag(c->v, name, flag, (struct bz_str){0}, &c->at, err);
    default:
        return bz_vars_set_flag(c->v, name, flag, c->value, &c->at, err);
    }
}

static int change_rarely(struct change *c, struct bz_err *err)
{
    static const char *const filters[] = {"suffix(val, '!')", "val + 'f'", ""};
    struct bz_str name = bz_str_from(c->name), ignored;

    switch (roll(c->d, 9)) {
    case 0:
        bz_vars_set_filter(c->v, bz_str_from(PICK(c->d, bases)),
                           bz_str_from(PICK(c->d, filters)));
        return 0;
    case 1:
        bz_vars_set_filter(c->v, bz_str_from(PICK(c->d, bases)), (struct bz_str){0});
        return 0;
    case 2:
        if (!(c->without & NO_CLOCK))
            bz_vars_note_clock(c->v, name);
        return 0;
    case 3:
        bz_vars_set_clock(c->v, 1000000000 + (int64_t)roll(c->d, 1000));
        return 0;
    case 4:
        return bz_vars_set_flag(c->v, BZ_STR("BB_RENAMED_VARIABLES"),
                                bz_str_from(roll(c->d, 2) ? "R1" : "R2"), c->value,
                                &c->at, err);
    case 5:
        return bz_vars_set(c->v, bz_str_from(roll(c->d, 2) ? "R1" : "R2"), c->value, 0,
                           &c->at, err);
    case 6:
        return bz_vars_set(c->v, name, (struct bz_str){0}, 0, &c->at, err);
    default:
        return bz_vars_get(c->v, name, 0, &ignored, err);
    }
}

static int change_once(struct change *c, struct bz_err *err)
{
    struct bz_str name = bz_str_from(c->name);

    switch (roll(c->d, 14)) {
    case 0:
        return bz_vars_del(c->v, name, &c->at, err);
    case 1:
        return bz_vars_rename(c->v, name, bz_str_from(c->other), &c->at, err);
    case 2:
        return bz_vars_append(c->v, name, c->value, &c->at, err);
    case 3:
        return bz_vars_prepend(c->v, name, c->value, &c->at, err);
    case 4:
        return bz_vars_set(c->v, name, c->value, 0, &c->at, err);
    case 5:
        return roll(c->d, 4) ? 0 : bz_vars_expand_keys(c->v, err);
    case 6:
    case 7:
    case 8:
        return change_flag(c, err);
    case 9:
        return change_rarely(c, err);
    default:
        return bz_vars_set(c->v, name, c->value, BZ_VARS_SET_PARSING, &c->at, err);
    }
}

/* Makes random changes; `out` says how they ended. */
static void change_store(struct bz_vars *v, uint64_t seed, unsigned without,
                         struct bz_buf *out)
{
    struct dice d = {seed * 0x9e3779b97f4a7c15u + 1};

    for (int i = 0; i < CHANGES; i++) {
        struct change c = {.d = &d, .v = v, .without = without};
        struct bz_err err = {.msg = ""};
        int rc;

        snprintf(c.name, sizeof(c.name), "%s%s%s", PICK(&d, bases), PICK(&d, overrides),
                 PICK(&d, keywords));
        snprintf(c.other, sizeof(c.other), "%s%s", PICK(&d, bases),
                 PICK(&d, overrides));
        c.value = bz_str_from(PICK(&d, values));
        c.at = (struct bz_vars_at){.file = roll(&d, 6) ? PICK(&d, files) : NULL,
                                   .line = roll(&d, 1000)};
        if (roll(&d, 8) == 0)
            c.at.detail = BZ_STR("as it was written");
        rc = change_once(&c, &err);
        bz_buf_addf(out, "%s: %d %s\n", c.name, rc, rc < 0 ? err.msg : "");
    }
}

/* ---- comparison ---- */

static void assert_same_text(const struct bz_buf *a, const struct bz_buf *b,
                             const char *what, uint64_t seed)
{
    struct bz_str one, two;

    if (bz_str_eq(bz_buf_str(a), bz_buf_str(b)))
        return;
    one = observe_difference(bz_buf_str(a), bz_buf_str(b), &two);
    fail_msg("store %llu, %s: '%.*s' became '%.*s'", (unsigned long long)seed, what,
             BZ_STR_ARG(one), BZ_STR_ARG(two));
}

/* Asks both the same, and both copies; changes the copies alike; then the stores. */
static void assert_same_store(struct bz_vars *v, struct bz_vars *restored,
                              bool one_level, uint64_t seed)
{
    struct bz_vars *stores[2] = {v, restored};
    struct bz_buf before[2] = {0}, copy[2] = {0}, after[2] = {0};
    BZ_CLEANUP(bz_vec_release) struct observe_names names = {0};

    observe_all_names(v, &names);
    for (int i = 0; i < 2; i++) {
        struct bz_vars *child;

        observe_counts(stores[i], &before[i]);
        observe_notes(stores[i], &before[i]);
        child = bz_vars_new(stores[i]);
        observe_store(child, &names, &copy[i]);
        change_store(child, seed + 7, 0, &copy[i]);
        observe_store(child, &names, &copy[i]);
        bz_vars_free(child);
        observe_kept(stores[i], &names, &copy[i]);
        observe_store(stores[i], &names, &before[i]);
        if (!v->parent)
            observe_records(stores[i], &before[i]);
        change_store(stores[i], seed + 8, NO_CLOCK | (one_level ? 0 : NO_LEVELS),
                     &after[i]);
        observe_store(stores[i], &names, &after[i]);
    }
    assert_same_text(&before[0], &before[1], "the store", seed);
    assert_same_text(&copy[0], &copy[1], "a copy", seed);
    assert_same_text(&after[0], &after[1], "the store, changed", seed);
    for (int i = 0; i < 2; i++) {
        bz_buf_release(&before[i]);
        bz_buf_release(&copy[i]);
        bz_buf_release(&after[i]);
    }
}

/* A table and its pool. */
struct written {
    struct bz_buf table, pool;
};

static void written_release(struct written *w)
{
    bz_buf_release(&w->table);
    bz_buf_release(&w->pool);
}

static void write_table(const struct bz_vars *v, const struct bz_vars *ancestor,
                        struct written *w)
{
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool pool = {0};
    struct bz_err err;

    bz_string_pool_add(&pool, BZ_STR("of another table"));
    bz_vars_table_write(v, ancestor, &pool, &w->table);
    assert_ok(bz_string_pool_write(&pool, &w->pool, &err), &err);
}

static struct bz_vars *read_table(const struct written *w, const struct bz_vars *parent)
{
    struct bz_vars *v = NULL;
    struct bz_err err;

    assert_ok(bz_vars_table_read(bz_buf_str(&w->table), bz_buf_str(&w->pool), parent,
                                 &v, &err),
              &err);
    return v;
}

/* A store with so many levels; the first has no parent. */
struct tower {
    struct bz_vars *levels[LEVELS];
    size_t n;
};

static struct bz_vars *first_level(void)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err;

    bz_vars_set_clock(v, 1000000000);
    assert_ok(bz_vars_set(v, BZ_STR("OVERRIDES"), BZ_STR("x:o1:${DISTRO}"),
                          BZ_VARS_SET_PARSING, NULL, &err),
              &err);
    return v;
}

static void tower_build(struct tower *t, size_t n, uint64_t seed)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf ignored = {0};

    *t = (struct tower){.n = n};
    for (size_t i = 0; i < n; i++) {
        t->levels[i] = i > 0 ? bz_vars_new(t->levels[i - 1]) : first_level();
        change_store(t->levels[i], seed * LEVELS + i, 0, &ignored);
    }
}

static void tower_release(struct tower *t)
{
    while (t->n > 0)
        bz_vars_free(t->levels[--t->n]);
}

/* Over the parent that it was written for, and over one that was itself written and
 * read. `below` levels belong to the parent. */
static void check_tower(size_t levels, size_t below, bool read_parent, uint64_t seed)
{
    struct tower t;
    struct written table = {0}, parent_table = {0};
    struct bz_vars *v, *parent, *restored, *restored_parent = NULL;

    tower_build(&t, levels, seed);
    v = t.levels[levels - 1];
    parent = below > 0 ? t.levels[below - 1] : NULL;
    write_table(v, parent, &table);
    if (parent && read_parent) {
        write_table(parent, NULL, &parent_table);
        restored_parent = read_table(&parent_table, NULL);
    }
    restored = read_table(&table, restored_parent ? restored_parent : parent);
    assert_same_store(v, restored, levels - below == 1, seed);
    bz_vars_free(restored);
    bz_vars_free(restored_parent);
    written_release(&table);
    written_release(&parent_table);
    tower_release(&t);
}

static void a_whole_store_comes_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < STORES; seed++)
        check_tower(1, 0, false, seed);
}

static void a_difference_comes_back_over_its_parent(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < STORES; seed++)
        check_tower(2, 1, false, seed);
}

static void a_difference_comes_back_over_a_restored_parent(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < STORES; seed++)
        check_tower(2 + seed % 2, 1 + seed % 2, true, seed);
}

static void levels_in_between_become_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < STORES; seed++)
        check_tower(4, seed % 3, seed % 2, seed);
}

static void writing_what_was_read_gives_the_same_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < STORES; seed++) {
        struct written first = {0}, second = {0}, third = {0};
        struct bz_vars *restored, *again;
        struct tower t;

        tower_build(&t, 3, seed);
        write_table(t.levels[2], t.levels[0], &first);
        restored = read_table(&first, t.levels[0]);
        write_table(restored, t.levels[0], &second);
        again = read_table(&second, t.levels[0]);
        write_table(again, t.levels[0], &third);
        /* The second has an order of its own, that of the first table. */
        assert_int_equal(first.pool.len, second.pool.len);
        assert_true(bz_str_eq(bz_buf_str(&third.pool), bz_buf_str(&second.pool)));
        assert_true(bz_str_eq(bz_buf_str(&third.table), bz_buf_str(&second.table)));
        bz_vars_free(again);
        bz_vars_free(restored);
        written_release(&first);
        written_release(&second);
        written_release(&third);
        tower_release(&t);
    }
}

/* ---- a pool that tables share ---- */

static void set(struct bz_vars *v, const char *name, const char *value)
{
    struct bz_vars_at at = {.file = "/layer/classes/c.bbclass", .line = 7};
    struct bz_err err;

    assert_ok(bz_vars_set(v, bz_str_from(name), bz_str_from(value), BZ_VARS_SET_PARSING,
                          &at, &err),
              &err);
}

static void equal_variables_are_stored_once(void **state)
{
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool pool = {0};
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *config = bz_vars_new(NULL);
    size_t first = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = bz_vars_new(config);
        BZ_CLEANUP(bz_buf_release) struct bz_buf table = {0};
        char name[32];

        for (int k = 0; k < 100; k++) {
            snprintf(name, sizeof(name), "do_step_%d", k);
            set(v, name, "a function of a class");
        }
        snprintf(name, sizeof(name), "recipe%d", i);
        set(v, "PN", name);
        bz_vars_table_write(v, config, &pool, &table);
        assert_true(table.len < 150);
        if (i == 0)
            first = pool.block.len;
    }
    assert_true(pool.block.len < first + (size_t)99 * 50);
}

/* ---- what is refused ---- */

static int try_read(struct bz_str table, struct bz_str pool,
                    const struct bz_vars *parent, struct bz_err *err)
{
    struct bz_vars *v = NULL;
    int rc = bz_vars_table_read(table, pool, parent, &v, err);

    bz_vars_free(v);
    return rc;
}

static void other_formats_are_refused(void **state)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = bz_vars_new(NULL);
    struct written w = {0};
    struct bz_err err;

    (void)state;
    set(v, "A", "a");
    write_table(v, NULL, &w);
    for (int format = 0; format < 128; format++) {
        w.table.data[4] = (char)format;
        assert_int_equal(
            try_read(bz_buf_str(&w.table), bz_buf_str(&w.pool), NULL, &err),
            format == BZ_VARS_TABLE_FORMAT ? 0 : BZ_E_CORRUPT);
    }
    assert_non_null(strstr(err.msg, "format 127"));
    w.table.data[4] = BZ_VARS_TABLE_FORMAT;
    w.table.data[0] = 'x';
    assert_int_equal(try_read(bz_buf_str(&w.table), bz_buf_str(&w.pool), NULL, &err),
                     BZ_E_CORRUPT);
    w.table.data[0] = 'b';
    w.pool.data[6] = '2';
    assert_int_equal(try_read(bz_buf_str(&w.table), bz_buf_str(&w.pool), NULL, &err),
                     BZ_E_CORRUPT);
    written_release(&w);
}

static void a_difference_needs_a_parent_and_a_whole_store_none(void **state)
{
    struct written whole = {0}, difference = {0};
    struct bz_err err;
    struct tower t;

    (void)state;
    tower_build(&t, 2, 1);
    write_table(t.levels[1], NULL, &whole);
    write_table(t.levels[1], t.levels[0], &difference);
    assert_int_equal(
        try_read(bz_buf_str(&whole.table), bz_buf_str(&whole.pool), t.levels[0], &err),
        BZ_E_CORRUPT);
    assert_int_equal(try_read(bz_buf_str(&difference.table),
                              bz_buf_str(&difference.pool), NULL, &err),
                     BZ_E_CORRUPT);
    written_release(&whole);
    written_release(&difference);
    tower_release(&t);
}

static void damaged_bytes_are_refused_or_harmless(void **state)
{
    struct written w = {0};
    struct bz_err err;
    struct tower t;

    (void)state;
    tower_build(&t, 2, 3);
    write_table(t.levels[1], t.levels[0], &w);
    for (size_t n = 0; n < w.table.len; n++)
        assert_int_equal(try_read(bz_str_of(w.table.data, n), bz_buf_str(&w.pool),
                                  t.levels[0], &err),
                         BZ_E_CORRUPT);
    /* The last string may be one that is not needed any more. */
    for (size_t n = 0; n < w.pool.len / 2; n++)
        assert_int_equal(try_read(bz_buf_str(&w.table), bz_str_of(w.pool.data, n),
                                  t.levels[0], &err),
                         BZ_E_CORRUPT);
    for (size_t i = 0; i < w.table.len + w.pool.len; i++) {
        char *byte = i < w.table.len ? &w.table.data[i] : &w.pool.data[i - w.table.len];

        char bit = (char)(1 << i % 8);
        int rc;

        *byte = (char)(*byte ^ bit);
        rc = try_read(bz_buf_str(&w.table), bz_buf_str(&w.pool), t.levels[0], &err);
        assert_true(rc == 0 || rc == BZ_E_CORRUPT);
        *byte = (char)(*byte ^ bit);
    }
    written_release(&w);
    tower_release(&t);
}

/* ---- */

static void drop_line(void *ctx, enum bz_log_level level, const char *line, size_t n)
{
    (void)ctx;
    (void)level;
    (void)line;
    (void)n;
}

int main(void)
{
    static const struct bz_log_sink quiet = {drop_line, NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_store_comes_back),
        cmocka_unit_test(a_difference_comes_back_over_its_parent),
        cmocka_unit_test(a_difference_comes_back_over_a_restored_parent),
        cmocka_unit_test(levels_in_between_become_one),
        cmocka_unit_test(writing_what_was_read_gives_the_same_bytes),
        cmocka_unit_test(equal_variables_are_stored_once),
        cmocka_unit_test(other_formats_are_refused),
        cmocka_unit_test(a_difference_needs_a_parent_and_a_whole_store_none),
        cmocka_unit_test(damaged_bytes_are_refused_or_harmless),
    };

    bz_log_set_sink(&quiet);
    return cmocka_run_group_tests_name("vars/vars_table", tests, NULL, NULL);
}
