#include "os/capture.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/bz_test.h"

/* Adds the first n letters of the alphabet, `step` at a time. */
static void add_letters(struct bz_capture *c, size_t n, size_t step)
{
    const char letters[] = "abcdefghijklmnopqrstuvwxyz";

    for (size_t at = 0; at < n; at += step)
        bz_capture_add(c, letters + at, n - at < step ? n - at : step);
}

static void head_and_tail_survive_in_any_step(void **state)
{
    static const struct {
        size_t limit, n;
        const char *text;
    } cases[] = {
        {8,  0,  ""                                  },
        {8,  3,  "abc"                               },
        {8,  4,  "abcd"                              },
        {8,  8,  "abcdefgh"                          },
        {8,  9,  "abcd\n[... 1 bytes cut ...]\nfghi" },
        {8,  26, "abcd\n[... 18 bytes cut ...]\nwxyz"},
        {7,  26, "abcd\n[... 19 bytes cut ...]\nxyz" },
        {1,  3,  "a\n[... 2 bytes cut ...]\n"        },
        {0,  3,  "\n[... 3 bytes cut ...]\n"         },
        {99, 26, "abcdefghijklmnopqrstuvwxyz"        },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        for (size_t step = 1; step <= 26; step++) {
            struct bz_capture c = {.limit = cases[i].limit};
            size_t n;
            char *text;

            add_letters(&c, cases[i].n, step);
            text = bz_capture_text(&c, &n);
            if (strcmp(text, cases[i].text) != 0)
                fail_msg("limit %zu, %zu letters by %zu: '%s'", cases[i].limit,
                         cases[i].n, step, text);
            assert_int_equal(n, strlen(text));
            assert_int_equal(c.total, cases[i].n);
            free(text);
            bz_capture_release(&c);
        }
}

static void memory_stays_at_the_limit(void **state)
{
    enum { LIMIT = 10000, BLOCK = 777, BLOCKS = 1000 };
    struct bz_capture c = {.limit = LIMIT};
    char block[BLOCK];
    size_t n;
    char *text;

    (void)state;
    for (int i = 0; i < BLOCKS; i++) {
        memset(block, 'a' + i % 26, sizeof(block));
        bz_capture_add(&c, block, sizeof(block));
        assert_true(c.head_cap + c.ring_cap <= LIMIT);
    }
    assert_int_equal(c.total, BLOCK * BLOCKS);
    assert_int_equal(bz_capture_cut(&c), BLOCK * BLOCKS - LIMIT);
    text = bz_capture_text(&c, &n);
    assert_int_equal(text[0], 'a');
    assert_int_equal(text[n - 1], 'a' + (BLOCKS - 1) % 26);
    assert_int_equal(text[n - BLOCK - 1], 'a' + (BLOCKS - 2) % 26);
    free(text);
    bz_capture_release(&c);
}

static void bytes_of_value_zero_are_bytes(void **state)
{
    struct bz_capture c = {.limit = 8};
    size_t n;
    char *text;

    (void)state;
    bz_capture_add(&c, "a\0b", 3);
    text = bz_capture_text(&c, &n);
    assert_int_equal(n, 3);
    assert_memory_equal(text, "a\0b", 4);
    free(text);
    bz_capture_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head_and_tail_survive_in_any_step),
        cmocka_unit_test(memory_stays_at_the_limit),
        cmocka_unit_test(bytes_of_value_zero_are_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
