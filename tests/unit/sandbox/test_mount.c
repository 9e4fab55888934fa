#include "sandbox/mount.h"

#include "tests/unit/sandbox/room.h"

/* The root is built in a child with namespaces of its own; what it is like is seen from
 * inside. */
static int setup(void **state)
{
    struct room *r = calloc(1, sizeof(*r));

    *state = r;
    room_open(r);
    room_add(r, BZ_SPEC_HOST, "/usr", "");
    room_add(r, BZ_SPEC_HOST, "/bin", "");
    room_add(r, BZ_SPEC_HOST, "/lib", "");
    room_add(r, BZ_SPEC_HOST, "/lib64", "");
    return 0;
}

static int teardown(void **state)
{
    room_close(*state);
    free(*state);
    return 0;
}

static void every_kind_of_entry_is_made(void **state)
{
    struct room *r = *state;

    room_add(r, BZ_SPEC_DIR, "/a/b/c", "");
    room_add(r, BZ_SPEC_FILE, "/a/f", "some\nbytes");
    room_add(r, BZ_SPEC_LINK, "/a/l", "b/c");
    room_add(r, BZ_SPEC_TMPFS, "/t", "1m");
    room_add(r, BZ_SPEC_PROC, "/proc", "");
    room_add(r, BZ_SPEC_DEVICE, "/dev/zero", "/dev/zero");
    room_add(r, BZ_SPEC_PTS, "/dev/pts", "");
    assert_script(r,
                  "ls /a; cat /a/f; echo; readlink /a/l; echo x >/t/x && cat /t/x; "
                  "test -c /dev/zero && test -c /dev/pts/ptmx && test -d /proc/1 && "
                  "echo all; ls /",
                  "b\nf\nl\nsome\nbytes\nb/c\nx\nall\n"
                  "a\nbin\ndev\nlib\nlib64\nproc\nt\nusr\n");
}

static void what_the_host_lacks_is_left_out(void **state)
{
    struct room *r = *state;

    room_add(r, BZ_SPEC_HOST, "/no-such-directory", "");
    assert_script(r, "echo /no*", "/no*\n");
}

static void a_file_can_be_shown_alone(void **state)
{
    struct room *r = *state;
    struct bz_err err;
    char path[128];

    room_path(r, "secret", path);
    assert_ok(bz_fs_write(AT_FDCWD, path, "one", 3, 0644, BZ_FS_NOSYNC, &err), &err);
    room_add(r, BZ_SPEC_SHOW, "/data/one", path);
    assert_script(r, "cat /data/one; ls /data", "oneone\n");
    assert_int_not_equal(room_run(r, "echo >/data/one"), 0);
}

static void the_hosts_root_cannot_be_reached(void **state)
{
    struct room *r = *state;

    assert_script(r, "cd /..; ls /../..; ls / | wc -l", "bin\nlib\nlib64\nusr\n4\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kind_of_entry_is_made, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_host_lacks_is_left_out, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_file_can_be_shown_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(the_hosts_root_cannot_be_reached, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
