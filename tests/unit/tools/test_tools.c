#include "tools/tools.h"

#include <time.h>

#include "os/path.h"
#include "tests/unit/tools/machine.h"

/* One run of a program on the machine, with what runs before have left. */
static struct bz_digest run(const struct scratch *s, const char *words, size_t nread)
{
    BZ_CLEANUP(bz_tools_release) struct bz_tools t = {0};
    char path[512];
    struct bz_entries catalog;
    struct bz_err err;

    snprintf(path, sizeof(path), "%s/catalog", s->path);
    bz_entries_open(&catalog, path, "test");
    assert_ok(
        bz_tools_open(
            &t, &(struct bz_tools_opts){s->path, bz_str_from(words), &catalog}, &err),
        &err);
    if (nread != SIZE_MAX)
        assert_int_equal(t.nread, nread);
    assert_ok(bz_entries_save(&catalog, &err), &err);
    bz_entries_close(&catalog);
    return t.digest;
}

/* Everything was made an hour ago: stamps have settled. Times of change cannot be set,
 * so this waits until they are old enough. */
static void settle(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

static void the_digest_tells_what_is_seen(void **state)
{
    const struct scratch *s = *state;
    struct bz_digest first, now;

    make_machine(s->fd);
    first = run(s, "gcc", SIZE_MAX);
    now = run(s, "gcc", SIZE_MAX);
    assert_true(bz_digest_eq(&first, &now));
    put(s->fd, "usr/bin/game", "another game"); /* not of the list */
    put_program(s->fd, "usr/bin/new", "new");
    now = run(s, "gcc", SIZE_MAX);
    assert_true(bz_digest_eq(&first, &now));
    put(s->fd, "usr/bin/gcc-12", "GCC");
    now = run(s, "gcc", SIZE_MAX);
    assert_false(bz_digest_eq(&first, &now));
    put(s->fd, "usr/bin/gcc-12", "gcc");
    now = run(s, "gcc", SIZE_MAX);
    assert_true(bz_digest_eq(&first, &now));
    assert_int_equal(fchmodat(s->fd, "usr/lib/gcc/cc1", 0600, 0), 0);
    now = run(s, "gcc", SIZE_MAX);
    assert_false(bz_digest_eq(&first, &now));
    assert_int_equal(fchmodat(s->fd, "usr/lib/gcc/cc1", 0644, 0), 0);
    assert_int_equal(unlinkat(s->fd, "usr/bin/sh", 0), 0);
    assert_int_equal(symlinkat("mawk", s->fd, "usr/bin/sh"), 0);
    now = run(s, "gcc", SIZE_MAX);
    assert_false(bz_digest_eq(&first, &now));
}

static void a_package_that_comes_or_goes_is_seen(void **state)
{
    const struct scratch *s = *state;
    struct bz_digest first, now;

    make_machine(s->fd);
    first = run(s, "gcc", SIZE_MAX);
    put(s->fd, "usr/lib/gcc/new.h", "header");
    now = run(s, "gcc", SIZE_MAX);
    assert_true(bz_digest_eq(&first, &now)); /* nobody's */
    put_list(s->fd, "cpp", "/.\n/usr/lib/gcc\n/usr/lib/gcc/cc1\n/usr/lib/gcc/new.h\n");
    put(s->fd, "var/lib/dpkg/status", MACHINE_STATUS "\n");
    now = run(s, "gcc", SIZE_MAX);
    assert_false(bz_digest_eq(&first, &now));
    assert_int_equal(unlinkat(s->fd, "usr/lib/gcc/new.h", 0), 0);
    now = run(s, "gcc", SIZE_MAX);
    assert_true(bz_digest_eq(&first, &now));
    assert_int_equal(unlinkat(s->fd, "usr/lib/gcc/cc1", 0), 0);
    now = run(s, "gcc", SIZE_MAX);
    assert_false(bz_digest_eq(&first, &now));
}

static void a_program_first_in_path_is_seen(void **state)
{
    const struct scratch *s = *state;
    struct bz_digest first, now;

    make_machine(s->fd);
    first = run(s, "gcc", SIZE_MAX);
    put_program(s->fd, "usr/local/bin/gcc", "mine");
    now = run(s, "gcc", SIZE_MAX);
    assert_false(bz_digest_eq(&first, &now));
    assert_int_equal(unlinkat(s->fd, "usr/local/bin/gcc", 0), 0);
    now = run(s, "gcc", SIZE_MAX);
    assert_false(bz_digest_eq(&first, &(struct bz_digest){0}));
}

static void files_are_read_once_they_have_settled(void **state)
{
    const struct scratch *s = *state;
    struct bz_digest first, now;

    make_machine(s->fd);
    settle();
    first = run(s, "gcc", 4);
    for (int i = 0; i < 200; i++) { /* until all stamps have settled */
        BZ_CLEANUP(bz_tools_release) struct bz_tools t = {0};
        struct bz_err err;
        bool settled = true;

        assert_ok(bz_tools_open(
                      &t, &(struct bz_tools_opts){s->path, BZ_STR("gcc"), NULL}, &err),
                  &err);
        for (size_t k = 0; k < t.entries.len; k++)
            settled &= bz_tools_kind(&t.entries.at[k]) == BZ_TOOLS_DIR ||
                       t.entries.at[k].stamp != 0;
        if (settled)
            break;
        settle();
    }
    now = run(s, "gcc", SIZE_MAX);
    assert_true(bz_digest_eq(&first, &now));
    now = run(s, "gcc", 0);
    assert_true(bz_digest_eq(&first, &now));
    put(s->fd, "usr/lib/libc.so.6", "LIBC");
    now = run(s, "gcc", 1);
    assert_false(bz_digest_eq(&first, &now));
}

static void stamps_hold_until_something_changes(void **state)
{
    const struct scratch *s = *state;
    BZ_CLEANUP(bz_tools_release) struct bz_tools t = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf stamps = {0};
    struct bz_err err;

    make_machine(s->fd);
    assert_ok(
        bz_tools_open(&t, &(struct bz_tools_opts){s->path, BZ_STR("gcc"), NULL}, &err),
        &err);
    (void)bz_tools_stamps(&t, s->path, &stamps);
    assert_true(bz_tools_hold(bz_buf_str(&stamps), s->path));
    put_program(s->fd, "usr/local/bin/gcc", "mine");
    assert_false(bz_tools_hold(bz_buf_str(&stamps), s->path));
    for (size_t n = 0; n < stamps.len; n += 7) /* damaged ones do not */
        assert_false(bz_tools_hold(bz_str_of(stamps.data, n), s->path) && n < 8);
}

static void a_word_for_nothing_is_refused(void **state)
{
    const struct scratch *s = *state;
    struct bz_tools t = {0};
    struct bz_err err;
    struct bz_tools_opts opts = {s->path, BZ_STR("gcc ghc ?ghci stack"), NULL};

    make_machine(s->fd);
    assert_int_equal(bz_tools_open(&t, &opts, &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "'ghc', 'stack'"));
    bz_tools_release(&t);
}

static void a_damaged_memory_is_no_memory(void **state)
{
    const struct scratch *s = *state;
    struct bz_entries catalog;
    struct bz_entries_key key;
    struct bz_digest first;
    struct bz_str bytes;
    char name[512];

    make_machine(s->fd);
    first = run(s, "gcc", SIZE_MAX);
    snprintf(name, sizeof(name), "tools 1 %s gcc", s->path);
    bz_entries_key_of(bz_str_from(name), &key);
    for (size_t n = 0;; n += 11) {
        BZ_CLEANUP(bz_tools_release) struct bz_tools t = {0};
        struct bz_tools_opts opts = {s->path, BZ_STR("gcc"), &catalog};
        struct bz_err err;

        snprintf(name, sizeof(name), "%s/catalog", s->path);
        bz_entries_open(&catalog, name, "test");
        assert_true(bz_entries_find(&catalog, BZ_TOOLS_KIND, &key, &bytes));
        if (n >= bytes.n) {
            bz_entries_close(&catalog);
            break;
        }
        bz_entries_put(&catalog, BZ_TOOLS_KIND, &key, bz_str_of(bytes.p, n));
        assert_ok(bz_tools_open(&t, &opts, &err), &err);
        assert_true(bz_digest_eq(&first, &t.digest));
        bz_entries_close(&catalog);
    }
}

#define IN_SCRATCH(test)                                                               \
    cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(the_digest_tells_what_is_seen),
        IN_SCRATCH(a_package_that_comes_or_goes_is_seen),
        IN_SCRATCH(a_program_first_in_path_is_seen),
        IN_SCRATCH(files_are_read_once_they_have_settled),
        IN_SCRATCH(stamps_hold_until_something_changes),
        IN_SCRATCH(a_word_for_nothing_is_refused),
        IN_SCRATCH(a_damaged_memory_is_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
