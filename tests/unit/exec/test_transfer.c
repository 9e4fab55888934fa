#include "exec/transfer.h"

#include "tests/unit/os/scratch.h"

struct way {
    int to;
    bool move;
};

static int bring(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    const struct way *w = ctx;
    int rc = w->move ? bz_transfer_move(e, w->to, e->path, err)
                     : bz_transfer_copy(e, w->to, e->path, err);

    return rc < 0 ? rc : BZ_FS_WALK_ON;
}

/* Of the directory "from" to `to`, and judges with a shell. */
static void check(struct scratch *s, const char *to, bool move, const char *script)
{
    struct way w = {open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC), move};
    struct bz_err err;
    char line[1000];

    assert_true(w.to >= 0);
    assert_ok(bz_fs_walk(s->fd, "from", bring, &w, &err), &err);
    close(w.to);
    snprintf(line, sizeof(line), "cd %s && to=%s && set -e; %s", s->path, to, script);
    assert_int_equal(system(line), 0);
}

static void fill(struct scratch *s)
{
    char line[1000];

    snprintf(line, sizeof(line),
             "cd %s && mkdir -p from to && echo text >from/f && chmod 4751 from/f && "
             "ln -s none from/l && mkfifo from/p && touch -hd @1000 from/f from/l",
             s->path);
    assert_int_equal(system(line), 0);
}

#define ALIKE                                                                          \
    "test \"$(stat -c %a,%Y $to/f)\" = 4751,1000; test \"$(cat $to/f)\" = text; "      \
    "test \"$(readlink $to/l),$(stat -c %Y $to/l)\" = none,1000; test -p $to/p; "

static void a_copy_is_alike_and_a_file_of_its_own(void **state)
{
    struct scratch *s = *state;
    char to[300];

    fill(s);
    snprintf(to, sizeof(to), "%s/to", s->path);
    check(s, to, false,
          ALIKE "test \"$(stat -c %h from/f)\" = 1; echo more >>$to/f; "
                "test \"$(cat from/f)\" = text; test -p from/p");
}

static void what_is_moved_is_gone(void **state)
{
    struct scratch *s = *state;
    char to[300];

    fill(s);
    snprintf(to, sizeof(to), "%s/to", s->path);
    check(s, to, true, ALIKE "test -z \"$(ls -A from)\"");
}

static void files_are_the_same_if_their_bytes_are(void **state)
{
    static const struct {
        const char *make;
        bool same;
    } cases[] = {
        {"printf '' >x; printf '' >y",                               true },
        {"echo a >x; echo a >y",                                     true },
        {"echo a >x; echo b >y",                                     false},
        {"echo a >x; echo ab >y",                                    false},
        {"head -c 300000 /dev/zero >x; cp x y",                      true },
        {"head -c 300000 /dev/zero >x; cp x y; echo >>y",            false},
        {"head -c 262144 /dev/zero >x; cp x y",                      true },
        {"head -c 300000 /dev/zero >x; (head -c 299999 x; echo) >y", false},
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        char line[1000];
        int a, b;

        snprintf(line, sizeof(line), "cd %s && { %s; }", s->path, cases[i].make);
        assert_int_equal(system(line), 0);
        a = openat(s->fd, "x", O_RDONLY | O_CLOEXEC);
        b = openat(s->fd, "y", O_RDONLY | O_CLOEXEC);
        assert_int_equal(bz_transfer_same(a, b), cases[i].same);
        assert_false(bz_transfer_same(a, -1));
        close(a);
        close(b);
    }
}

static void it_goes_to_another_file_system_too(void **state)
{
    struct scratch *s = *state;
    char to[] = "/dev/shm/bz-test-XXXXXX";
    struct bz_err err;
    struct stat a, b;

    assert_non_null(mkdtemp(to));
    fill(s);
    if (stat(to, &a) < 0 || fstat(s->fd, &b) < 0 || a.st_dev == b.st_dev)
        print_message("/dev/shm is no other file system here\n");
    check(s, to, true, ALIKE "test -z \"$(ls -A from)\"");
    assert_ok(bz_fs_remove(AT_FDCWD, to, &err), &err);
}

static void what_is_there_is_not_overwritten_by_a_copy(void **state)
{
    struct scratch *s = *state;
    struct way w = {.move = false};
    struct bz_err err;

    fill(s);
    make_dirs(s->fd, "to/f");
    w.to = openat(s->fd, "to", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(bz_fs_walk(s->fd, "from", bring, &w, &err), BZ_E_EXISTS);
    close(w.to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(a_copy_is_alike_and_a_file_of_its_own),
        TEST(what_is_moved_is_gone),
        TEST(files_are_the_same_if_their_bytes_are),
        TEST(it_goes_to_another_file_system_too),
        TEST(what_is_there_is_not_overwritten_by_a_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
