#include "project/sample.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "os/fs.h"
#include "tests/unit/project/project_test.h"

/* Below the scratch directory: the program, the directory for state, and what is found;
 * a layer that is NULL is not. */
static const struct {
    const char *program, *state, *layer, *build_dir;
} cases[] = {
    {"/usr/bin/bitzel",                    "/state", "/usr/share/bitzel/recipes", "/state/sample"     },
    {"/usr/bin/bitzel",                    NULL,     NULL,                        NULL                },
    {"/tree/build/dev/cmd/bitzel/bitzel",  "/state", "/tree/recipes",
     "/tree/build/sample"                                                                             },
    {"/tree/build/dev/cmd/bitzel/bitzel",  NULL,     "/tree/recipes",             "/tree/build/sample"},
    {"/other/build/dev/cmd/bitzel/bitzel", "/state", NULL,                        NULL                },
    {"/opt/bitzel",                        "/state", NULL,                        NULL                },
};

static struct bz_str below(struct bz_arena *a, const struct scratch *s,
                           const char *path)
{
    return path ? bz_arena_printf(a, "%s%s", s->path, path) : (struct bz_str){0};
}

static void it_is_found_beside_the_program_or_in_its_checkout(void **state)
{
    struct scratch *s = *state;

    put_file(s, "usr/share/bitzel/recipes/conf/distro/sample.conf", "");
    put_file(s, "tree/recipes/conf/distro/sample.conf", "");
    put_file(s, "other/recipes/readme", "of something else");
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        struct bz_sample found;
        bool is = bz_sample_find(&a, below(&a, s, cases[i].program).p,
                                 below(&a, s, cases[i].state), &found);

        assert_int_equal(is, cases[i].layer != NULL);
        if (!is)
            continue;
        assert_string_equal(found.layer, below(&a, s, cases[i].layer).p);
        assert_string_equal(found.build_dir, below(&a, s, cases[i].build_dir).p);
    }
}

static void what_the_user_wrote_stays_and_the_layer_is_kept_up_to_date(void **state)
{
    struct scratch *s = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_sample sample = {"/first/recipes", below(&a, s, "/b").p,
                               below(&a, s, "/links").p};
    struct stat first, second;
    struct bz_err err;

    assert_ok(bz_sample_write(&sample, &err), &err);
    assert_int_equal(fstatat(s->fd, "b/conf/local.conf", &first, 0), 0);
    assert_int_equal(fstatat(s->fd, "b/conf/bblayers.conf", &first, 0), 0);
    put(s->fd, "b/conf/local.conf", "mine");
    assert_ok(bz_sample_write(&sample, &err), &err);
    assert_int_equal(fstatat(s->fd, "b/conf/bblayers.conf", &second, 0), 0);
    assert_int_equal(first.st_ino, second.st_ino);
    sample.layer = "/other/place/recipes";
    assert_ok(bz_sample_write(&sample, &err), &err);
    assert_int_equal(fstatat(s->fd, "b/conf/bblayers.conf", &second, 0), 0);
    assert_int_equal(second.st_size, first.st_size + 6);
    assert_int_equal(fstatat(s->fd, "b/conf/local.conf", &second, 0), 0);
    assert_int_equal(second.st_size, 4);
}

static void a_layer_whose_path_words_cannot_hold_is_named_by_a_link(void **state)
{
    struct scratch *s = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    const struct bz_sample sample = {"/a b/recipes", below(&a, s, "/b").p,
                                     below(&a, s, "/links").p};
    char *text = NULL;
    size_t n;
    struct bz_err err = {0};

    assert_ok(bz_sample_write(&sample, &err), &err);
    assert_ok(bz_fs_read(s->fd, "b/conf/bblayers.conf", 1000, &text, &n, &err), &err);
    assert_null(strstr(text, sample.layer));
    assert_non_null(
        strstr(text, bz_arena_printf(&a, "BBLAYERS = \"%s/dir-", sample.links).p));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(it_is_found_beside_the_program_or_in_its_checkout),
        scratch_test(what_the_user_wrote_stays_and_the_layer_is_kept_up_to_date),
        scratch_test(a_layer_whose_path_words_cannot_hold_is_named_by_a_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
