#include "sandbox/devices.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/fs_remove.h"
#include "tests/unit/bz_test.h"

static void those_of_this_machine_are_right(void **state)
{
    struct bz_err err;

    (void)state;
    assert_ok(bz_devices_check(&err), &err);
}

static void one_that_is_missing_is_told(void **state)
{
    struct bz_devices_wrong wrong;

    (void)state;
    assert_true(bz_devices_wrong("/nowhere", &wrong));
    assert_string_equal(wrong.found,
                        "/dev/null is missing, not the character device 1:3");
    assert_string_equal(wrong.fix, "mknod -m 666 /dev/null c 1 3");
}

static void something_else_in_its_place_is_told_with_its_kind(void **state)
{
    static const struct {
        mode_t mode; /* 0: a directory */
        unsigned minor;
        const char *found, *fix;
    } cases[] = {
        {S_IFREG, 0, "/dev/null is a regular file, not",           "rm -f /dev/null; mknod"      },
        {S_IFIFO, 0, "/dev/null is a fifo, not",                   "rm -f /dev/null; mknod"      },
        {0,       0, "/dev/null is a directory, not",              "rmdir /dev/null; mknod"      },
        {S_IFCHR, 5, "/dev/null is the character device 1:5, not", "rm -f /dev/null"             },
        {S_IFBLK, 3, "/dev/null is the block device 1:3, not",     "rm -f /dev/null"             },
        {S_IFCHR, 3, "/dev/zero is missing, not",                  "mknod -m 666 /dev/zero c 1 5"},
    };
    char root[] = "/tmp/bz-test-XXXXXX";
    struct bz_err err;
    int dir;

    (void)state;
    assert_non_null(mkdtemp(root));
    dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(dir, "dev", 0755), 0);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_devices_wrong wrong;
        int rc = cases[i].mode ? mknodat(dir, "dev/null", cases[i].mode | 0600,
                                         makedev(1, cases[i].minor))
                               : mkdirat(dir, "dev/null", 0755);

        if (rc < 0)
            continue; /* devices are root's to make */
        assert_true(bz_devices_wrong(root, &wrong));
        if (!strstr(wrong.found, cases[i].found) || !strstr(wrong.fix, cases[i].fix))
            fail_msg("%s; %s", wrong.found, wrong.fix);
        assert_ok(bz_fs_remove(dir, "dev/null", &err), &err);
    }
    close(dir);
    assert_ok(bz_fs_remove(AT_FDCWD, root, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_this_machine_are_right),
        cmocka_unit_test(one_that_is_missing_is_told),
        cmocka_unit_test(something_else_in_its_place_is_told_with_its_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
