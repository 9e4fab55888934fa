#include "pipeline/builtin.h"

#include <fcntl.h>

#include "base/mem.h"
#include "os/fs.h"
#include "tests/unit/pipeline/bench.h"

static void only_python_of_known_names_is_built_in(void **state)
{
    static const struct {
        const char *task;
        bool python;
        enum bz_builtin what;
    } rows[] = {
        {"do_fetch",   true,  BZ_BUILTIN_FETCH },
        {"do_unpack",  true,  BZ_BUILTIN_UNPACK},
        {"do_patch",   true,  BZ_BUILTIN_PATCH },
        {"do_patch",   false, BZ_BUILTIN_NONE  },
        {"do_compile", true,  BZ_BUILTIN_NONE  },
    };
    static const struct bz_vars_at nowhere = {0};
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_str task = bz_str_from(rows[i].task);
        struct bz_vars *v = bz_vars_new(NULL);
        enum bz_builtin what;

        if (rows[i].python)
            assert_ok(bz_vars_set_flag(v, task, BZ_STR("python"), BZ_STR("1"), &nowhere,
                                       &err),
                      &err);
        assert_ok(bz_builtin_of(v, task, &what, &err), &err);
        assert_int_equal(what, rows[i].what);
        bz_vars_free(v);
    }
    assert_true(bz_builtin_waits(BZ_STR("do_fetch")));
    assert_false(bz_builtin_waits(BZ_STR("do_unpack")));
}

static void set_recipe(struct world *w, const char *text)
{
    struct file app = {"layer/app.bb", text};

    put_files(w, &app, 1);
}

/* What a part of a job writes goes to the directory "top". */
static int do_part(struct world *w, struct bench *b, enum bz_builtin what)
{
    struct bz_job_fill fill = {0};
    int rc = bz_builtin_fill(&b->j, 0, what, &fill, &w->err);

    if (rc == 0)
        rc = fill.run(fill.ctx, at(w, "top").p, 2, NULL, NULL, &w->err);
    fill.release(fill.ctx);
    return rc;
}

static void sources_are_listed_unpacked_and_patched(void **state)
{
    static const struct file files[] = {
        {"layer/app/hello.c", "int x;\n"                      },
        {"layer/app/a.patch", "--- a/hello.c\n+++ b/hello.c\n"},
    };
    BZ_CLEANUP(bz_buf_release) struct bz_buf body = {0};
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct world *w = *state;
    struct bench b;
    size_t n;

    bench_files(w);
    put_files(w, files, BZ_COUNTOF(files));
    set_recipe(
        w, "SRC_URI = \"file://hello.c file://a.patch\"\nDL_DIR = \"${TOPDIR}/dl\"\n"
           "FILESPATH = \"${ONE}/app\"\nS = \"${WORKDIR}/s\"\n");
    bench_begin(&b, w);
    assert_ok(do_part(w, &b, BZ_BUILTIN_FETCH), &w->err);
    assert_ok(bz_fs_read(AT_FDCWD, at(w, "top/tmp/work/app/" BZ_BUILTIN_LIST).p, 1000,
                         &text, &n, &w->err),
              &w->err);
    assert_non_null(strstr(text, "file hello.c "));
    assert_non_null(strstr(text, "\nfile a.patch "));
    assert_ok(do_part(w, &b, BZ_BUILTIN_UNPACK), &w->err);
    assert_true(bz_fs_exists(AT_FDCWD, at(w, "top/tmp/work/app/hello.c").p));
    assert_ok(bz_builtin_patch(&b.j, 0, &body, &w->err), &w->err);
    assert_non_null(strstr(bz_buf_text(&body), "apply_patch 'a.patch' '"));
    assert_non_null(strstr(bz_buf_text(&body), "/tmp/work/app/s' 1\n"));
    bench_close(&b);
}

static void a_place_outside_of_the_build_is_refused(void **state)
{
    struct world *w = *state;
    struct bench b;

    bench_files(w);
    set_recipe(w, "SRC_URI = \"\"\nDL_DIR = \"${TOPDIR}/dl\"\nUNPACKDIR = \"/etc\"\n");
    bench_begin(&b, w);
    {
        struct bz_job_fill fill = {0};

        assert_int_equal(bz_builtin_fill(&b.j, 0, BZ_BUILTIN_UNPACK, &fill, &w->err),
                         BZ_E_INVAL);
        assert_non_null(strstr(w->err.msg, "UNPACKDIR is '/etc': it has to be below"));
        fill.release(fill.ctx);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_python_of_known_names_is_built_in),
        cmocka_unit_test_setup_teardown(sources_are_listed_unpacked_and_patched,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_place_outside_of_the_build_is_refused,
                                        world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
