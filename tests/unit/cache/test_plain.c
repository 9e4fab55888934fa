#include "cache/plain.h"

#include <sys/xattr.h>

#include "tests/unit/os/scratch.h"

/* As setcap(8) writes cap_net_raw+ep. */
static const unsigned char net_raw[20] = {1, 0, 0, 2, 0, 0x20};

static void setuid_setgid_and_writing_go_and_all_else_stays(void **state)
{
    static const struct {
        mode_t mode, plain;
    } cases[] = {
        {S_IFREG | 0644,  S_IFREG | 0444 },
        {S_IFREG | 06755, S_IFREG | 0555 },
        {S_IFREG | 04111, S_IFREG | 0111 },
        {S_IFDIR | 03775, S_IFDIR | 01775},
        {S_IFDIR | 0,     S_IFDIR | 0700 },
        {S_IFLNK | 0777,  S_IFLNK | 0777 },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_plain_mode(cases[i].mode), cases[i].plain);
}

static void capabilities_are_seen(void **state)
{
    struct scratch *s = *state;
    int fd;

    put(s->fd, "f", "x");
    fd = openat(s->fd, "f", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_false(bz_plain_capable(fd));
    assert_false(bz_plain_capable_at(s->fd, "f"));
    if (fsetxattr(fd, "security.capability", net_raw, sizeof(net_raw), 0) == 0) {
        assert_true(bz_plain_capable(fd));
        assert_true(bz_plain_capable_at(s->fd, "f"));
    }
    close(fd);
}

static void a_link_has_none_of_its_own(void **state)
{
    struct scratch *s = *state;

    put(s->fd, "f", "x");
    assert_int_equal(symlinkat("f", s->fd, "l"), 0);
    assert_false(bz_plain_capable_at(s->fd, "l"));
    assert_true(bz_plain_capable_at(s->fd, "none")); /* it cannot be told */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(setuid_setgid_and_writing_go_and_all_else_stays),
        TEST(capabilities_are_seen),
        TEST(a_link_has_none_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
