#include "survey/snapshot.h"

#include <stddef.h>

#include "tests/unit/survey/sample.h"

static int view(const struct bz_buf *b, struct bz_snapshot *s)
{
    struct bz_err err;

    return bz_snapshot_view(s, bz_buf_str(b), &err);
}

static void facts_come_back_as_they_were(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    struct bz_snapshot s = {0};
    struct bz_facts f;
    struct bz_err err;

    (void)state;
    sample_bytes(NULL, 0, &b);
    assert_int_equal(view(&b, &s), 0);
    assert_ok(bz_snapshot_fact(&s, 0, &f, &err), &err);
    assert_text("path", f.path, "/l/foo.bb");
    assert_text("variant", f.variant, "native");
    assert_text("layer", f.layer, "one");
    assert_text("error", f.error, NULL);
    assert_text("PV", f.pv, "1.0");
    assert_text("python", f.python, "a 7 __anon /l/z.inc");
    assert_text("python", f.tasks[1].python, "f 2 do_b /l/z.inc");
    assert_int_equal(f.priority, -3);
    assert_int_equal(f.default_preference, -1);
    assert_true(f.not_world && !f.hidden && !f.uncached);
    assert_int_equal(f.ntasks, 2);
    assert_text("name", f.tasks[1].name, "do_b");
    assert_text("after", f.tasks[1].after, "do_a");
    assert_text("deptask", f.tasks[0].deptask, NULL);
    assert_text("deptask", f.tasks[1].deptask, "do_x");
    assert_true(f.tasks[0].noexec && !f.tasks[1].noexec);
    assert_ok(bz_snapshot_fact(&s, 1, &f, &err), &err);
    assert_int_equal(f.npackages, 1);
    assert_text("RDEPENDS", f.packages[0].rdepends, "bar baz");
    assert_ok(bz_snapshot_fact(&s, 2, &f, &err), &err);
    assert_text("error", f.error, "wrong");
    assert_int_equal(bz_snapshot_fact(&s, 3, &f, &err), BZ_E_CORRUPT);
    bz_snapshot_close(&s);
}

static void any_length_that_is_cut_is_noticed(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    struct bz_snapshot s = {0};
    struct bz_err err;

    (void)state;
    sample_bytes(NULL, 0, &b);
    for (size_t n = 0; n < b.len; n++)
        assert_int_equal(bz_snapshot_view(&s, bz_str_of(b.data, n), &err),
                         BZ_E_CORRUPT);
}

static void another_format_program_or_machine_is_not_read(void **state)
{
    static const size_t places[] = {
        offsetof(struct bz_snapshot_head, magic),
        offsetof(struct bz_snapshot_head, order),
        offsetof(struct bz_snapshot_head, format),
        offsetof(struct bz_snapshot_head, program),
    };
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    struct bz_snapshot s = {0};

    (void)state;
    sample_bytes(NULL, 0, &b);
    for (size_t i = 0; i < BZ_COUNTOF(places); i++) {
        b.data[places[i]]++;
        assert_int_equal(view(&b, &s), BZ_E_CORRUPT);
        b.data[places[i]]--;
    }
    assert_int_equal(view(&b, &s), 0);
}

/* Every number that refers to something, one after the other made too large. */
static void no_reference_leads_out_of_it(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf good = {0};
    struct bz_err err;

    (void)state;
    sample_bytes(NULL, 0, &good);
    for (size_t at = offsetof(struct bz_snapshot_head, tables); at + 4 <= good.len;
         at += 4) {
        static const uint32_t values[] = {UINT32_MAX - 1, INT32_MAX, 4096, 16};

        for (size_t i = 0; i < BZ_COUNTOF(values); i++) {
            BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
            struct bz_snapshot s = {0};
            struct bz_facts f;
            struct bz_str key;

            bz_buf_add_str(&b, bz_buf_str(&good));
            memcpy(b.data + at, &values[i], 4);
            if (view(&b, &s) < 0)
                continue;
            for (size_t k = 0; k < 4; k++)
                if (bz_snapshot_fact(&s, k, &f, &err) == 0)
                    assert_true(f.path.n <= b.len);
            bz_snapshot_text(&s, s.head->key, &key);
            bz_snapshot_close(&s);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_come_back_as_they_were),
        cmocka_unit_test(any_length_that_is_cut_is_noticed),
        cmocka_unit_test(another_format_program_or_machine_is_not_read),
        cmocka_unit_test(no_reference_leads_out_of_it),
    };

    return cmocka_run_group_tests_name("survey/snapshot", tests, NULL, NULL);
}
