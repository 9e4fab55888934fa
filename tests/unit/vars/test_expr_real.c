#include "vars/expr_real.h"

#include "base/buf.h"
#include "tests/unit/os/scratch.h"
#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("os.path.realpath('/')", "/"),
    ROW("os.path.realpath('//')", "/"),
    ROW("os.path.realpath('/no-such/a/../b/./c/')", "/no-such/b/c"),
    ROW("os.path.realpath('/../no-such')", "/no-such"),
    ROW("os.path.realpath('/no-such/../..')", "/"),
    ROW("os.path.realpath('/dev/null/x')", "/dev/null/x"),
    ROW("oe.path.canonicalize('/no-such/,/no-such/../x')", "/no-such/,/x"),
    ROW("oe.path.canonicalize('/no-such:/$x:/y/', ':')", "/no-such:/y/"),
    ROW("oe.path.canonicalize('/$x')", ""),
    ROW("oe.path.canonicalize('/no//such', sep=',')", "/no/such"),
};

static const char *const unknown[] = {
    "os.path.realpath('relative')",       "os.path.realpath('')",
    "os.path.realpath('/', strict=True)", "oe.path.canonicalize(None)",
    "oe.path.canonicalize('/a,')",        "oe.path.canonicalize('/a', '::')",
};

static void names_that_do_not_exist_stay(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void what_depends_on_the_current_directory_is_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

/* The expression with DIR in it, for the scratch directory. */
static void check_in(struct bz_vars *v, const struct scratch *s, const char *path,
                     int rc, const char *want)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf code = {0}, full = {0};

    bz_buf_addf(&code, "os.path.realpath('%s/%s')", s->path, path);
    if (want)
        bz_buf_addf(&full, "%s%s", s->path, want);
    expr_check(v, bz_buf_text(&code), rc, want ? bz_buf_text(&full) : NULL);
}

static void links_are_followed_but_not_for_ever(void **state)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    struct scratch *s = *state;

    make_dirs(s->fd, "a/b");
    make_dirs(s->fd, "c");
    assert_int_equal(symlinkat("../a", s->fd, "c/up"), 0);
    assert_int_equal(symlinkat("c/up/b", s->fd, "two"), 0);
    assert_int_equal(symlinkat("loop", s->fd, "loop"), 0);
    check_in(v, s, "c/up", 0, "/a");
    check_in(v, s, "c/up/..", 0, "");
    check_in(v, s, "two/file", 0, "/a/b/file");
    check_in(v, s, "two/../../c", 0, "/c");
    check_in(v, s, "loop/x", BZ_E_NOSUP, NULL);
    expr_check(v, "os.path.realpath('/dev/null')", 0, "/dev/null");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_do_not_exist_stay),
        cmocka_unit_test(what_depends_on_the_current_directory_is_left_to_python),
        scratch_test(links_are_followed_but_not_for_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
