#include "fetch/identity.h"

#include <unistd.h>

#include "tests/unit/fetch/fetching.h"

/* SHA-256 of "abc". */
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

#define ONES "1111111111111111111111111111111111111111"

static void write_all(struct fetching *f, struct bz_buf *out)
{
    bz_buf_truncate(out, 0);
    for (size_t i = 0; i < bz_fetch_count(f->fetch); i++)
        assert_ok(bz_identity_write(f->fetch, i, out, &f->err), &f->err);
}

static void a_file_is_its_content_and_whether_it_runs(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct fetching *f = *state;

    put(f->dir->fd, "files/a b", "abc");
    assert_ok(fetching_open(f, "file://a%20b"), &f->err);
    write_all(f, &text);
    assert_string_equal(bz_buf_text(&text), "file a%20b " ABC "\n");
    assert_int_equal(fchmodat(f->dir->fd, "files/a b", 0755, 0), 0);
    write_all(f, &text);
    assert_string_equal(bz_buf_text(&text), "program a%20b " ABC "\n");
}

static void a_directory_is_all_that_lies_in_it(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct fetching *f = *state;

    assert_int_equal(mkdirat(f->dir->fd, "files/d", 0755), 0);
    put(f->dir->fd, "files/d/x", "abc");
    assert_int_equal(symlinkat("x", f->dir->fd, "files/d/y"), 0);
    assert_int_equal(mkdirat(f->dir->fd, "files/d/empty", 0755), 0);
    make_dirs(f->dir->fd, "files/d/.git/x");
    assert_ok(fetching_open(f, "file://d"), &f->err);
    write_all(f, &text);
    assert_string_equal(bz_buf_text(&text),
                        "directory d/empty \nfile d/x " ABC "\nlink d/y x\n");
}

static void what_is_not_there_has_none(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct fetching *f = *state;

    assert_ok(fetching_open(f, "file://none"), &f->err);
    assert_true(bz_identity_write(f->fetch, 0, &text, &f->err) < 0);
}

static const char *fields_of(struct fetching *f, const char *uri, struct bz_buf *out)
{
    BZ_CLEANUP(bz_vec_release) struct bz_identity_fields all = {0};

    assert_ok(fetching_open(f, uri), &f->err);
    assert_ok(bz_identity_fields(f->fetch, 0, &all, &f->err), &f->err);
    bz_buf_truncate(out, 0);
    for (size_t i = 0; i < all.len; i++)
        bz_buf_addf(out, "%s%.*s=%.*s", i ? " " : "", BZ_STR_ARG(all.at[i].name),
                    BZ_STR_ARG(all.at[i].value));
    return bz_buf_text(out);
}

static void an_entry_is_what_decides_its_bytes_and_place(void **state)
{
    static const struct {
        const char *uri, *fields;
    } rows[] = {
        {"http://u:p@H:80/a%20b?q=1;user=u;pswd=p;subdir=s;name=n;subdir=t",
         "uri=http://h:80/a%20b?q=1 ;name=n ;subdir=t sha256sum=" ABC                                    },
        {"https://h/x;sha256sum=" ABC,
         "uri=https://h/x ;sha256sum=" ABC " sha256sum=" ABC                                             },
        {"file://a@b/c;unpack=0",                                            "uri=file://a@b/c ;unpack=0"},
        {"npm://registry;package=p;version=1.2.3",
         "uri=npm://registry ;package=p ;version=1.2.3"                                                  },
        {"git://u@h/r;branch=m;protocol=https;rev=" ONES,
         "uri=git://h/r ;branch=m ;protocol=https ;rev=" ONES " commit=" ONES
         " destsuffix=src"                                                                               },
    };
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct fetching *f = *state;

    fetching_set(f, "SRC_URI", "n.sha256sum",
                 "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD");
    fetching_set(f, "BB_GIT_DEFAULT_DESTSUFFIX", NULL, "src");
    fetching_set(f, "PREMIRRORS", NULL, "http://.* http://mirror/");
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++)
        assert_string_equal(fields_of(f, rows[i].uri, &text), rows[i].fields);
    assert_string_equal(fields_of(f, "git://h/r;nobranch=1;tag=v1", &text),
                        "uri=git://h/r ;nobranch=1 ;tag=v1 "
                        "revision=git://h/r refs/tags/v1 destsuffix=src");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fetching_test(a_file_is_its_content_and_whether_it_runs),
        fetching_test(a_directory_is_all_that_lies_in_it),
        fetching_test(what_is_not_there_has_none),
        fetching_test(an_entry_is_what_decides_its_bytes_and_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
