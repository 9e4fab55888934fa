#include "recipe/meta_table.h"

#include "recipe/finalize.h"
#include "tests/unit/recipe/files.h"
#include "tests/unit/recipe/observe_meta.h"

/* A recipe with something in every list. */
static struct bz_finalize *evaluate(struct world *w)
{
    static const struct file files[] = {
        {"classes/one.bbclass",
         "X ?= \"class\"\ninherit_defer two\nEXPORT_FUNCTIONS do_fetch\n"
         "python one_do_fetch() {\n    pass\n}\naddtask fetch\n"                       },
        {"classes/two.bbclass", "Y = \"two\"\n"                                        },
        {"test.bb",             "inherit one\nPN = \"test\"\n"
                    "python () {\n    d.setVar('Z', '1')\n}\n"
                    "python say() {\n    pass\n}\naddhandler say\n"
                    "def twice(x):\n    return x * 2\n"
                    "do_build() {\n    :\n}\naddtask build after do_fetch\n"
                    "addtask clean before do_build\ndeltask clean\n"
                    "python do_fetch:append() {\n    pass\n}\n"
                    "BBCLASSEXTEND = \"two\"\ninclude nothing.inc\n"},
    };
    struct bz_finalize_opts opts = {.path = at(w, "test.bb")};
    struct bz_finalize *f = NULL;

    put_files(w, files, BZ_COUNTOF(files));
    w->meta->complete = true;
    assert_ok(bz_finalize_recipe(w->meta, w->library, &opts, &f, &w->err), &w->err);
    assert_int_equal(f->variants.len, 2);
    f->variants.at[1].meta->skipped = BZ_STR("not for this machine");
    BZ_VEC_PUSH(&f->read->pylibs,
                (struct bz_meta_pylib){BZ_STR("/layer/lib"), BZ_STR("mine")});
    return f;
}

static void assert_same(struct world *w, const struct bz_meta *m, struct bz_str table,
                        struct bz_str pool)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf before = {0}, after = {0};
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *restored = NULL;

    assert_ok(bz_meta_table_read(table, pool, m->config, &restored, &w->err), &w->err);
    observe_meta(m, &before);
    observe_meta(restored, &after);
    assert_string_equal(bz_buf_text(&before), bz_buf_text(&after));
    assert_ptr_equal(restored->config, m->config);
    assert_var(restored, "X", "class");
}

static void lists_and_variables_come_back(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = evaluate(w);
    struct bz_meta *metas[] = {f->read, f->variants.at[0].meta, f->variants.at[1].meta};
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool strings = {0};
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool other = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf pool = {0}, moved_pool = {0};
    struct bz_buf tables[3] = {0}, moved[3] = {0};
    struct bz_vars_table_move move = {.to = &other};

    assert_true(f->read->bodies.len > 0 && f->read->deferred.len > 0);
    assert_true(f->read->handlers.len > 0 && f->read->anonymous.len > 0);
    for (size_t i = 0; i < 3; i++)
        bz_meta_table_write(metas[i], &strings, &tables[i]);
    assert_ok(bz_string_pool_write(&strings, &pool, &w->err), &w->err);
    move.from = bz_buf_str(&pool);
    for (size_t i = 3; i-- > 0;) {
        assert_same(w, metas[i], bz_buf_str(&tables[i]), bz_buf_str(&pool));
        assert_ok(bz_meta_table_move(&move, bz_buf_str(&tables[i]), &moved[i], &w->err),
                  &w->err);
    }
    assert_ok(bz_string_pool_write(&other, &moved_pool, &w->err), &w->err);
    for (size_t i = 0; i < 3; i++) {
        assert_same(w, metas[i], bz_buf_str(&moved[i]), bz_buf_str(&moved_pool));
        bz_buf_release(&tables[i]);
        bz_buf_release(&moved[i]);
    }
    bz_vars_table_move_release(&move);
}

static void damaged_bytes_are_refused_or_harmless(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = evaluate(w);
    const struct bz_meta *m = f->variants.at[0].meta;
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool strings = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf pool = {0}, table = {0};

    bz_meta_table_write(m, &strings, &table);
    assert_ok(bz_string_pool_write(&strings, &pool, &w->err), &w->err);
    for (size_t n = 0; n < table.len; n++) {
        struct bz_meta *restored = NULL;

        assert_int_equal(bz_meta_table_read(bz_str_of(table.data, n), bz_buf_str(&pool),
                                            m->config, &restored, &w->err),
                         BZ_E_CORRUPT);
    }
    for (size_t i = 0; i < table.len + pool.len; i++) {
        char *byte = i < table.len ? &table.data[i] : &pool.data[i - table.len];
        char bit = (char)(1 << i % 8);
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
        struct bz_meta *restored = NULL;
        int rc;

        *byte = (char)(*byte ^ bit);
        rc = bz_meta_table_read(bz_buf_str(&table), bz_buf_str(&pool), m->config,
                                &restored, &w->err);
        assert_true(rc == 0 || rc == BZ_E_CORRUPT);
        if (rc == 0)
            observe_meta(restored, &out);
        bz_meta_free(restored);
        *byte = (char)(*byte ^ bit);
    }
    table.data[4] = BZ_META_TABLE_FORMAT + 1;
    {
        struct bz_meta *restored = NULL;

        assert_int_equal(bz_meta_table_read(bz_buf_str(&table), bz_buf_str(&pool),
                                            m->config, &restored, &w->err),
                         BZ_E_CORRUPT);
        assert_non_null(strstr(w->err.msg, "format 2"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(lists_and_variables_come_back),
        world_test(damaged_bytes_are_refused_or_harmless),
    };

    return cmocka_run_group_tests_name("recipe/meta_table", tests, NULL, NULL);
}
