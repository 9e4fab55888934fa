#include "project/buildconf.h"

#include "tests/unit/project/project_test.h"

static struct bz_kas *load(const struct scratch *s, const char *text)
{
    const struct bz_kas_options opt = {.cwd = s->path};
    struct bz_kas *kas = NULL;
    struct bz_err err;

    put_file(s, "kas.yml", text);
    assert_ok(bz_kas_load("kas.yml", &opt, &kas, &err), &err);
    return kas;
}

#define TAIL                                                                           \
    "BBPATH ?= \"${TOPDIR}\"\nBBFILES ?"                                               \
    "?= \"\"\n"
#define LOCAL(machine, distro, mc)                                                     \
    "MACHINE ?"                                                                        \
    "?= \"" machine "\"\nDISTRO ?"                                                     \
    "?= \"" distro "\"\nBBMULTICONFIG ?= \"" mc "\"\n"

/* What kas writes for the same files. */
static void both_files_have_the_bytes_that_kas_writes(void **state)
{
    static const struct {
        const char *yaml, *local, *bblayers;
    } cases[] = {
        {"header: {version: 14}\n",                LOCAL("qemux86-64",                             "nodistro", ""),
         "BBLAYERS ?= \" \\\n    \"\n" TAIL    },
        {"header: {version: 14}\n"
         "machine: m\n"
         "distro: d\n"
         "local_conf_header:\n"
         "  z: |\n"
         "    Z = \"1\"\n"
         "  a: A = \"2\"\n"
         "bblayers_conf_header:\n"
         "  b: |\n"
         "    B = \"3\"\n"
         "repos:\n"
         "  own:\n"
         "  x: {path: lib/x, layers: {two: , one: , last: {prio: -1}}}\n"
         "  abs: {path: /opt/abs}\n",     "# a\nA = \"2\"\n# z\nZ = \"1\"\n\n" LOCAL("m", "d",        ""),
         "# b\nB = \"3\"\n\n"
         "BBLAYERS ?= \" \\\n"
         "    ${TOPDIR}/UP/opt/abs \\\n"
         "    ${TOPDIR}/.. \\\n"
         "    ${TOPDIR}/../lib/x/one \\\n"
         "    ${TOPDIR}/../lib/x/two \\\n"
         "    ${TOPDIR}/../lib/x/last\"\n" TAIL},
        {"header: {version: 14}\n"
         "target: [a, 'mc:x:a', 'multiconfig:y:b', 'mc:x:c', 'mc:', mcz]\n"
         "build_system: isar-rootless\n", LOCAL("qemux86-64",                             "nodistro", "x y") "ISAR_ROOTLESS ?= \"1\"\n",
         "BBLAYERS ?= \" \\\n    \"\n" TAIL    },
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_buf local = {0}, layers = {0}, want = {0};
        struct bz_kas *kas = load(s, cases[i].yaml);
        const char *up = strstr(cases[i].bblayers, "UP");
        struct bz_err err;

        bz_buildconf_local(kas, &local);
        assert_string_equal(bz_buf_text(&local), cases[i].local);
        assert_ok(bz_buildconf_bblayers(kas, &layers, &err), &err);
        /* As many steps up as the scratch directory is deep. */
        bz_buf_add(&want, cases[i].bblayers,
                   up ? (size_t)(up - cases[i].bblayers) : strlen(cases[i].bblayers));
        for (const char *c = kas->build_dir; up && *c; c++)
            if (*c == '/')
                bz_buf_addf(&want, "%s", c == kas->build_dir ? ".." : "/..");
        bz_buf_addf(&want, "%s", up ? up + 2 : "");
        assert_string_equal(bz_buf_text(&layers), bz_buf_text(&want));
        bz_buf_release(&local);
        bz_buf_release(&layers);
        bz_buf_release(&want);
        bz_kas_free(kas);
    }
}

static void a_written_directory_is_found_and_left_alone_the_next_time(void **state)
{
    struct scratch *s = *state;
    struct bz_kas *kas = load(s, "header: {version: 14}\n");
    const struct bz_buildconf_hints hints = {.cwd = kas->build_dir};
    struct stat first, second;
    struct bz_path found;
    struct bz_err err;

    assert_ok(bz_buildconf_write(kas, &err), &err);
    assert_ok(bz_buildconf_find(&hints, &found, &err), &err);
    assert_string_equal(found.s, kas->build_dir);
    assert_int_equal(fstatat(s->fd, "build/conf/local.conf", &first, 0), 0);
    assert_ok(bz_buildconf_write(kas, &err), &err);
    assert_int_equal(fstatat(s->fd, "build/conf/local.conf", &second, 0), 0);
    assert_int_equal(first.st_ino, second.st_ino);
    put(s->fd, "build/conf/local.conf", "changed");
    assert_ok(bz_buildconf_write(kas, &err), &err);
    assert_int_equal(fstatat(s->fd, "build/conf/local.conf", &second, 0), 0);
    assert_int_equal(second.st_size, first.st_size);
    bz_kas_free(kas);
}

static void a_build_directory_that_cannot_be_made_is_an_error(void **state)
{
    struct scratch *s = *state;
    struct bz_kas *kas = load(s, "header: {version: 14}\n");
    struct bz_err err = {0};

    put(s->fd, "build", "in the way");
    assert_true(bz_buildconf_write(kas, &err) < 0);
    assert_non_null(strstr(err.msg, "build"));
    bz_kas_free(kas);
}

/* Each part of a list of paths put below the scratch directory; NULL stays NULL. */
static const char *below(const struct scratch *s, const char *list, struct bz_buf *out)
{
    struct bz_str rest = bz_str_from(list ? list : ""), dir;

    while (bz_str_next_part(&rest, ':', &dir))
        bz_buf_addf(out, "%s%s%.*s", out->len ? ":" : "", s->path, BZ_STR_ARG(dir));
    return list ? bz_buf_text(out) : NULL;
}

static void a_build_directory_is_found_where_bitbake_finds_it(void **state)
{
    static const struct {
        const char *cwd, *builddir, *bbpath, *want; /* DIR is put before each */
    } cases[] = {
        {"/b",         NULL, NULL,      "DIR/b"},
        {"/b/deep/er", NULL, NULL,      "DIR/b"},
        {"/b/deep/er", "/c", NULL,      "DIR/c"},
        {"/b",         NULL, "/x:/c",   "DIR/c"},
        {"/b",         NULL, "/x:/y",   "DIR/b"},
        {"/b",         "/c", "/b",      "DIR/c"},
        {"/x",         NULL, NULL,      NULL   },
        {"/b",         "/x", NULL,      NULL   }, /* told, and wrong: no guessing */
        {NULL,         NULL, "/x:/b/.", "DIR/b"},
        {NULL,         NULL, NULL,      NULL   },
    };
    struct scratch *s = *state;

    put_file(s, "b/conf/bblayers.conf", "");
    put_file(s, "c/conf/bblayers.conf", "");
    make_dirs(s->fd, "b/deep/er");
    make_dirs(s->fd, "x/conf");
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_buf cwd = {0}, builddir = {0}, bbpath = {0};
        struct bz_buildconf_hints hints = {
            .cwd = below(s, cases[i].cwd, &cwd),
            .builddir = below(s, cases[i].builddir, &builddir),
            .bbpath = below(s, cases[i].bbpath, &bbpath),
        };
        struct bz_path found;
        struct bz_err err = {0};
        int rc;

        rc = bz_buildconf_find(&hints, &found, &err);
        assert_int_equal(rc, cases[i].want ? 0 : BZ_E_NOENT);
        if (cases[i].want)
            assert_message(s, found.s, cases[i].want);
        else
            assert_non_null(strstr(err.msg, "no conf/bblayers.conf in"));
        bz_buf_release(&cwd);
        bz_buf_release(&builddir);
        bz_buf_release(&bbpath);
    }
}

static void hints_may_be_relative_to_the_cwd(void **state)
{
    struct scratch *s = *state;
    struct bz_buildconf_hints hints = {.cwd = s->path, .builddir = "./b"};
    struct bz_path found;
    struct bz_err err;

    put_file(s, "b/conf/bblayers.conf", "");
    assert_ok(bz_buildconf_find(&hints, &found, &err), &err);
    assert_message(s, found.s, "DIR/b");
    hints = (struct bz_buildconf_hints){.cwd = s->path, .builddir = "", .bbpath = ":b"};
    assert_ok(bz_buildconf_find(&hints, &found, &err), &err);
    assert_message(s, found.s, "DIR/b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(both_files_have_the_bytes_that_kas_writes),
        scratch_test(a_written_directory_is_found_and_left_alone_the_next_time),
        scratch_test(a_build_directory_that_cannot_be_made_is_an_error),
        scratch_test(a_build_directory_is_found_where_bitbake_finds_it),
        scratch_test(hints_may_be_relative_to_the_cwd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
