#include "cache/action.h"

#include "tests/unit/cache/store.h"

static const struct bz_digest key = {
    {0xcd, 1}
};

static struct bz_reapi_result result(struct bz_reapi_outdir *dir, int32_t code)
{
    *dir = (struct bz_reapi_outdir){
        .path = BZ_STR("d"), .tree = {{{9}}, 10}
    };
    return (struct bz_reapi_result){.dirs = dir, .ndirs = 1, .exit_code = code};
}

static enum bz_action_put put_code(struct store *s, int32_t code)
{
    struct bz_reapi_outfile f = {.path = BZ_STR("f"), .digest = store_text(s, "text")};
    struct bz_reapi_result r = {.files = &f, .nfiles = 1, .exit_code = code};
    enum bz_action_put how;

    assert_ok(bz_action_put(s->cas, s->h, &key, &r, &how, &s->err), &s->err);
    return how;
}

static int get(struct store *s, enum bz_action_from from, int32_t *code)
{
    struct bz_arena a = {0};
    struct bz_reapi_result r;
    int rc = bz_action_get(s->cas, s->h, &key, from, &a, &r, &s->err);

    if (rc == 0)
        *code = r.exit_code;
    bz_arena_release(&a);
    return rc;
}

static void a_result_is_found_by_its_key(void **state)
{
    struct store *s = *state;
    char path[128];
    int32_t code = 0;

    assert_false(bz_action_has(s->cas, &key));
    assert_int_equal(get(s, BZ_ACTION_OURS, &code), BZ_E_NOENT);
    assert_int_equal(put_code(s, 5), BZ_ACTION_STORED);
    assert_true(bz_action_has(s->cas, &key));
    assert_ok(get(s, BZ_ACTION_OURS, &code), &s->err);
    assert_int_equal(code, 5);
    assert_true(bz_fs_exists(s->dir, store_path("ac", &key, path)));
    assert_int_equal(store_temps(s), 0);
}

static void the_first_result_of_a_key_stays(void **state)
{
    struct store *s = *state;
    int32_t code = 0;

    assert_int_equal(put_code(s, 5), BZ_ACTION_STORED);
    assert_int_equal(put_code(s, 5), BZ_ACTION_SAME);
    assert_int_equal(put_code(s, 300), BZ_ACTION_DIFFERENT);
    assert_ok(get(s, BZ_ACTION_OURS, &code), &s->err);
    assert_int_equal(code, 5);
    assert_int_equal(store_bad(s), 0);
}

/* A task that is not reproducible would be run again and again. */
static void a_first_result_whose_blobs_are_gone_gives_way(void **state)
{
    struct bz_reapi_outdir dir;
    struct bz_reapi_result r = result(&dir, 4); /* its tree is nowhere */
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "other");
    struct bz_reapi_outfile f = {.path = BZ_STR("f"), .digest = d};
    enum bz_action_put how;
    char path[128];
    int32_t code = 0;

    for (int i = 0; i < 2; i++) {
        assert_ok(bz_action_put(s->cas, s->h, &key, &r, &how, &s->err), &s->err);
        assert_int_equal(how, BZ_ACTION_STORED);
        unlinkat(s->dir, store_path("cas", &d.hash, path), 0);
        assert_int_equal(put_code(s, 5), BZ_ACTION_STORED);
        assert_ok(get(s, BZ_ACTION_OURS, &code), &s->err);
        assert_int_equal(code, 5);
        assert_int_equal(store_bad(s), i + 1);
        assert_int_equal(unlinkat(s->dir, store_path("ac", &key, path), 0), 0);
        r = (struct bz_reapi_result){.files = &f, .nfiles = 1};
    }
}

static void results_are_the_same_whenever_they_were_made(void **state)
{
    struct bz_reapi_outdir d1, d2;
    struct bz_reapi_result a = result(&d1, 0), b = result(&d2, 0);
    struct bz_reapi_link l = {.name = BZ_STR("l"), .target = BZ_STR("t")};
    struct bz_reapi_outfile f = {
        .path = BZ_STR("f"), .digest = {{{1}}, 1}
    };

    (void)state;
    b.when[BZ_REAPI_RUN_START] = (struct bz_reapi_time){.set = true, .s = 9};
    b.worker = BZ_STR("elsewhere");
    b.out_raw = BZ_STR("it took 3 s\n");
    b.out.size = 7;
    assert_true(bz_action_same(&a, &b));
    d2.tree.size++;
    assert_false(bz_action_same(&a, &b));
    d2.tree.size--;
    b.links = &l;
    b.nlinks = 1;
    assert_false(bz_action_same(&a, &b));
    b.nlinks = 0;
    b.files = &f;
    b.nfiles = 1;
    assert_false(bz_action_same(&a, &b));
    b.nfiles = 0;
    b.exit_code = 1;
    assert_false(bz_action_same(&a, &b));
}

static void a_result_cut_anywhere_or_flipped_is_a_miss_and_made_anew(void **state)
{
    struct store *s = *state;
    char path[128];
    struct stat st;
    int32_t code = 0;

    put_code(s, 5);
    store_path("ac", &key, path);
    assert_int_equal(fstatat(s->dir, path, &st, 0), 0);
    for (off_t at = 0; at < st.st_size; at++) {
        for (int cut = 0; cut < 2; cut++) {
            damage(s->dir, path, at, cut);
            assert_int_equal(get(s, BZ_ACTION_OURS, &code), BZ_E_NOENT);
            assert_false(bz_action_has(s->cas, &key));
            assert_int_equal(put_code(s, 5), BZ_ACTION_STORED);
        }
    }
    assert_ok(get(s, BZ_ACTION_OURS, &code), &s->err);
}

static void a_damaged_result_gives_way_to_a_new_one(void **state)
{
    struct store *s = *state;
    char path[128];
    int32_t code = 0;

    put_code(s, 5);
    damage(s->dir, store_path("ac", &key, path), 3, true);
    assert_int_equal(put_code(s, 6), BZ_ACTION_STORED);
    assert_ok(get(s, BZ_ACTION_OURS, &code), &s->err);
    assert_int_equal(code, 6);
    assert_int_equal(store_bad(s), 1);
}

static void results_of_others_are_read_when_asked_for(void **state)
{
    struct store *s = *state;
    char path[128];
    int32_t code = 0;

    make_dirs(s->dir, "s/ac/cd");
    put(s->dir, store_path("ac", &key, path), "\x20\x07"); /* exit_code: 7 */
    assert_ok(get(s, BZ_ACTION_ANYONE, &code), &s->err);
    assert_int_equal(code, 7);
    assert_int_equal(get(s, BZ_ACTION_OURS, &code), BZ_E_NOENT);
}

/* Files the bytes of a result under the key as they are. */
static void plant(struct store *s, const struct bz_reapi_result *r)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    struct bz_shelf_temp t;
    bool existed;

    assert_ok(bz_reapi_result_encode(r, s->h, &bytes, &s->err), &s->err);
    assert_ok(bz_shelf_temp_open(&s->cas->root, &t, &s->err), &s->err);
    assert_ok(bz_fs_write_all(t.fd, "a result", bytes.data, bytes.len, &s->err),
              &s->err);
    assert_ok(bz_shelf_publish(&s->cas->actions, &t, &key, &existed, &s->err), &s->err);
    assert_false(existed);
}

static void a_result_names_the_key_it_is_filed_under(void **state)
{
    static const struct bz_digest other = {{3}};
    struct bz_reapi_aux label = {BZ_STR("label"), BZ_STR("text")};
    struct bz_reapi_result plain = {.aux = &label, .naux = 1}, bound, again;
    struct bz_arena a = {0};

    (void)state;
    assert_int_equal(bz_action_bound(&plain, &key), BZ_ACTION_UNBOUND);
    bound = bz_action_bind(&a, &plain, &key);
    assert_int_equal(bz_action_bound(&bound, &key), BZ_ACTION_BOUND);
    assert_int_equal(bz_action_bound(&bound, &other), BZ_ACTION_ELSEWHERE);
    assert_int_equal(bound.naux, 2);
    again = bz_action_bind(&a, &bound, &key);
    assert_ptr_equal(again.aux, bound.aux);
    again = bz_action_bind(&a, &bound, &other);
    assert_int_equal(bz_action_bound(&again, &other), BZ_ACTION_BOUND);
    assert_int_equal(again.naux, 2);
    bz_arena_release(&a);
}

static void a_result_of_another_key_is_put_aside(void **state)
{
    static const struct bz_digest other = {{3}};
    struct store *s = *state;
    const struct bz_reapi_result plain = {.exit_code = 5};
    struct bz_arena a = {0};
    struct bz_reapi_result bound = bz_action_bind(&a, &plain, &other);
    int32_t code = 0;

    plant(s, &bound);
    assert_int_equal(get(s, BZ_ACTION_ANYONE, &code), BZ_E_NOENT);
    assert_int_equal(store_bad(s), 1);
    plant(s, &bound);
    assert_int_equal(put_code(s, 6), BZ_ACTION_STORED);
    assert_ok(get(s, BZ_ACTION_OURS, &code), &s->err);
    assert_int_equal(code, 6);
    assert_int_equal(store_bad(s), 2);
    bz_arena_release(&a);
}

static void a_result_of_an_older_version_is_a_miss_until_it_is_replaced(void **state)
{
    struct store *s = *state;
    const struct bz_reapi_result old = {.exit_code = 5};
    int32_t code = 0;

    plant(s, &old);
    assert_int_equal(get(s, BZ_ACTION_OURS, &code), BZ_E_NOENT);
    assert_int_equal(store_bad(s), 0); /* another version may want it */
    assert_ok(get(s, BZ_ACTION_ANYONE, &code), &s->err);
    assert_int_equal(code, 5);
    assert_int_equal(put_code(s, 6), BZ_ACTION_STORED);
    assert_ok(get(s, BZ_ACTION_OURS, &code), &s->err);
    assert_int_equal(code, 6);
}

static void a_result_that_leads_elsewhere_is_not_stored(void **state)
{
    struct store *s = *state;
    struct bz_reapi_outdir dir;
    struct bz_reapi_result r = result(&dir, 0);
    enum bz_action_put how;

    dir.path = BZ_STR("../d");
    assert_int_equal(bz_action_put(s->cas, s->h, &key, &r, &how, &s->err), BZ_E_INVAL);
    assert_false(bz_action_has(s->cas, &key));
}

/* Other machines look there, too. */
static void the_key_of_a_record_is_always_the_same(void **state)
{
    struct store *s = *state;
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct bz_digest record;

    bz_action_record_key(s->h, &key, &record);
    bz_digest_hex(&record, hex);
    assert_string_equal(
        hex, "559c29525b7fd56e5984118927c21524af1688ff02429a4d422aa9a9d931f9a3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(a_result_is_found_by_its_key),
        store_test(the_first_result_of_a_key_stays),
        store_test(a_first_result_whose_blobs_are_gone_gives_way),
        cmocka_unit_test(results_are_the_same_whenever_they_were_made),
        store_test(a_result_cut_anywhere_or_flipped_is_a_miss_and_made_anew),
        store_test(a_damaged_result_gives_way_to_a_new_one),
        store_test(results_of_others_are_read_when_asked_for),
        store_test(a_result_names_the_key_it_is_filed_under),
        store_test(a_result_of_another_key_is_put_aside),
        store_test(a_result_of_an_older_version_is_a_miss_until_it_is_replaced),
        store_test(a_result_that_leads_elsewhere_is_not_stored),
        store_test(the_key_of_a_record_is_always_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
