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

static void a_written_directory_is_left_alone_the_next_time(void **state)
{
    struct scratch *s = *state;
    struct bz_kas *kas = load(s, "header: {version: 14}\n");
    struct stat first, second;
    struct bz_err err;

    assert_ok(bz_buildconf_write(kas, &err), &err);
    assert_int_equal(fstatat(s->fd, "build/conf/bblayers.conf", &first, 0), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(both_files_have_the_bytes_that_kas_writes),
        scratch_test(a_written_directory_is_left_alone_the_next_time),
        scratch_test(a_build_directory_that_cannot_be_made_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
