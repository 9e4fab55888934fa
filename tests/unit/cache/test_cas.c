#include "cache/cas.h"

#include "tests/unit/cache/store.h"

#define HEX_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static struct bz_reapi_digest absent(void)
{
    return (struct bz_reapi_digest){.hash = {{7}}, .size = 3};
}

static void a_blob_lies_where_bazel_looks_for_it(void **state)
{
    struct store *s = *state;
    struct stat st;

    store_text(s, "abc");
    assert_int_equal(fstatat(s->dir, "s/cas/ba/" HEX_ABC, &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0444);
    assert_int_equal(st.st_mtim.tv_sec, BZ_SHELF_MTIME);
    assert_int_equal(st.st_nlink, 1);
    assert_int_equal(store_temps(s), 0);
    assert_true(bz_fs_exists(s->dir, "s/CACHEDIR.TAG"));
}

static void what_was_put_is_read(void **state)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 300000};
    struct store *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(sizes); i++) {
        char *in = calloc(1, sizes[i] + 1), *out;
        struct bz_reapi_digest d;
        int fd;

        memset(in, (int)i, sizes[i]);
        assert_ok(bz_cas_put(s->cas, s->h, in, sizes[i], &d, &s->err), &s->err);
        assert_ok(bz_cas_put(s->cas, s->h, in, sizes[i], &d, &s->err), &s->err);
        assert_true(bz_cas_has(s->cas, &d));
        assert_ok(bz_cas_read(s->cas, s->h, &d, 1 << 20, &out, &s->err), &s->err);
        assert_memory_equal(in, out, sizes[i] + 1);
        assert_ok(bz_cas_fd(s->cas, s->h, &d, &fd, &s->err), &s->err);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
        close(fd);
        free(in);
        free(out);
    }
}

static void an_absent_blob_is_a_miss(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = absent();
    char *out;
    int fd;

    assert_false(bz_cas_has(s->cas, &d));
    assert_int_equal(bz_cas_read(s->cas, s->h, &d, 10, &out, &s->err), BZ_E_NOENT);
    assert_int_equal(bz_cas_fd(s->cas, NULL, &d, &fd, &s->err), BZ_E_NOENT);
    assert_int_equal(store_bad(s), 0);
}

static void a_blob_beyond_the_limit_is_not_read(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    char *out;

    assert_int_equal(bz_cas_read(s->cas, s->h, &d, 2, &out, &s->err), BZ_E_LIMIT);
}

static int write_piece(struct bz_cas_writer *w, const char *text, struct bz_err *err)
{
    size_t n = strlen(text);

    bz_digest_add(w->h, text, n);
    w->size += n;
    return bz_fs_write_all(w->temp.fd, "a blob", text, n, err);
}

static void pieces_make_the_same_blob(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d, want = store_text(s, "abc");
    struct bz_cas_writer w;

    assert_ok(bz_cas_begin(s->cas, s->h, &w, &s->err), &s->err);
    assert_ok(write_piece(&w, "a", &s->err), &s->err);
    assert_int_equal(store_temps(s), 1);
    assert_ok(write_piece(&w, "bc", &s->err), &s->err);
    assert_ok(bz_cas_end(&w, &want, &d, &s->err), &s->err);
    assert_true(bz_digest_eq(&d.hash, &want.hash));
    assert_int_equal(d.size, 3);
    bz_cas_abort(&w);
    assert_int_equal(store_temps(s), 0);
}

static void what_is_not_what_was_wanted_is_not_published(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d, want = absent();
    struct bz_cas_writer w;

    assert_ok(bz_cas_begin(s->cas, s->h, &w, &s->err), &s->err);
    assert_ok(write_piece(&w, "abc", &s->err), &s->err);
    assert_int_equal(bz_cas_end(&w, &want, &d, &s->err), BZ_E_CORRUPT);
    assert_false(bz_cas_has(s->cas, &d));
    assert_false(bz_cas_has(s->cas, &want));
    assert_int_equal(store_temps(s), 0);
}

static void a_damaged_blob_is_put_aside_and_may_be_stored_anew(void **state)
{
    struct store *s = *state;
    char path[128], *out;
    size_t bad = 0;

    for (int i = 0; i < 6; i++) {
        struct bz_reapi_digest d = store_text(s, "some text");
        int fd, rc;

        damage(s->dir, store_path("cas", &d.hash, path), i % 2 ? 4 : 0, i < 2);
        rc = i % 3 == 0 ? bz_cas_read(s->cas, s->h, &d, 100, &out, &s->err)
                        : bz_cas_fd(s->cas, s->h, &d, &fd, &s->err);
        assert_int_equal(rc, BZ_E_NOENT);
        assert_false(bz_cas_has(s->cas, &d));
        assert_int_equal(store_bad(s), ++bad);
    }
}

/* It may come from a web server that anybody can write to. */
static void a_reference_with_a_wrong_size_costs_no_blob(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "some text"), wrong = d;
    char *out;
    int fd;

    wrong.size++;
    assert_int_equal(bz_cas_read(s->cas, s->h, &wrong, 100, &out, &s->err), BZ_E_NOENT);
    assert_int_equal(bz_cas_fd(s->cas, NULL, &wrong, &fd, &s->err), BZ_E_NOENT);
    assert_false(bz_cas_claim(s->cas, &wrong));
    assert_true(bz_cas_claim(s->cas, &d));
    assert_int_equal(store_bad(s), 0);
}

static void a_truncated_blob_is_replaced_when_it_is_stored_again(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "some text");
    char path[128], *out;

    damage(s->dir, store_path("cas", &d.hash, path), 4, true);
    store_text(s, "some text");
    assert_ok(bz_cas_read(s->cas, s->h, &d, 100, &out, &s->err), &s->err);
    assert_string_equal(out, "some text");
    free(out);
    assert_int_equal(store_bad(s), 1);
}

static void something_else_in_a_blobs_place_is_a_miss(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    char path[128];
    int fd;

    store_path("cas", &d.hash, path);
    assert_int_equal(unlinkat(s->dir, path, 0), 0);
    assert_int_equal(mkdirat(s->dir, path, 0755), 0);
    assert_int_equal(bz_cas_fd(s->cas, NULL, &d, &fd, &s->err), BZ_E_NOENT);
    assert_false(bz_cas_has(s->cas, &d));
    assert_int_equal(mkfifoat(s->dir, path, 0644), 0);
    assert_int_equal(bz_cas_fd(s->cas, NULL, &d, &fd, &s->err), BZ_E_NOENT);
    assert_int_equal(symlinkat("/etc/passwd", s->dir, path), 0);
    assert_true(bz_cas_fd(s->cas, NULL, &d, &fd, &s->err) < 0);
}

static void a_store_opened_for_reading_is_not_written(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_READ, BZ_FS_NOSYNC};
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc"), e;
    struct bz_cas *cas;
    char *out;

    assert_ok(bz_cas_open(s->root, &opts, &cas, &s->err), &s->err);
    assert_ok(bz_cas_read(cas, s->h, &d, 10, &out, &s->err), &s->err);
    free(out);
    assert_int_equal(bz_cas_put(cas, s->h, "x", 1, &e, &s->err), BZ_E_IO);
    assert_int_equal(s->err.sys, EROFS);
    bz_cas_close(cas);
    assert_int_equal(bz_cas_open("/nonexistent/store", &opts, &cas, &s->err),
                     BZ_E_NOENT);
}

static void a_directory_that_is_no_store_reads_as_empty(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_READ, BZ_FS_NOSYNC};
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    struct bz_cas *cas;
    int fd;

    assert_ok(bz_cas_open(s->scratch->path, &opts, &cas, &s->err), &s->err);
    assert_false(bz_cas_has(cas, &d));
    assert_int_equal(bz_cas_fd(cas, NULL, &d, &fd, &s->err), BZ_E_NOENT);
    bz_cas_close(cas);
    assert_int_equal(count_names(s->scratch->path), 1);
}

static void a_store_can_write_through_to_the_disk(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_SYNC};
    struct store *s = *state;
    struct bz_reapi_digest d;
    struct bz_cas *cas;

    assert_ok(bz_cas_open(s->root, &opts, &cas, &s->err), &s->err);
    assert_ok(bz_cas_put(cas, s->h, "x", 1, &d, &s->err), &s->err);
    assert_true(bz_cas_has(s->cas, &d));
    bz_cas_close(cas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(a_blob_lies_where_bazel_looks_for_it),
        store_test(what_was_put_is_read),
        store_test(an_absent_blob_is_a_miss),
        store_test(a_blob_beyond_the_limit_is_not_read),
        store_test(pieces_make_the_same_blob),
        store_test(what_is_not_what_was_wanted_is_not_published),
        store_test(a_damaged_blob_is_put_aside_and_may_be_stored_anew),
        store_test(a_reference_with_a_wrong_size_costs_no_blob),
        store_test(a_truncated_blob_is_replaced_when_it_is_stored_again),
        store_test(something_else_in_a_blobs_place_is_a_miss),
        store_test(a_store_opened_for_reading_is_not_written),
        store_test(a_directory_that_is_no_store_reads_as_empty),
        store_test(a_store_can_write_through_to_the_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
