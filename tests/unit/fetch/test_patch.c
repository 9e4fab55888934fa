#include "fetch/patch.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/fetch/fetching.h"

#define DIFF(from, to)                                                                 \
    "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-" from "\n+" to "\n three\n"

static void patches_are_listed_in_their_order(void **state)
{
    struct fetching *f = *state;
    BZ_CLEANUP(bz_vec_release) struct bz_patches all = {0};

    assert_ok(
        fetching_open(f, "file://b.patch file://defconfig file://a.diff;striplevel=2 "
                         "file://c.txt;apply=yes;pname=see file://d.patch;apply=no "
                         "http://h/e.patch.gz;patchdir=sub file://dir/g.patch "
                         "file://h.patch;subdir=x"),
        &f->err);
    assert_ok(bz_patch_list(f->fetch, &all, &f->err), &f->err);
    assert_int_equal(all.len, 6);
    assert_string_equal(all.at[0].file.p, "b.patch");
    assert_int_equal(all.at[0].strip, 1);
    assert_string_equal(all.at[1].file.p, "a.diff");
    assert_int_equal(all.at[1].strip, 2);
    assert_true(bz_str_eq(all.at[2].name, BZ_STR("see")));
    assert_string_equal(all.at[3].file.p, "e.patch");
    assert_true(bz_str_eq(all.at[3].below, BZ_STR("sub")));
    assert_string_equal(all.at[4].file.p, "dir/g.patch");
    assert_true(bz_str_eq(all.at[4].name, BZ_STR("g.patch")));
    assert_string_equal(all.at[5].file.p, "x/h.patch");
}

/* Runs the script for one patch over work/, and returns how it ended; what it said is
 * in the file "said". */
static int apply(struct fetching *f, const char *file, enum bz_patch_by by)
{
    BZ_CLEANUP(bz_vec_release) struct bz_patches all = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0}, line = {0};
    struct bz_patch p = {
        .name = bz_str_from(file), .file = bz_str_from(file), .strip = 1, .below = {0}};
    struct bz_str dir = bz_str_from(f->dir->path);
    struct bz_buf source = {0}, unpacked = {0};
    int status;

    BZ_VEC_PUSH(&all, p);
    bz_buf_addf(&source, "%.*s/work", BZ_STR_ARG(dir));
    bz_buf_addf(&unpacked, "%.*s/files", BZ_STR_ARG(dir));
    bz_buf_addf(&text, "set -e\nbbnote() { :; }\nbbwarn() { echo \"W: $*\"; }\n"
                       "bbfatal() { echo \"E: $*\"; exit 1; }\n");
    bz_patch_script(&all, by, bz_buf_str(&source), bz_buf_str(&unpacked), &text);
    put(f->dir->fd, "script", bz_buf_text(&text));
    bz_buf_addf(&line, "cd %.*s && sh script >said 2>&1", BZ_STR_ARG(dir));
    status = system(bz_buf_text(&line));
    bz_buf_release(&source);
    bz_buf_release(&unpacked);
    return status;
}

static bool has_said(struct fetching *f, const char *text)
{
    char said[2000] = "";
    int fd = openat(f->dir->fd, "said", O_RDONLY);

    assert_true(read(fd, said, sizeof(said) - 1) >= 0);
    close(fd);
    return strstr(said, text);
}

static void a_patch_applies_with_either_program(void **state)
{
    struct fetching *f = *state;

    put(f->dir->fd, "files/it's.patch", DIFF("two", "2"));
    put(f->dir->fd, "files/two.patch", DIFF("2", "zwei"));
    put(f->dir->fd, "work/f", "one\ntwo\nthree\n");
    assert_int_equal(apply(f, "it's.patch", BZ_PATCH_PATCH), 0);
    assert_file(f, "work/f", "one\n2\nthree\n");
    assert_int_equal(apply(f, "two.patch", BZ_PATCH_GIT), 0);
    assert_file(f, "work/f", "one\nzwei\nthree\n");
    assert_false(has_said(f, "W: "));
}

static void fuzz_is_reported(void **state)
{
    struct fetching *f = *state;

    put(f->dir->fd, "files/one.patch", DIFF("two", "2"));
    put(f->dir->fd, "work/f", "changed\ntwo\nthree\n");
    assert_int_equal(apply(f, "one.patch", BZ_PATCH_PATCH), 0);
    assert_true(has_said(f, "W: one.patch only fits nearly"));
    assert_true(has_said(f, "Hunk #1 succeeded at 1 with fuzz 1."));
}

static void a_patch_that_does_not_apply_changes_nothing(void **state)
{
    struct fetching *f = *state;

    put(f->dir->fd, "files/one.patch",
        DIFF("two", "2") "--- a/g\n+++ b/g\n@@ -1 +1 @@\n"
                         "-nothing like it\n+x\n");
    put(f->dir->fd, "work/f", "one\ntwo\nthree\n");
    put(f->dir->fd, "work/g", "g\n");
    assert_int_not_equal(apply(f, "one.patch", BZ_PATCH_PATCH), 0);
    assert_true(has_said(f, "E: one.patch does not apply"));
    assert_file(f, "work/f", "one\ntwo\nthree\n");
    assert_int_not_equal(apply(f, "one.patch", BZ_PATCH_GIT), 0);
    assert_true(has_said(f, "E: one.patch does not apply"));
    assert_file(f, "work/f", "one\ntwo\nthree\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fetching_test(patches_are_listed_in_their_order),
        fetching_test(a_patch_applies_with_either_program),
        fetching_test(fuzz_is_reported),
        fetching_test(a_patch_that_does_not_apply_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
