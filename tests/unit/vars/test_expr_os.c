#include "vars/expr_os.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("os.path.basename('/a/b')", "b"),
    ROW("os.path.basename('/a/b/')", ""),
    ROW("os.path.basename('a')", "a"),
    ROW("os.path.basename('')", ""),
    ROW("os.path.basename('/')", ""),
    ROW("os.path.dirname('/a/b')", "/a"),
    ROW("os.path.dirname('/a/b/')", "/a/b"),
    ROW("os.path.dirname('a')", ""),
    ROW("os.path.dirname('/')", "/"),
    ROW("os.path.dirname('//a')", "//"),
    ROW("os.path.dirname('///')", "///"),
    ROW("os.path.dirname('a//b')", "a"),
    ROW("os.path.dirname('/a')", "/"),
    ROW("os.path.dirname('')", ""),
    ROW("os.path.split('/a/b')", "('/a', 'b')"),
    ROW("os.path.split('a')", "('', 'a')"),
    ROW("os.path.split('/')", "('/', '')"),
    ROW("os.path.split('a/')", "('a', '')"),
    ROW("os.path.split('//x')", "('//', 'x')"),
    ROW("os.path.splitext('a.b.c')", "('a.b', '.c')"),
    ROW("os.path.splitext('.bashrc')", "('.bashrc', '')"),
    ROW("os.path.splitext('a/.b')", "('a/.b', '')"),
    ROW("os.path.splitext('a.b/c')", "('a.b/c', '')"),
    ROW("os.path.splitext('...x.y')", "('...x', '.y')"),
    ROW("os.path.splitext('')", "('', '')"),
    ROW("os.path.splitext('a.')", "('a', '.')"),
    ROW("os.path.splitext('..')", "('..', '')"),
    ROW("os.path.splitext('a/...')", "('a/...', '')"),
    ROW("os.path.splitext('..a.')", "('..a', '.')"),
    ROW("os.path.join('a', 'b')", "a/b"),
    ROW("os.path.join('a/', 'b')", "a/b"),
    ROW("os.path.join('a', '/b')", "/b"),
    ROW("os.path.join('', 'b')", "b"),
    ROW("os.path.join('a', '')", "a/"),
    ROW("os.path.join('a', 'b', 'c')", "a/b/c"),
    ROW("os.path.join('/')", "/"),
    ROW("os.path.join('a', '', 'b')", "a/b"),
    ROW("os.path.join('', '')", ""),
    ROW("os.path.join('a/', '')", "a/"),
    ROW("os.path.normpath('a/../b')", "b"),
    ROW("os.path.normpath('/../a')", "/a"),
    ROW("os.path.normpath('//a')", "//a"),
    ROW("os.path.normpath('///a')", "/a"),
    ROW("os.path.normpath('a/./b//c/')", "a/b/c"),
    ROW("os.path.normpath('')", "."),
    ROW("os.path.normpath('..')", ".."),
    ROW("os.path.normpath('../..')", "../.."),
    ROW("os.path.normpath('a/..')", "."),
    ROW("os.path.normpath('/')", "/"),
    ROW("os.path.normpath('../a/../..')", "../.."),
    ROW("os.path.normpath('a/b/../../..')", ".."),
    ROW("os.path.normpath('//..')", "//"),
    ROW("os.path.normpath('./a')", "a"),
    ROW("os.path.normpath('/a/b/../..')", "/"),
    ROW("os.path.normpath('..a/..')", "."),
    ROW("os.path.normpath('//')", "//"),
    ROW("os.path.normpath('a/..//../b')", "../b"),
    ROW("os.path.isabs('/a')", "True"),
    ROW("os.path.isabs('a')", "False"),
    ROW("os.path.isabs('')", "False"),
    ROW("os.path.relpath('/usr/lib', '/usr/bin')", "../lib"),
    ROW("os.path.relpath('/usr', '/usr')", "."),
    ROW("os.path.relpath('/a/b', '/')", "a/b"),
    ROW("os.path.relpath('/', '/a/b')", "../.."),
    ROW("os.path.relpath('/a/../b', '/c/./d')", "../../b"),
    ROW("os.path.relpath('/abc', '/ab')", "../abc"),
    ROW("os.path.relpath('/a/b/c', '/a')", "b/c"),
    ROW("os.path.relpath('//a', '/b')", "../a"),
    ROW("os.path.relpath('/', '/')", "."),
    ROW("os.path.relpath(path='/a', start='/b')", "../a"),
    ROW("os.path.exists('/')", "True"),
    ROW("os.path.exists('/nonexistent-name')", "False"),
    ROW("os.path.isdir('/')", "True"),
    ROW("os.path.isfile('/')", "False"),
    ROW("os.path.islink('/')", "False"),
    ROW("os.path.lexists('/')", "True"),
    ROW("os.path.isfile('/dev/null')", "False"),
    ROW("os.path.exists('/\\x00')", "False"),
    ROW("len(os.uname())", "5"),
    ROW("os.uname()[0]", "Linux"),
    ROW("os.uname()[4] != ''", "True"),
    ROW("len(time.strftime('%Y%m%d', time.gmtime()))", "8"),
    ROW("len(time.strftime('%H%M%S', time.gmtime()))", "6"),
    ROW("time.strftime('x', time.gmtime())", "x"),
    ROW("os.getpid() > 0", "True"),
    ROW("os.getuid() >= 0", "True"),
    ROW("os.getgid() >= 0", "True"),
};

static const struct expr_row errors[] = {
    ROW("os.path.relpath('', '/a')", "ValueError: no path specified"),
    ROW("os.path.relpath(None, '/a')", "ValueError: no path specified"),
    ROW("os.path.basename(None)",
        "TypeError: expected str, bytes or os.PathLike object, not NoneType"),
    ROW("os.path.join('a', None)", "TypeError: join() argument must be str, bytes, or "
                                   "os.PathLike object, not 'NoneType'"),
    ROW("os.path.join(None, 'a')",
        "TypeError: expected str, bytes or os.PathLike object, not NoneType"),
    ROW("os.path.dirname([])",
        "TypeError: expected str, bytes or os.PathLike object, not list"),
    ROW("os.path.normpath(None)",
        "TypeError: expected str, bytes or os.PathLike object, not NoneType"),
};

static const char *const unknown[] = {
    "os.path.relpath('a', 'b')",
    "os.path.relpath('/a', None)",
    "os.path.relpath('/a')",
    "os.path.basename(5)",
    "os.path.exists('relative')",
    "os.path.exists(None)",
    "os.path.expanduser('~')",
    "os.environ['HOME']",
    "os.getcwd()",
    "os.path.sep",
    "os.path.join()",
    "os.uname()",
    "time.gmtime()",
    "time.strftime('%A', time.gmtime())",
    "time.strftime('%', time.gmtime())",
    "time.strftime('%Y')",
    "time.time()",
};

static void paths_are_treated_as_by_posixpath(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void what_is_no_path_raises(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void what_depends_on_the_process_is_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

static void the_time_is_now(void **state)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = bz_vars_new(NULL);
    static const struct bz_str code = BZ_STR("time.strftime('%Y', time.gmtime())");
    struct bz_err err = {0};
    struct bz_str year;

    (void)state;
    assert_ok(bz_expr_eval(v, code, NULL, &year, &err), &err);
    assert_int_equal(year.n, 4);
    assert_true(bz_str_cmp(year, BZ_STR("2020")) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_treated_as_by_posixpath),
        cmocka_unit_test(what_is_no_path_raises),
        cmocka_unit_test(what_depends_on_the_process_is_left_to_python),
        cmocka_unit_test(the_time_is_now),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
