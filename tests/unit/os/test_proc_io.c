#include "os/proc_io.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

static void descriptors_are_above_those_of_a_child(void **state)
{
    const struct bz_proc_spec spec = {
        .in = {BZ_PROC_IN_BYTES, 0, BZ_STR("fed")}
    };
    struct bz_proc_io io = BZ_PROC_IO_NONE;
    struct bz_err err;
    char text[8] = "";

    (void)state;
    assert_ok(bz_proc_io_open(&io, &spec, &err), &err);
    for (size_t i = 0; i < 3; i++) {
        assert_true(io.child[i] >= BZ_PROC_IO_FREE);
        assert_true(fcntl(io.child[i], F_GETFD) & FD_CLOEXEC);
    }
    assert_int_equal(read(io.child[0], text, sizeof(text)), 3);
    assert_string_equal(text, "fed");
    assert_int_equal(write(io.child[1], "out", 3), 3);
    assert_int_equal(read(io.out, text, sizeof(text)), 3);
    assert_string_equal(text, "out");
    bz_proc_io_release(&io);
}

static void lifting_keeps_what_is_high_and_closes_what_is_not(void **state)
{
    int low = open("/dev/null", O_RDONLY | O_CLOEXEC), high;

    (void)state;
    assert_true(low < BZ_PROC_IO_FREE);
    high = bz_proc_io_lift(low);
    assert_true(high >= BZ_PROC_IO_FREE);
    assert_int_equal(fcntl(low, F_GETFD), -1);
    assert_int_equal(bz_proc_io_lift(high), high);
    assert_int_equal(bz_proc_io_lift(-1), -1);
    close(high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_are_above_those_of_a_child),
        cmocka_unit_test(lifting_keeps_what_is_high_and_closes_what_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
