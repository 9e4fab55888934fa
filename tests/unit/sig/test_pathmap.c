#include "sig/pathmap.h"

#include <stdio.h>

#include "base/buf.h"
#include "tests/unit/os/scratch.h"

/* The layers /at/a, /at/b and /at/a-2 of a build in /at/build. */
static void open_map(struct bz_pathmap *m, bool bare)
{
    static const char *const dirs[] = {"/at/build/../a", "/at/b", "/at/a-2"};

    *m = (struct bz_pathmap){.root = BZ_STR("/bitzel"), .bare = bare};
    BZ_VEC_PUSH(&m->places,
                (struct bz_pathmap_place){BZ_STR("/at/build"), m->root, SIZE_MAX});
    for (size_t i = 0; i < BZ_COUNTOF(dirs); i++)
        bz_pathmap_add(m, bz_str_from(dirs[i]), (struct bz_str){0});
}

static void a_script_sees_what_it_names(void **state)
{
    static const struct {
        const char *script;
        const char *seen; /* paths, with a space after each */
    } rows[] = {
        {"true",                                            ""                          },
        {"cat /at/a/files/one",                             "/at/a/files/one "          },
        {"cat /at/build/../a/files/one",                    "/at/a/files/one "          },
        {"cat /at/a/files/none /at/c/x",                    "/at/a/files/none "         },
        {"cp /at/a/files/$x.c .",                           "/at/a/files "              },
        {"cp /at/a/files/on* .",                            "/at/a/files "              },
        {"cp -r /at/a/files/ .",                            "/at/a/files "              },
        {"P=\"/at/b/scripts:/at/a-2/two\"",                 "/at/a-2/two /at/b/scripts "},
        {"ls /at/a; ls /at/a/files",                        "/at/a "                    },
        {"ls /at/a/files-more /at/a/files/one /at/a/files",
         "/at/a/files /at/a/files-more "                                                },
        {"ls /at/$x /at /atmore /x/at/a",                   ""                          },
        {"ls /at/a/../b",                                   "/at/a "                    },
        {"ls /at/a/.//files",                               "/at/a/files "              },
        {"# /at/a\nx; bz_where='/at/b'\n",                  ""                          },
        {"ls /at/a-2x",                                     ""                          },
        {"ls /at/build/tmp",                                ""                          },
    };
    struct bz_pathmap m;

    (void)state;
    open_map(&m, false);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_vec_release) struct bz_pathmap_paths list = {0};
        char seen[300] = "";

        bz_pathmap_find(&m, bz_str_from(rows[i].script), &m.arena, &list);
        for (size_t k = 0; k < list.len; k++) {
            size_t n = strlen(seen);

            snprintf(seen + n, sizeof(seen) - n, "%s ", list.at[k]);
        }
        assert_string_equal(seen, rows[i].seen);
    }
    bz_pathmap_release(&m);
}

static void of_too_many_paths_the_layers_are_seen_whole(void **state)
{
    struct bz_buf script = {0};
    struct bz_pathmap m;

    (void)state;
    open_map(&m, false);
    for (int i = 0; i <= BZ_PATHMAP_MAX; i++) {
        BZ_CLEANUP(bz_vec_release) struct bz_pathmap_paths list = {0};

        bz_buf_addf(&script, "cat /at/a/%d /at/a/%d\n", i, i);
        if (i < BZ_PATHMAP_MAX - 1)
            continue;
        bz_pathmap_find(&m, bz_buf_str(&script), &m.arena, &list);
        assert_int_equal(list.len, i < BZ_PATHMAP_MAX ? BZ_PATHMAP_MAX : 3);
    }
    bz_buf_release(&script);
    bz_pathmap_release(&m);
}

static void paths_of_the_host_become_those_of_the_sandbox(void **state)
{
    static const struct {
        const char *text, *inside, *bare;
    } rows[] = {
        {"cd /at/build/tmp",     "cd /bitzel/tmp",            "cd /bitzel/tmp"      },
        {"/at/a/x:/at/a-2/y",    "/layers/a/x:/layers/a-2/y", "/at/a/x:/at/a-2/y"   },
        {"/at/build/../a/x",     "/layers/a/x",               "/at/a/x"             },
        {"/at/bx /x/at/b /at/c", "/at/bx /x/layers/b /at/c",  "/at/bx /x/at/b /at/c"},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++)
        for (int bare = 0; bare < 2; bare++) {
            struct bz_str text = bz_str_from(rows[i].text);
            struct bz_pathmap m;

            open_map(&m, bare);
            assert_string_equal(bz_pathmap_inside(&m, &m.arena, text).p,
                                bare ? rows[i].bare : rows[i].inside);
            bz_pathmap_release(&m);
        }
}

static void layers_in_directories_of_one_name_are_told_apart(void **state)
{
    struct bz_pathmap m;
    size_t number;

    (void)state;
    open_map(&m, false);
    bz_pathmap_add(&m, BZ_STR("/else/a"), (struct bz_str){0});
    bz_pathmap_add(&m, BZ_STR("/at/a"), (struct bz_str){0}); /* it is there */
    assert_int_equal(m.layers.len, 4);
    assert_string_equal(m.layers.at[3].inside.p, "/layers/a-3");
    assert_int_equal(bz_pathmap_name_at(&m, "/else/a/f", &number), strlen("/else/"));
    assert_int_equal(number, 2);
    assert_int_equal(bz_pathmap_name_at(&m, "/at/a/f", &number), strlen("/at/"));
    assert_int_equal(number, 1);
    bz_pathmap_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_sees_what_it_names),
        cmocka_unit_test(of_too_many_paths_the_layers_are_seen_whole),
        cmocka_unit_test(paths_of_the_host_become_those_of_the_sandbox),
        cmocka_unit_test(layers_in_directories_of_one_name_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
