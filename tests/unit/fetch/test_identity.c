#include "fetch/identity.h"

#include <unistd.h>

#include "tests/unit/fetch/fetching.h"

/* SHA-256 of "abc". */
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        fetching_test(a_file_is_its_content_and_whether_it_runs),
        fetching_test(a_directory_is_all_that_lies_in_it),
        fetching_test(what_is_not_there_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
