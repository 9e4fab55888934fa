#include "jobs/reply.h"

#include "tests/unit/bz_test.h"

static void expect(struct bz_result r, uint64_t at, const char *want)
{
    struct bz_buf text = {0};

    bz_reply_write(&text, &r, at);
    assert_string_equal(bz_buf_text(&text), want);
    bz_buf_release(&text);
}

static void a_result_is_a_line(void **state)
{
    char data[] = "a\"b\n";

    (void)state;
    expect((struct bz_result){.id = 7, .final = true, .data = data, .size = 4},
           BZ_REPLY_NOWHERE,
           "{\"task_id\":7,\"status\":0,\"final\":true,\"data\":\"a\\\"b\\n\"}\n");
    expect((struct bz_result){.id = UINT64_MAX}, BZ_REPLY_NOWHERE,
           "{\"task_id\":18446744073709551615,\"status\":0,\"final\":false}\n");
    expect((struct bz_result){.id = 8}, 120,
           "{\"task_id\":8,\"status\":0,\"final\":false,\"at\":120}\n");
    expect((struct bz_result){.id = 9, .status = -8, .final = true, .error = "no"}, 0,
           "{\"task_id\":9,\"status\":-8,\"final\":true,\"at\":0,\"error\":\"no\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_is_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
