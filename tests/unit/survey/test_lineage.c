#include "survey/lineage.h"

#include "survey/hashing.h"
#include "tests/unit/recipe/files.h"

struct lineage {
    uint8_t b[32];
};

/* That of a recipe which includes a.inc and looks for b.inc, in a fresh look. */
static struct lineage lineage(struct world *w, const struct bz_facts *frame,
                              bool hashed)
{
    struct bz_library *lib = bz_library_new();
    struct bz_meta *m = bz_meta_new();
    struct bz_eval e = {.meta = m, .library = lib};
    struct bz_hashing hashing = {0};
    struct lineage out;

    if (hashed)
        bz_library_set_hash(lib, bz_hashing_bytes, &hashing);
    set_var(m, "BBPATH", w->dir->path);
    assert_ok(bz_eval_file(&e, at(w, "r.bb"), BZ_EVAL_RECIPE, &w->err), &w->err);
    bz_lineage_of(lib, m, frame, out.b);
    bz_meta_free(m);
    bz_library_free(lib);
    bz_hashing_release(&hashing);
    return out;
}

static void put_recipe(struct world *w)
{
    put_file(w, "r.bb", "include a.inc\ninclude b.inc\n");
    put_file(w, "a.inc", "A = \"1\"\n");
}

static bool same(struct lineage a, struct lineage b)
{
    return memcmp(a.b, b.b, sizeof(a.b)) == 0;
}

static void the_same_files_have_the_same_origin(void **state)
{
    struct world *w = *state;
    struct bz_facts frame = {.path = BZ_STR("/r.bb")};
    struct lineage before, after;

    put_recipe(w);
    before = lineage(w, &frame, true);
    assert_true(bz_lineage_known(before.b));
    put_file(w, "c.inc", "nobody looks here");
    put_recipe(w);
    after = lineage(w, &frame, true);
    assert_true(same(before, after));
}

static void whatever_was_looked_at_counts(void **state)
{
    struct world *w = *state;
    struct bz_facts frame = {.path = BZ_STR("/r.bb")};
    struct lineage before, after;

    put_recipe(w);
    before = lineage(w, &frame, true);
    put_file(w, "a.inc", "A = \"2\"\n");
    after = lineage(w, &frame, true);
    assert_false(same(before, after));
    put_recipe(w);
    put_file(w, "b.inc", "");
    after = lineage(w, &frame, true);
    assert_false(same(before, after));
    assert_int_equal(unlinkat(w->dir->fd, "b.inc", 0), 0);
    assert_int_equal(unlinkat(w->dir->fd, "a.inc", 0), 0);
    after = lineage(w, &frame, true);
    assert_false(same(before, after));
}

static void contents_do_not_change_places_unnoticed(void **state)
{
    struct world *w = *state;
    struct bz_facts frame = {.path = BZ_STR("/r.bb")};
    struct lineage before, after;

    put_recipe(w);
    put_file(w, "b.inc", "B = \"1\"\n");
    before = lineage(w, &frame, true);
    put_file(w, "a.inc", "B = \"1\"\n");
    put_file(w, "b.inc", "A = \"1\"\n");
    after = lineage(w, &frame, true);
    assert_false(same(before, after));
}

static void the_frame_counts(void **state)
{
    static const struct bz_facts frames[] = {
        {.path = BZ_STR("/r.bb")},
        {                       .path = BZ_STR("/s.bb")                      },
        { .path = BZ_STR("/r.bb"),                       .variant = BZ_STR("native")},
        {                       .path = BZ_STR("/r.bb"),                       .layer = BZ_STR("native")},
        {                       .path = BZ_STR("/r.bb"),                       .appends = BZ_STR("native")},
    };
    struct lineage got[BZ_COUNTOF(frames)];
    struct world *w = *state;

    put_recipe(w);
    for (size_t i = 0; i < BZ_COUNTOF(frames); i++) {
        got[i] = lineage(w, &frames[i], true);
        for (size_t k = 0; k < i; k++)
            assert_false(same(got[i], got[k]));
    }
}

static void without_digests_there_is_none(void **state)
{
    struct world *w = *state;
    struct bz_facts frame = {.path = BZ_STR("/r.bb")};
    struct lineage got;

    put_recipe(w);
    got = lineage(w, &frame, false);
    assert_false(bz_lineage_known(got.b));
}

static void a_key_needs_both(void **state)
{
    static const struct lineage a = {{1}}, b = {{2}};
    struct lineage ab, ba, aa;

    (void)state;
    bz_lineage_key(a.b, b.b, ab.b);
    bz_lineage_key(b.b, a.b, ba.b);
    bz_lineage_key(a.b, a.b, aa.b);
    assert_false(same(ab, ba) || same(ab, aa) || same(ba, aa));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(the_same_files_have_the_same_origin),
        world_test(whatever_was_looked_at_counts),
        world_test(contents_do_not_change_places_unnoticed),
        world_test(the_frame_counts),
        world_test(without_digests_there_is_none),
        cmocka_unit_test(a_key_needs_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
