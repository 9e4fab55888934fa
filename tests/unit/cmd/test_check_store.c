#include "check_store.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/digest.h"
#include "os/clock.h"
#include "os/fs.h"
#include "tests/unit/os/scratch.h"

static void put_file(const struct scratch *s, const char *path, const char *text)
{
    char parent[300];
    struct bz_err err;

    snprintf(parent, sizeof(parent), "%s", path);
    if (strrchr(parent, '/')) {
        *strrchr(parent, '/') = '\0';
        assert_ok(bz_fs_mkdirs(s->fd, parent, 0755, &err), &err);
    }
    assert_ok(bz_fs_write(s->fd, path, text, strlen(text), 0644, BZ_FS_NOSYNC, &err),
              &err);
}

/* A blob that says `says` under the name of `text`. */
static void put_blob(const struct scratch *s, const char *text, const char *says)
{
    char hex[BZ_DIGEST_HEX_LEN + 1], path[120];
    struct bz_digest_hasher *h;
    struct bz_digest d;
    struct bz_err err;

    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    bz_digest_bytes(h, text, strlen(text), &d);
    bz_digest_hasher_free(h);
    bz_digest_hex(&d, hex);
    snprintf(path, sizeof(path), "cas/%.2s/%s", hex, hex);
    put_file(s, path, says);
}

static struct bz_check_row health(const struct scratch *s, const char *index)
{
    char path[400];
    struct bz_check_host host = {.root = "", .cache = s->path, .index = path};
    struct bz_check_row row;

    snprintf(path, sizeof(path), "%s/%s", s->path, index);
    bz_check_store_health(&host, &row);
    return row;
}

static void a_sample_of_blobs_is_hashed(void **state)
{
    const struct scratch *s = *state;
    struct bz_check_row row = health(s, "none");

    assert_string_equal(row.found, "there is none yet");
    put_blob(s, "one", "one");
    put_blob(s, "two", "two");
    put_file(s, "cas/00/no-blob", "left alone");
    row = health(s, "none");
    assert_int_equal(row.state, BZ_CHECK_OK);
    assert_string_equal(row.found, "2 blobs looked at are right");
    put_blob(s, "three", "tree");
    row = health(s, "none");
    assert_int_equal(row.state, BZ_CHECK_WARN);
    assert_memory_equal(row.found, "1 of 3 blobs looked at are damaged", 34);
    assert_string_equal(row.fix, "run 'bitzel cache verify --repair'");
}

static void an_index_that_is_none_is_found(void **state)
{
    const struct scratch *s = *state;

    put_blob(s, "one", "one");
    put_file(s, "index", "SQLite format 2, or so");
    assert_string_equal(health(s, "index").fix, "run 'bitzel cache reindex'");
    put_file(s, "index", "short");
    assert_non_null(strstr(health(s, "index").found, "the index is damaged"));
    put_file(s, "index", "");
    assert_int_equal(health(s, "index").state, BZ_CHECK_OK);
}

static void the_last_time_that_something_was_stored_is_known(void **state)
{
    const struct timespec later[2] = {
        {4000000000, 0},
        {4000000000, 0}
    };
    const struct scratch *s = *state;

    assert_int_equal(bz_check_store_newest(s->path), 0);
    put_blob(s, "one", "one");
    assert_true(bz_check_store_newest(s->path) > 1700000000);
    put_file(s, "ac/7f/x", "");
    assert_int_equal(utimensat(s->fd, "ac/7f", later, 0), 0);
    assert_int_equal(bz_check_store_newest(s->path), 4000000000);
}

static void tiers_that_do_not_answer_are_named(void **state)
{
    const struct scratch *s = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_tier_spec specs[2];
    struct bz_tiers_opts tiers = {.specs = specs};
    struct bz_check_host host = {
        .root = "", .tiers = &tiers, .patience = 60 * BZ_CLOCK_S};
    struct bz_check_row row;
    struct bz_err err;

    bz_check_store_tiers(&host, &row);
    assert_int_equal(row.state, BZ_CHECK_OK);
    put_file(s, "good/x", "");
    assert_ok(bz_tier_spec_parse(&a, bz_arena_printf(&a, "dir:%s/good", s->path),
                                 &specs[0], &err),
              &err);
    assert_ok(bz_tier_spec_parse(&a, bz_arena_printf(&a, "dir:%s/gone", s->path),
                                 &specs[1], &err),
              &err);
    tiers.n = 1;
    bz_check_store_tiers(&host, &row);
    assert_string_equal(row.found, "1 of 1 answer");
    tiers.n = 2;
    bz_check_store_tiers(&host, &row);
    assert_int_equal(row.state, BZ_CHECK_WARN);
    assert_memory_equal(row.found, "1 of 2 answer: dir:", 19);
    assert_non_null(row.fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(a_sample_of_blobs_is_hashed),
        TEST(an_index_that_is_none_is_found),
        TEST(the_last_time_that_something_was_stored_is_known),
        TEST(tiers_that_do_not_answer_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
