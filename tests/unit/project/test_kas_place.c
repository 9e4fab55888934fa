#include "project/kas_place.h"

#include "tests/unit/project/project_test.h"

static void a_warning_begins_with_its_place(void **state)
{
    struct bz_buf got = {0};
    struct bz_kas_notes notes = {keep_note, &got, 0};

    (void)state;
    bz_kas_place_warn(&notes, (struct bz_kas_place){"a.yml", 3, 7}, "bad %s", "thing");
    bz_kas_place_warn(&notes, (struct bz_kas_place){"b.yml", 4, 0}, "worse");
    assert_string_equal(bz_buf_text(&got), "a.yml:3:7: bad thing\nb.yml:4: worse\n");
    assert_int_equal(notes.given, 2);
    bz_buf_release(&got);
}

static void nobody_has_to_listen(void **state)
{
    (void)state;
    bz_kas_place_warn(NULL, (struct bz_kas_place){"a.yml", 3, 7}, "unheard");
}

static void count_note(void *ctx, const char *text)
{
    unsigned *n = ctx;

    ++*n;
    if (*n == BZ_KAS_PLACE_WARNINGS + 1)
        assert_string_equal(text, "there are more warnings, which are not shown");
}

static void a_flood_of_warnings_is_cut(void **state)
{
    unsigned n = 0;
    struct bz_kas_notes notes = {count_note, &n, 0};

    (void)state;
    for (unsigned i = 0; i < 10 * BZ_KAS_PLACE_WARNINGS; i++)
        bz_kas_place_warn(&notes, (struct bz_kas_place){"a.yml", i + 1, 0}, "again");
    assert_int_equal(n, BZ_KAS_PLACE_WARNINGS + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warning_begins_with_its_place),
        cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(a_flood_of_warnings_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
