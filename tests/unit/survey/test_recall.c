#include "survey/recall.h"

#include "tests/unit/survey/sample.h"

static void a_recipe_is_recalled_while_nothing_changed(void **state)
{
    static const uint8_t digest[32] = {1, 2, 3}, other[32] = {3, 2, 1};
    struct world *w = *state;
    struct bz_library_look look = {.path = at(w, "x.inc")};
    const struct bz_library_look *looks[] = {&look};
    struct bz_entries catalog;
    struct bz_recall r = {0};
    struct bz_recall_part part;
    struct bz_recall_recipe recipe;
    struct bz_hashing hashing = {0};
    struct bz_facts frame = sample_facts[1];
    uint32_t number = 9;

    bz_entries_open(&catalog, NULL, "");
    sample_base(&catalog, looks, 1);
    bz_recall_open(&r, &catalog, SAMPLE_KEY, &hashing);
    assert_true(bz_recall_is_open(&r));
    assert_true(r.same_key);
    assert_false(bz_recall_whole(&r)); /* one recipe has an error */
    bz_recall_part(&r, BZ_STR(""), other, &part);
    assert_null(part.record);
    bz_recall_part(&r, BZ_STR("mc"), digest, &part);
    assert_null(part.record);
    bz_recall_part(&r, BZ_STR(""), digest, &part);
    assert_non_null(part.record);

    frame.priority = 9;
    frame.hidden = true;
    assert_true(bz_recall_recipe(&r, &part, &frame, &w->arena, &recipe));
    assert_true(recipe.reframed);
    assert_true(bz_recall_number(&part, frame.path, &number));
    assert_int_equal(number, 0);
    assert_int_equal(recipe.nfacts, 2);
    assert_text("PN", recipe.facts[0].pn, "foo-native");
    assert_int_equal(recipe.facts[0].priority, 9); /* that is not its own */
    assert_true(recipe.facts[1].hidden);
    assert_int_equal(recipe.nlooks, 1);
    assert_text("path", recipe.looks[0]->path, look.path.p);

    frame.appends = BZ_STR("/l/foo.bbappend");
    assert_false(bz_recall_recipe(&r, &part, &frame, &w->arena, &recipe));
    frame.appends = BZ_STR("");
    frame.layer = BZ_STR("two");
    assert_false(bz_recall_recipe(&r, &part, &frame, &w->arena, &recipe));
    frame.layer = (struct bz_str){0};
    assert_false(bz_recall_recipe(&r, &part, &frame, &w->arena, &recipe));
    frame.layer = BZ_STR("one");
    frame.path = BZ_STR("/l/bad.bb"); /* an error is not recalled */
    assert_false(bz_recall_recipe(&r, &part, &frame, &w->arena, &recipe));
    frame.path = BZ_STR("/l/new.bb");
    assert_false(bz_recall_recipe(&r, &part, &frame, &w->arena, &recipe));
    bz_recall_part_release(&part);
    bz_recall_close(&r);

    put_file(w, "x.inc", ""); /* it was not there */
    bz_recall_open(&r, &catalog, BZ_STR("another key"), &hashing);
    assert_false(r.same_key);
    bz_recall_part(&r, BZ_STR(""), digest, &part);
    assert_false(bz_recall_recipe(&r, &part, &sample_facts[1], &w->arena, &recipe));
    bz_recall_part_release(&part);
    bz_recall_close(&r);
    bz_entries_close(&catalog);
    bz_hashing_release(&hashing);
}

static void without_a_base_nothing_is_recalled(void **state)
{
    static const struct bz_entries_key key;
    struct bz_entries catalog;
    struct bz_recall r = {0};
    struct bz_hashing hashing = {0};

    (void)state;
    bz_entries_open(&catalog, NULL, "");
    bz_recall_open(&r, &catalog, SAMPLE_KEY, &hashing);
    assert_false(bz_recall_is_open(&r));
    assert_false(bz_recall_whole(&r));
    bz_entries_put(&catalog, BZ_DELTAS_BASE_KIND, &key, BZ_STR("no image at all"));
    bz_recall_open(&r, &catalog, SAMPLE_KEY, &hashing);
    assert_false(bz_recall_is_open(&r));
    bz_recall_close(&r);
    bz_entries_close(&catalog);
    bz_hashing_release(&hashing);
}

static void stamps_are_renewed(void **state)
{
    struct world *w = *state;
    struct bz_library_look look = {.path = at(w, "f"), .read = true};
    const struct bz_library_look *looks[] = {&look};
    struct bz_hashing hashing = {0};
    struct bz_entries catalog;
    struct bz_entries_key renewed;
    struct bz_recall r = {0};

    put_file(w, "f", "text");
    bz_stamp_path(w->dir->fd, "f", &look.stamp);
    bz_hashing_bytes(&hashing, BZ_STR("text"), look.content);
    look.stamp.ctime--;
    bz_entries_open(&catalog, NULL, "");
    sample_base(&catalog, looks, 1);
    bz_recall_open(&r, &catalog, SAMPLE_KEY, &hashing);
    assert_int_equal(r.inputs.nchanged, 0);
    assert_int_equal(r.inputs.nrenewed, 1);
    bz_recall_renew(&r, &catalog);
    renewed = r.old.last;
    bz_recall_close(&r);
    bz_recall_open(&r, &catalog, SAMPLE_KEY, &hashing);
    assert_int_equal(r.old.images.len, 2);
    assert_memory_equal(&r.old.last, &renewed, sizeof(renewed));
    assert_int_equal(r.inputs.n, 2);
    assert_text("path", r.inputs.looks[0].path, look.path.p);
    assert_int_equal(r.inputs.looks[0].stamp.ctime, look.stamp.ctime + 1);
    assert_int_equal(r.inputs.nrenewed, 0);
    bz_recall_renew(&r, &catalog); /* there is nothing to do */
    assert_memory_equal(&r.old.last, &renewed, sizeof(renewed));
    bz_recall_close(&r);
    bz_entries_close(&catalog);
    bz_hashing_release(&hashing);
}

static void digest_of(struct world *w, uint8_t out[32])
{
    struct bz_recall_config c = {.digest = {0}};

    assert_ok(bz_recall_config(w->meta, &c, &w->err), &w->err);
    memcpy(out, c.digest, 32);
    bz_buf_release(&c.settings);
}

static void whatever_a_configuration_says_is_in_its_digest(void **state)
{
    struct world *w = *state;
    uint8_t before[32], after[32];

    set_var(w->meta, "BB_HASHCONFIG_IGNORE_VARS", "DATE ${OTHER}");
    set_var(w->meta, "OTHER", "TIME");
    set_var(w->meta, "DATE", "1");
    digest_of(w, before);
    set_var(w->meta, "DATE", "2");
    set_var(w->meta, "TIME", "3");
    digest_of(w, after);
    assert_memory_equal(before, after, 32);
    for (int i = 0; i < 6; i++) {
        switch (i) {
        case 0:
            set_var(w->meta, "A", "1");
            break;
        case 1:
            bz_taskdef_add(&w->meta->tasks, &w->meta->arena, BZ_STR("t"), BZ_STR(""),
                           BZ_STR("u"), NULL);
            break;
        case 2:
            BZ_VEC_PUSH(&w->meta->inherited, BZ_STR("/c.bbclass"));
            break;
        case 3:
            BZ_VEC_PUSH(&w->meta->handlers, BZ_STR("h"));
            break;
        case 4:
            BZ_VEC_PUSH(&w->meta->anonymous, BZ_STR("h"));
            break;
        default:
            BZ_VEC_PUSH(&w->meta->deferred,
                        (struct bz_meta_deferred){BZ_STR("d"), "f", 3});
        }
        digest_of(w, after);
        assert_memory_not_equal(before, after, 32);
        memcpy(before, after, 32);
    }
}

static void what_does_not_count_is_in_the_digest_of_all(void **state)
{
    struct world *w = *state;
    struct bz_recall_config a = {.digest = {0}}, b = a;

    set_var(w->meta, "BB_HASHCONFIG_IGNORE_VARS", "DATE");
    set_var(w->meta, "DATE", "1");
    assert_ok(bz_recall_config(w->meta, &a, &w->err), &w->err);
    set_var(w->meta, "DATE", "2");
    assert_ok(bz_recall_config(w->meta, &b, &w->err), &w->err);
    assert_memory_equal(a.digest, b.digest, 32);
    assert_memory_not_equal(a.all, b.all, 32);
    bz_buf_release(&a.settings);
    bz_buf_release(&b.settings);
    set_var(w->meta, "BB_HASHCONFIG_IGNORE_VARS", "DATE PATH A");
    set_var(w->meta, "BB_BASEHASH_IGNORE_VARS", "A DATE");
    assert_ok(bz_recall_config(w->meta, &a, &w->err), &w->err);
    set_var(w->meta, "PATH", "/bin");
    set_var(w->meta, "DATE", "3");
    assert_ok(bz_recall_config(w->meta, &b, &w->err), &w->err);
    assert_memory_equal(a.all, b.all, 32); /* neither read nor signed */
    set_var(w->meta, "A", "1");            /* which code may read */
    bz_buf_release(&b.settings);
    assert_ok(bz_recall_config(w->meta, &b, &w->err), &w->err);
    assert_memory_not_equal(a.all, b.all, 32);
    bz_buf_release(&a.settings);
    bz_buf_release(&b.settings);
}

static void settings_are_a_store_again(void **state)
{
    struct world *w = *state;
    struct bz_recall_config c = {.digest = {0}};
    struct bz_vars *v;
    struct bz_str value;

    set_var(w->meta, "OVERRIDES", "o");
    set_var(w->meta, "PREFERRED_VERSION_x", "${V}");
    set_var(w->meta, "V", "1");
    set_var(w->meta, "V:o", "2");
    assert_ok(bz_recall_config(w->meta, &c, &w->err), &w->err);
    assert_ok(bz_recall_settings(bz_buf_str(&c.settings), &v, &w->err), &w->err);
    assert_ok(bz_vars_get(v, BZ_STR("PREFERRED_VERSION_x"), 0, &value, &w->err),
              &w->err);
    assert_text("PREFERRED_VERSION_x", value, "2");
    bz_vars_free(v);
    for (size_t n = 1; n < c.settings.len; n += 7) {
        int rc = bz_recall_settings(bz_str_of(c.settings.data, n), &v, &w->err);

        if (rc == 0) /* cut between two records */
            bz_vars_free(v);
        else
            assert_int_equal(rc, BZ_E_CORRUPT);
    }
    bz_buf_release(&c.settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_recipe_is_recalled_while_nothing_changed),
        world_test(without_a_base_nothing_is_recalled),
        world_test(stamps_are_renewed),
        world_test(what_does_not_count_is_in_the_digest_of_all),
        world_test(whatever_a_configuration_says_is_in_its_digest),
        world_test(settings_are_a_store_again),
    };

    return cmocka_run_group_tests_name("survey/recall", tests, NULL, NULL);
}
