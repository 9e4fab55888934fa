#include "task/builtin_step.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "os/fs.h"
#include "tests/unit/task/workshop.h"

static void set_recipe(struct world *w, const char *text)
{
    struct file app = {"layer/app.bb", text};

    put_files(w, &app, 1);
}

/* What a part of a job writes goes to the directory "top". */
static int do_part(struct world *w, struct workshop *b, enum bz_builtin what)
{
    struct bz_job_fill fill = {0};
    struct bz_vars *v;
    int rc = bz_jobs_vars(&b->j, 0, &v, &w->err);

    assert_ok(rc, &w->err);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, at(w, "top").p, 0755, &w->err), &w->err);
    rc = bz_builtin_step_fill(&b->j, v, 0, what, &fill, &w->err);
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
    struct workshop b;
    size_t n;

    bench_files(w);
    put_files(w, files, BZ_COUNTOF(files));
    set_recipe(
        w, "SRC_URI = \"file://hello.c file://a.patch\"\nDL_DIR = \"${TOPDIR}/dl\"\n"
           "FILESPATH = \"${ONE}/app\"\nS = \"${WORKDIR}/s\"\n");
    workshop_begin(&b, w);
    assert_ok(do_part(w, &b, BZ_BUILTIN_FETCH), &w->err);
    assert_ok(bz_fs_read(AT_FDCWD, at(w, "top/tmp/work/app/" BZ_BUILTIN_STEP_LIST).p,
                         1000, &text, &n, &w->err),
              &w->err);
    assert_non_null(strstr(text, "file hello.c "));
    assert_non_null(strstr(text, "\nfile a.patch "));
    assert_ok(do_part(w, &b, BZ_BUILTIN_UNPACK), &w->err);
    assert_true(bz_fs_exists(AT_FDCWD, at(w, "top/tmp/work/app/hello.c").p));
    assert_ok(bz_builtin_step_patch(&b.j, 0, &body, &w->err), &w->err);
    assert_non_null(strstr(bz_buf_text(&body), "apply_patch 'a.patch' '"));
    assert_non_null(strstr(bz_buf_text(&body), "/tmp/work/app/s' 1\n"));
    workshop_close(&b);
}

static void a_place_outside_of_the_build_is_refused(void **state)
{
    struct world *w = *state;
    struct workshop b;

    bench_files(w);
    set_recipe(w, "SRC_URI = \"\"\nDL_DIR = \"${TOPDIR}/dl\"\nUNPACKDIR = \"/etc\"\n");
    workshop_begin(&b, w);
    assert_int_equal(do_part(w, &b, BZ_BUILTIN_UNPACK), BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "UNPACKDIR is '/etc': it has to be below"));
    workshop_close(&b);
    set_recipe(w, "SRC_URI = \"\"\nDL_DIR = \"${TOPDIR}/dl\"\n"
                  "do_build[dirs] = \"${TOPDIR} /etc\"\n");
    workshop_begin(&b, w);
    assert_int_equal(do_part(w, &b, BZ_BUILTIN_UNPACK), BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "/app.bb:3: do_build[dirs] has '/etc': it"));
    workshop_close(&b);
}

static void assert_mode(struct world *w, const char *path, mode_t mode)
{
    struct stat st;

    assert_int_equal(stat(at(w, path).p, &st), 0);
    assert_int_equal(st.st_mode & 07777, mode);
}

/* Whoever builds may have a umask of their own, which is not to be seen. */
static void directories_are_made_and_the_umask_holds(void **state)
{
    static const char *const masks[] = {"", "do_build[umask] = \"027\"\n"};
    static const mode_t modes[] = {0755, 0750};
    struct world *w = *state;
    struct workshop b;
    mode_t before = umask(077);

    bench_files(w);
    put_files(w, &(struct file){"layer/app/hello.c", "int x;\n"}, 1);
    for (size_t i = 0; i < BZ_COUNTOF(masks); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

        bz_buf_addf(
            &text,
            "SRC_URI = \"file://hello.c;subdir=in\"\nDL_DIR = \"${TOPDIR}/dl\"\n"
            "FILESPATH = \"${ONE}/app\"\nUNPACKDIR = \"${WORKDIR}/src%zu\"\n"
            "do_build[dirs] = \"${DL_DIR} ${WORKDIR}/a%zu/b ${T}/\"\n%s",
            i, i, masks[i]);
        set_recipe(w, bz_buf_text(&text));
        workshop_begin(&b, w);
        assert_ok(do_part(w, &b, BZ_BUILTIN_UNPACK), &w->err);
        workshop_close(&b);
    }
    umask(before);
    assert_mode(w, "top/tmp/work/app/a0/b", modes[0]);
    assert_mode(w, "top/tmp/work/app/src0/in", modes[0]);
    assert_mode(w, "top/tmp/work/app/a1", modes[1]);
    assert_mode(w, "top/tmp/work/app/a1/b", modes[1]);
    assert_mode(w, "top/tmp/work/app/src1/in", modes[1]);
    assert_true(bz_fs_exists(AT_FDCWD, at(w, "top/tmp/work/app/temp").p));
    assert_false(bz_fs_exists(AT_FDCWD, at(w, "top/dl").p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sources_are_listed_unpacked_and_patched,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(directories_are_made_and_the_umask_holds,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_place_outside_of_the_build_is_refused,
                                        world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
