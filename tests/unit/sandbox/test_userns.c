#include "sandbox/userns.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/spawn.h"
#include "tests/unit/bz_test.h"

static void *stack;

static void make(struct bz_userns *ns, const struct bz_userns_opts *opts)
{
    struct bz_err err;
    int rc = bz_userns_make(ns, opts, stack, &err);

    if (rc == BZ_E_NOSUP && !getenv("BITZEL_MUST_WORK")) {
        print_message("%s\n", err.msg);
        skip();
    }
    assert_ok(rc, &err);
}

static ino_t number(int fd)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    return st.st_ino;
}

static ino_t own(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

static void both_namespaces_are_new(void **state)
{
    struct bz_userns a, b;

    (void)state;
    make(&a, &(struct bz_userns_opts){.id = 1000});
    make(&b, &(struct bz_userns_opts){.id = 1000});
    assert_int_not_equal(number(a.user), own("/proc/self/ns/user"));
    assert_int_not_equal(number(a.net), own("/proc/self/ns/net"));
    assert_int_not_equal(number(a.user), number(b.user));
    assert_int_not_equal(number(a.net), number(b.net));
    bz_userns_release(&a);
    bz_userns_release(&b);
    assert_int_equal(a.user, -1);
}

static void with_the_hosts_network_there_is_none_for_it(void **state)
{
    struct bz_userns ns;

    (void)state;
    make(&ns, &(struct bz_userns_opts){.id = 0, .network = true});
    assert_int_equal(ns.net, -1);
    bz_userns_release(&ns);
}

static void a_probe_says_the_same_as_making_one(void **state)
{
    const struct bz_userns_opts opts = {.id = 7};
    struct bz_userns ns;
    struct bz_err err;
    int made = bz_userns_make(&ns, &opts, stack, &err);

    (void)state;
    if (made == 0)
        bz_userns_release(&ns);
    assert_int_equal(bz_userns_probe(stack, &err), made);
}

static int setup(void **state)
{
    struct bz_err err;

    (void)state;
    return bz_spawn_stack_new(&stack, &err);
}

static int teardown(void **state)
{
    (void)state;
    bz_spawn_stack_free(stack);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_namespaces_are_new),
        cmocka_unit_test(a_probe_says_the_same_as_making_one),
        cmocka_unit_test(with_the_hosts_network_there_is_none_for_it),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
