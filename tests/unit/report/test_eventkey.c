#include "report/eventkey.h"

#include <string.h>

#include "tests/unit/bz_test.h"

static void keys_have_names_that_differ(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BZ_EVENTKEY_COUNT; i++)
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(bz_eventkey_name(i), bz_eventkey_name(k));
}

static void every_key_is_of_some_line(void **state)
{
    uint64_t all = 0;

    (void)state;
    for (unsigned i = 0; i < BZ_EVENTKEY_LINES; i++)
        all |= bz_eventkey_mask(i);
    assert_int_equal(all, ((uint64_t)1 << BZ_EVENTKEY_COUNT) - 1);
}

static void lines_tell_what_they_are_and_when(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BZ_EVENTKEY_LINES; i++) {
        const struct bz_eventkey_line *line = bz_eventkey_line(i);

        assert_true(line->name && line->help[0] && line->nfields > 1);
        assert_true(bz_eventkey_mask(i) >> BZ_EVENTKEY_EVENT & 1);
        assert_int_equal(bz_eventkey_mask(i) >> BZ_EVENTKEY_AT & 1,
                         i != BZ_EVENTKEY_LINE_BEGIN);
        for (size_t k = 0; k < line->nfields; k++) /* sentences without their end */
            assert_int_not_equal(line->fields[k].help[strlen(line->fields[k].help) - 1],
                                 '.');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_names_that_differ),
        cmocka_unit_test(every_key_is_of_some_line),
        cmocka_unit_test(lines_tell_what_they_are_and_when),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
