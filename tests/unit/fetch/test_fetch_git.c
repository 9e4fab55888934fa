#include "tests/unit/fetch/fetching.h"

/* A repository `up` with two commits on main; sets `rev` to the first. */
static int setup(void **state)
{
    struct fetching *f;
    int rc = fetching_setup(state);

    f = *state;
    setenv("HOME", f->dir->path, 1);
    fetching_sh(f,
                "mkdir up && cd up && " FETCHING_GIT "init -q && mkdir sub && "
                "echo one >a && echo s >sub/b && git add . && " FETCHING_GIT
                "commit -qm one && git tag v1 && git rev-parse HEAD >../rev && "
                "echo two >a && " FETCHING_GIT "commit -qam two && git branch other && "
                "printf '#!/bin/sh\\ntouch %s/hooked\\n' >.git/hooks/post-checkout && "
                "chmod +x .git/hooks/post-checkout",
                f->dir->path);
    return rc;
}

#define git_test(t) cmocka_unit_test_setup_teardown(t, setup, fetching_teardown)

static void read_rev(struct fetching *f, char rev[41])
{
    int fd = openat(f->dir->fd, "rev", O_RDONLY);

    assert_int_equal(read(fd, rev, 40), 40);
    rev[40] = '\0';
    close(fd);
}

static const char *uri(struct fetching *f, const char *params)
{
    static char text[700]; /* of the test's own process */

    snprintf(text, sizeof(text), "git://%s/up;protocol=file%s", f->dir->path, params);
    return text;
}

static void a_commit_is_fetched_and_checked_out(void **state)
{
    struct fetching *f = *state;
    enum bz_fetch_how how;
    char rev[41];

    read_rev(f, rev);
    fetching_set(f, "SRCREV", NULL, "%s", rev);
    assert_ok(fetching_get(f, uri(f, ";branch=main"), &how), &f->err);
    assert_int_equal(how, BZ_FETCH_DOWNLOADED);
    assert_ok(fetching_unpack(f, uri(f, ";branch=main")), &f->err);
    assert_file(f, "work/git/a", "one\n");
    assert_ok(fetching_unpack(f, uri(f, ";branch=main;destsuffix=x/y")), &f->err);
    assert_file(f, "work/x/y/a", "one\n");
    assert_ok(fetching_unpack(f, uri(f, ";branch=main;subpath=sub")), &f->err);
    assert_file(f, "work/sub/b", "s\n");
    assert_false(bz_fs_exists(f->dir->fd, "hooked"));
    assert_int_equal(fetching_unpack(f, uri(f, ";branch=main;destsuffix=../up")),
                     BZ_E_INVAL);
}

static void what_is_there_needs_no_server(void **state)
{
    struct fetching *f = *state;
    enum bz_fetch_how how;
    char rev[41];

    read_rev(f, rev);
    fetching_set(f, "SRCREV_default", NULL, "%s", rev);
    assert_ok(fetching_get(f, uri(f, ";branch=main"), &how), &f->err);
    fetching_sh(f, "rm -rf up");
    assert_ok(fetching_get(f, uri(f, ";branch=main"), &how), &f->err);
    assert_int_equal(how, BZ_FETCH_PRESENT);
}

static void a_new_commit_updates_the_clone(void **state)
{
    struct fetching *f = *state;
    char rev[41];

    read_rev(f, rev);
    fetching_set(f, "SRCREV", NULL, "%s", rev);
    assert_ok(fetching_get(f, uri(f, ";branch=main"), NULL), &f->err);
    fetching_sh(f, "cd up && echo three >a && " FETCHING_GIT
                   "commit -qam three && git rev-parse HEAD >../rev");
    read_rev(f, rev);
    fetching_set(f, "SRCREV", NULL, "%s", rev);
    assert_ok(fetching_unpack(f, uri(f, ";branch=main")), &f->err);
    assert_file(f, "work/git/a", "three\n");
}

static void names_are_resolved_by_the_server(void **state)
{
    struct fetching *f = *state;

    fetching_set(f, "SRCREV", NULL, "AUTOINC");
    assert_ok(fetching_unpack(f, uri(f, ";branch=other")), &f->err);
    assert_file(f, "work/git/a", "two\n");
    fetching_set(f, "SRCREV", NULL, "v1");
    assert_ok(fetching_unpack(f, uri(f, ";nobranch=1")), &f->err);
    assert_file(f, "work/git/a", "one\n");
    fetching_set(f, "SRCREV", NULL, "v9");
    assert_int_equal(fetching_get(f, uri(f, ";nobranch=1"), NULL), BZ_E_NOENT);
}

static void a_name_stays_what_it_was_resolved_to(void **state)
{
    struct fetching *f = *state;
    char path[300], first[BZ_REVISION_HEX], rev[41];
    struct bz_str commit;

    snprintf(path, sizeof(path), "%s/cache/revisions", f->dir->path);
    read_rev(f, rev);
    fetching_set(f, "SRCREV", NULL, "v1");
    f->offline = true;
    f->revisions = bz_revision_open(path, false);
    assert_int_equal(fetching_get(f, uri(f, ";nobranch=1"), NULL), BZ_E_INVAL);
    assert_non_null(strstr(f->err.msg, "revision v1 is not resolved yet: run"));
    assert_int_equal(bz_fetch_get(f->fetch, 0, NULL, &f->err), BZ_E_INVAL);
    f->offline = false;
    assert_ok(fetching_get(f, uri(f, ";nobranch=1"), NULL), &f->err);
    fetching_sh(f, "cd up && git tag -f v1 main");
    for (int i = 0; i < 3; i++) {
        f->offline = i > 0;
        assert_ok(fetching_unpack(f, uri(f, ";nobranch=1")), &f->err);
        assert_file(f, "work/git/a", "one\n");
        commit = bz_fetch_commit(bz_fetch_source(f->fetch, 0));
        assert_true(bz_str_eq(commit, bz_str_from(rev)));
        bz_revision_close(f->revisions);
        f->revisions = bz_revision_open(path, false);
        assert_true(bz_revision_find(f->revisions,
                                     bz_fetch_question(bz_fetch_source(f->fetch, 0)),
                                     first, NULL));
        assert_string_equal(first, rev);
    }
    bz_revision_close(f->revisions);
    f->revisions = bz_revision_open(path, true);
    f->offline = false;
    assert_ok(fetching_unpack(f, uri(f, ";nobranch=1")), &f->err);
    assert_file(f, "work/git/a", "two\n");
}

static void a_question_has_no_credentials(void **state)
{
    static const struct {
        const char *uri, *question;
    } rows[] = {
        {"git://u:p@h/r.git;branch=m;protocol=https", "https://h/r.git refs/heads/m"  },
        {"git://h/r.git;branch=m;user=u;pswd=p",      "git://h/r.git refs/heads/m"    },
        {"git://git@h/r.git;branch=m;protocol=ssh",   "ssh://git@h/r.git refs/heads/m"},
        {"git://github.com/r;branch=m;usehead=1",     "https://github.com/r HEAD"     },
        {"gitsm:///a%20b;branch=m;protocol=file",     "file:///a%20b refs/heads/m"    },
    };
    struct fetching *f = *state;

    fetching_set(f, "SRCREV", NULL, "AUTOINC");
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_str question;

        assert_ok(fetching_open(f, rows[i].uri), &f->err);
        question = bz_fetch_question(bz_fetch_source(f->fetch, 0));
        assert_string_equal(question.p, rows[i].question);
    }
    assert_int_equal(fetching_open(f, "git://h/r;nobranch=1"), BZ_E_INVAL);
    fetching_set(f, "SRCREV", NULL, "INVALID");
    assert_ok(fetching_open(f, "git://h/r;nobranch=1;tag=v1"), &f->err);
    assert_string_equal(bz_fetch_question(bz_fetch_source(f->fetch, 0)).p,
                        "git://h/r refs/tags/v1");
}

static void wrong_entries_say_what_is_missing(void **state)
{
    static const char zeros[] = "0000000000000000000000000000000000000000";
    struct fetching *f = *state;

    assert_int_equal(fetching_open(f, uri(f, ";branch=main")), BZ_E_INVAL);
    assert_non_null(strstr(f->err.msg, "set SRCREV"));
    fetching_set(f, "SRCREV", NULL, "%s", zeros);
    assert_int_equal(fetching_open(f, uri(f, "")), BZ_E_INVAL);
    assert_non_null(strstr(f->err.msg, ";branch=NAME"));
    assert_int_equal(fetching_open(f, uri(f, ";branch=--upload-pack=x")), BZ_E_INVAL);
    assert_int_equal(fetching_open(f, uri(f, ";branch=main;rev=abc")), BZ_E_INVAL);
    assert_int_equal(fetching_get(f, uri(f, ";branch=main"), NULL), BZ_E_NOENT);
    assert_non_null(strstr(f->err.msg, "it has no commit 000000"));
    assert_int_equal(fetching_get(f, "git://h/x;branch=m;protocol=ext", NULL),
                     BZ_E_INVAL);
    fetching_set(f, "BB_NO_NETWORK", NULL, "1");
    assert_int_equal(fetching_get(f, "git://h.invalid/x;branch=m", NULL), BZ_E_NOSUP);
}

static void a_mirror_has_the_clone_as_an_archive(void **state)
{
    struct fetching *f = *state;
    char rev[41];

    read_rev(f, rev);
    fetching_set(f, "SRCREV", NULL, "%s", rev);
    fetching_sh(f, "mkdir mirror && git clone -q --mirror up bare && "
                   "tar -C bare -czf mirror/git2_h.invalid.r.git.tar.gz .");
    fetching_set(f, "PREMIRRORS", NULL, "git://.*/.* file://%s/mirror/", f->dir->path);
    fetching_set(f, "BB_NO_NETWORK", NULL, "1");
    assert_ok(fetching_unpack(f, "git://h.invalid/r.git;branch=main"), &f->err);
    assert_file(f, "work/git/a", "one\n");
    assert_true(bz_fs_exists(f->dir->fd, "dl/git2/h.invalid.r.git/HEAD"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        git_test(a_commit_is_fetched_and_checked_out),
        git_test(what_is_there_needs_no_server),
        git_test(a_new_commit_updates_the_clone),
        git_test(names_are_resolved_by_the_server),
        git_test(a_name_stays_what_it_was_resolved_to),
        git_test(a_question_has_no_credentials),
        git_test(wrong_entries_say_what_is_missing),
        git_test(a_mirror_has_the_clone_as_an_archive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
