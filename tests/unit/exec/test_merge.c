#include "exec/merge.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/unit/os/scratch.h"

/* A line of commands for the layers: the shell makes trees best. */
static void make(struct scratch *s, const char *script)
{
    char line[2000];

    snprintf(line, sizeof(line), "cd %s && set -e; %s", s->path, script);
    assert_int_equal(system(line), 0);
}

static void merge_as(struct scratch *s, size_t n, enum bz_merge_how how)
{
    char paths[3][300], out[300];
    const char *list[3];
    struct bz_err err;

    for (size_t i = 0; i < n; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s/%zu", s->path, i);
        list[i] = paths[i];
    }
    snprintf(out, sizeof(out), "%s/out", s->path);
    assert_ok(
        bz_merge_layers(&(struct bz_merge_in){.layers = list, .n = n}, out, how, &err),
        &err);
}

static void merge(struct scratch *s, size_t n)
{
    merge_as(s, n, BZ_MERGE_LINK);
}

static void the_topmost_wins_and_all_else_is_seen(void **state)
{
    struct scratch *s = *state;

    make(s, "mkdir -p 0/d 1/d 1/e; echo top >0/f; echo low >1/f; echo a >0/d/a; "
            "echo b >1/d/b; ln -s f 1/l; chmod 750 1/e");
    merge(s, 2);
    make(s, "test \"$(cat out/f)\" = top; test -f out/d/a; test -f out/d/b; "
            "test \"$(readlink out/l)\" = f; test \"$(stat -c %a out/e)\" = 750; "
            "test \"$(stat -c %i out/d/b)\" = \"$(stat -c %i 1/d/b)\"");
}

static void times_are_those_of_the_layers(void **state)
{
    struct scratch *s = *state;

    make(s, "mkdir -p 0/d 1/d/e; ln -s x 1/d/l; echo a >0/d/a; "
            "touch -hd @946684800 1/d/l 1/d/e 0/d 1/d");
    merge(s, 2);
    make(s, "test \"$(stat -c %Y out/d out/d/e out/d/l | sort -u)\" = 946684800");
}

static void what_a_layer_deletes_is_not_seen(void **state)
{
    struct scratch *s = *state;
    char path[300];

    make(s, "mkdir -p 0 1/d; echo x >1/gone; echo x >1/d/inner");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/0/%s", s->path, i ? "d" : "gone");
        assert_int_equal(mknod(path, S_IFCHR | 0600, makedev(0, 0)), 0);
    }
    merge(s, 2);
    make(s, "test -z \"$(ls -A out)\"");
}

static void an_opaque_directory_hides_what_lies_below(void **state)
{
    struct scratch *s = *state;
    char path[300];

    make(s,
         "mkdir -p 0/d 1/d 2/d; echo x >0/d/new; echo x >1/d/old; echo x >2/d/older");
    snprintf(path, sizeof(path), "%s/0/d", s->path);
    assert_int_equal(setxattr(path, "user.overlay.opaque", "y", 1, 0), 0);
    merge(s, 3);
    make(s, "test \"$(ls out/d)\" = new");
}

static void a_file_hides_a_directory_and_the_other_way_round(void **state)
{
    struct scratch *s = *state;

    make(s, "mkdir -p 0/b 1/a; echo x >0/a; echo x >1/b; echo x >1/a/inner");
    merge(s, 2);
    make(s, "test -f out/a; test -d out/b");
}

/* An empty file of a store may be in very many trees. */
static void a_file_with_too_many_names_is_copied(void **state)
{
    enum { MOST = 70000 };
    struct scratch *s = *state;
    char layer[300], out[300], name[32];
    const char *layers[] = {layer};
    struct bz_err err;
    int rc = 0;

    make(s, "mkdir 0 names; echo x >0/f; chmod 640 0/f");
    for (int i = 0; i < MOST && rc == 0; i++) {
        snprintf(name, sizeof(name), "names/%d", i);
        rc = linkat(s->fd, "0/f", s->fd, name, 0);
    }
    if (rc == 0)
        skip(); /* here it can have as many as it likes */
    snprintf(layer, sizeof(layer), "%s/0", s->path);
    snprintf(out, sizeof(out), "%s/out", s->path);
    merge(s, 1);
    make(s, "cmp 0/f out/f; test \"$(stat -c %a,%h out/f)\" = 640,1");
    assert_ok(bz_merge_check(&(struct bz_merge_in){.layers = layers, .n = 1}, out,
                             BZ_MERGE_LINK, &err),
              &err);
    make(s, "touch out/f");
    assert_int_equal(bz_merge_check(&(struct bz_merge_in){.layers = layers, .n = 1},
                                    out, BZ_MERGE_LINK, &err),
                     BZ_E_CORRUPT);
}

static void a_directory_that_is_there_is_an_error(void **state)
{
    struct scratch *s = *state;
    const char *layers[] = {s->path};
    struct bz_err err;

    assert_int_equal(bz_merge_layers(&(struct bz_merge_in){.layers = layers, .n = 1},
                                     s->path, BZ_MERGE_LINK, &err),
                     BZ_E_EXISTS);
}

static void copies_are_files_of_their_own_with_modes_and_times(void **state)
{
    struct scratch *s = *state;

    make(s, "mkdir -p 0/d 1/d 1/e/f; echo x >0/d/a; chmod 4751 0/d/a; ln 0/d/a 0/b; "
            "ln -s none 1/l; chmod 2500 1/e; touch -hd @1000 0/d/a 1/l 1/e; umask 077");
    merge_as(s, 2, BZ_MERGE_COPY);
    make(s, "test \"$(stat -c %a,%Y,%h out/d/a)\" = 4751,1000,1; cat out/b >/dev/null; "
            "test \"$(stat -c %a,%Y out/e)\" = 2500,1000; test -d out/e/f; "
            "test \"$(readlink out/l),$(stat -c %Y out/l)\" = none,1000");
}

static void a_plain_one_has_copies_that_are_not_setuid_nor_writable(void **state)
{
    struct scratch *s = *state;
    char layer[300], out[300];
    const char *layers[] = {layer};
    struct bz_err err;

    make(s, "mkdir -p 0/d; echo x >0/f; echo y >0/d/g; chmod 6711 0/f; chmod 2755 0/d; "
            "touch -hd @1000 0/f");
    snprintf(layer, sizeof(layer), "%s/0", s->path);
    snprintf(out, sizeof(out), "%s/out", s->path);
    merge_as(s, 1, BZ_MERGE_PLAIN);
    make(s, "cmp 0/f out/f; test \"$(stat -c %a,%h,%Y out/f)\" = 511,1,1000; "
            "test $(stat -c %a out/d) = 755; test $(stat -c %a,%h out/d/g) = 444,1; "
            "test $(stat -c %a 0/f) = 6711");
    assert_ok(bz_merge_check(&(struct bz_merge_in){.layers = layers, .n = 1}, out,
                             BZ_MERGE_PLAIN, &err),
              &err);
    make(s, "echo z >out/f; touch -d @1000 out/f; chmod 511 out/f");
    assert_int_equal(bz_merge_check(&(struct bz_merge_in){.layers = layers, .n = 1},
                                    out, BZ_MERGE_PLAIN, &err),
                     BZ_E_CORRUPT);
    make(s, "echo x >out/f; touch -d @1000 out/f; chmod 511 out/f");
    assert_ok(bz_merge_check(&(struct bz_merge_in){.layers = layers, .n = 1}, out,
                             BZ_MERGE_PLAIN, &err),
              &err);
    make(s, "chmod 4511 out/f");
    assert_int_equal(bz_merge_check(&(struct bz_merge_in){.layers = layers, .n = 1},
                                    out, BZ_MERGE_PLAIN, &err),
                     BZ_E_CORRUPT);
    make(s, "ln -f 0/f out/f");
    assert_int_equal(bz_merge_check(&(struct bz_merge_in){.layers = layers, .n = 1},
                                    out, BZ_MERGE_PLAIN, &err),
                     BZ_E_CORRUPT);
}

static void all_but_a_part_is_left_out(void **state)
{
    struct scratch *s = *state;
    char top[300], low[300], out[300];
    const char *layers[] = {top, low};
    const struct bz_merge_in in = {layers, 2, BZ_STR("a/b")};
    struct bz_err err;

    make(s, "mkdir -p 0/a/b 0/c 1/a/b/d 1/a/bb; echo 0 >0/a/b/f; echo 1 >1/a/b/f; "
            "echo 1 >1/a/b/d/g; echo 1 >1/a/x; echo 1 >1/a/bb/x; echo 0 >0/c/x");
    snprintf(top, sizeof(top), "%s/0", s->path);
    snprintf(low, sizeof(low), "%s/1", s->path);
    snprintf(out, sizeof(out), "%s/out", s->path);
    assert_ok(bz_merge_layers(&in, out, BZ_MERGE_PLAIN, &err), &err);
    make(s, "test \"$(cd out; find | sort | tr '\\n' ' ')\" = "
            "'. ./a ./a/b ./a/b/d ./a/b/d/g ./a/b/f '; test $(cat out/a/b/f) = 0");
    assert_ok(bz_merge_check(&in, out, BZ_MERGE_PLAIN, &err), &err);
    make(s, "echo more >out/a/x");
    assert_int_equal(bz_merge_check(&in, out, BZ_MERGE_PLAIN, &err), BZ_E_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(the_topmost_wins_and_all_else_is_seen),
        TEST(times_are_those_of_the_layers),
        TEST(what_a_layer_deletes_is_not_seen),
        TEST(an_opaque_directory_hides_what_lies_below),
        TEST(a_file_hides_a_directory_and_the_other_way_round),
        TEST(copies_are_files_of_their_own_with_modes_and_times),
        TEST(a_file_with_too_many_names_is_copied),
        TEST(all_but_a_part_is_left_out),
        TEST(a_directory_that_is_there_is_an_error),
        TEST(a_plain_one_has_copies_that_are_not_setuid_nor_writable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
