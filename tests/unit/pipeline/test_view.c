#include "pipeline/view.h"

#include <stdio.h>

#include "base/buf.h"
#include "tests/unit/os/scratch.h"

/* The layers a, b and a-2, with files. */
struct fixture {
    char host[3][300];
    struct bz_job_view layers[3];
    struct bz_arena a;
    struct bz_view_list list;
};

static void open_layers(struct fixture *f, struct scratch *s)
{
    static const char *const names[] = {"/layers/a", "/layers/b", "/layers/a-2"};

    *f = (struct fixture){0};
    make_dirs(s->fd, "a/files/x");
    make_dirs(s->fd, "a/files-more");
    make_dirs(s->fd, "b/scripts");
    make_dirs(s->fd, "a-2");
    put(s->fd, "a/files/one", "1");
    put(s->fd, "a-2/two", "2");
    for (size_t i = 0; i < 3; i++) {
        snprintf(f->host[i], sizeof(f->host[i]), "%s/%s", s->path,
                 names[i] + strlen("/layers/"));
        f->layers[i] = (struct bz_job_view){names[i], f->host[i]};
    }
}

static void close_layers(struct fixture *f)
{
    bz_vec_release(&f->list);
    bz_arena_release(&f->a);
}

static void a_script_sees_what_it_names(void **state)
{
    static const struct {
        const char *script;
        const char *seen; /* names, with a space after each */
    } rows[] = {
        {"true",                                                        ""                     },
        {"cat /layers/a/files/one",                                     "/layers/a/files/one " },
        {"cat /layers/a/files/none /layers/c/x",                        "/layers/a/files/none "},
        {"cp /layers/a/files/$x.c .",                                   "/layers/a/files "     },
        {"cp /layers/a/files/on* .",                                    "/layers/a/files "     },
        {"cp -r /layers/a/files/ .",                                    "/layers/a/files "     },
        {"P=\"/layers/b/scripts:/layers/a-2/two\"",
         "/layers/a-2/two /layers/b/scripts "                                                  },
        {"ls /layers/a; ls /layers/a/files",                            "/layers/a "           },
        {"ls /layers/a/files-more /layers/a/files/one /layers/a/files",
         "/layers/a/files /layers/a/files-more "                                               },
        {"ls /layers/$x /layers /layersmore /x/layers/a",               ""                     },
        {"ls /layers/a/../b",                                           "/layers/a "           },
        {"ls /layers/a/.//files",                                       "/layers/a/files "     },
        {"# /layers/a\nx; bz_where='/layers/b'\n",                      ""                     },
        {"ls /layers/a-2x",                                             ""                     },
    };
    struct fixture f;

    open_layers(&f, *state);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        char seen[300] = "";

        BZ_VEC_CLEAR(&f.list);
        bz_view_find(bz_str_from(rows[i].script), f.layers, 3, &f.a, &f.list);
        for (size_t k = 0; k < f.list.len; k++) {
            size_t n = strlen(seen);

            snprintf(seen + n, sizeof(seen) - n, "%s ", f.list.at[k].inside);
            assert_string_equal(strstr(f.list.at[k].host, f.list.at[k].inside + 7),
                                f.list.at[k].inside + 7);
        }
        assert_string_equal(seen, rows[i].seen);
    }
    close_layers(&f);
}

static void of_too_many_paths_the_layers_are_seen_whole(void **state)
{
    struct bz_buf script = {0};
    struct fixture f;

    open_layers(&f, *state);
    for (int i = 0; i <= BZ_VIEW_MAX; i++) {
        char name[32];

        assert_int_equal(f.list.len, 0);
        snprintf(name, sizeof(name), "a/%d", i);
        put(((struct scratch *)*state)->fd, name, "");
        bz_buf_addf(&script, "cat /layers/a/%d /layers/a/%d\n", i, i);
        if (i != BZ_VIEW_MAX - 1)
            continue;
        bz_view_find(bz_buf_str(&script), f.layers, 3, &f.a, &f.list);
        assert_int_equal(f.list.len, BZ_VIEW_MAX);
        BZ_VEC_CLEAR(&f.list);
    }
    bz_view_find(bz_buf_str(&script), f.layers, 3, &f.a, &f.list);
    assert_int_equal(f.list.len, 3);
    bz_buf_release(&script);
    close_layers(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_script_sees_what_it_names),
        scratch_test(of_too_many_paths_the_layers_are_seen_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
