#include "cache/trash.h"

#include "os/clock.h"
#include "tests/unit/cache/store.h"

#define LATER (bz_clock_wall() + 3600 * BZ_CLOCK_S)

static size_t in_trash(struct store *s)
{
    char path[320];

    snprintf(path, sizeof(path), "%s/trash", s->root);
    return bz_fs_exists(AT_FDCWD, path) ? count_names(path) : 0;
}

static void what_was_not_used_since_the_limit_goes(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    struct stat st;

    assert_int_equal(
        bz_trash_remove(&s->cas->blobs, &d.hash, bz_clock_wall() - BZ_CLOCK_S, &st),
        BZ_TRASH_KEPT);
    assert_true(bz_cas_has(s->cas, &d));
    assert_int_equal(bz_trash_remove(&s->cas->blobs, &d.hash, LATER, &st),
                     BZ_TRASH_REMOVED);
    assert_int_equal(st.st_size, 3);
    assert_false(bz_cas_has(s->cas, &d));
    assert_int_equal(in_trash(s), 0);
    assert_int_equal(bz_trash_remove(&s->cas->blobs, &d.hash, LATER, &st),
                     BZ_TRASH_ABSENT);
}

static void to_trash(struct store *s, const struct bz_digest *key)
{
    char path[128], aside[BZ_SHELF_ASIDE], to[BZ_SHELF_ASIDE + 8];

    bz_shelf_aside(&s->cas->blobs, key, aside);
    snprintf(to, sizeof(to), "s/trash/%s", aside);
    mkdirat(s->dir, "s/trash", 0755);
    assert_int_equal(renameat(s->dir, store_path("cas", key, path), s->dir, to), 0);
}

/* As if a collector had been killed between its steps. */
static void what_a_killed_collector_left_is_still_read(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    char *text;

    to_trash(s, &d.hash);
    assert_false(bz_cas_has(s->cas, &d));
    assert_ok(bz_cas_read(s->cas, s->h, &d, 10, &text, &s->err), &s->err);
    assert_string_equal(text, "abc");
    free(text);
}

static void the_next_collector_puts_it_back(void **state)
{
    struct store *s = *state;
    struct bz_shelf *const shelves[] = {&s->cas->blobs, &s->cas->actions};
    struct bz_reapi_digest gone = store_text(s, "abc"), twice = store_text(s, "def");

    to_trash(s, &gone.hash);
    to_trash(s, &twice.hash);
    store_text(s, "def"); /* made again meanwhile */
    put(s->dir, "s/trash/junk", "");
    assert_int_equal(bz_trash_restore(shelves, 2), 3);
    assert_true(bz_cas_has(s->cas, &gone));
    assert_true(bz_cas_has(s->cas, &twice));
    assert_int_equal(in_trash(s), 1); /* what is not ours stays */
}

/* A claim comes between the look and the rename: the access time of a file that is to
 * go is not the one that was seen. Played by a file whose times differ from the start.
 */
static void a_claim_in_between_brings_it_back(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    struct timespec old[2] = {
        {1000, 0         },
        {0,    UTIME_OMIT}
    };
    char path[128];
    struct stat st;

    store_path("cas", &d.hash, path);
    assert_int_equal(utimensat(s->dir, path, old, 0), 0);
    assert_int_equal(bz_shelf_claim(&s->cas->blobs, &d.hash), BZ_SHELF_CLAIMED);
    assert_int_equal(fstatat(s->dir, path, &st, 0), 0);
    assert_true(st.st_atim.tv_sec > 1000);
    /* The limit lies before the claim and after the change, as far as that is told. */
    assert_int_equal(
        bz_trash_remove(&s->cas->blobs, &d.hash, bz_trash_last_use(&st) + 1, &st),
        BZ_TRASH_REMOVED);
    assert_int_equal(bz_shelf_claim(&s->cas->blobs, &d.hash), BZ_SHELF_ABSENT);
}

static void a_recent_use_is_not_told_again(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    struct stat before, after;
    char path[128];

    store_path("cas", &d.hash, path);
    assert_int_equal(fstatat(s->dir, path, &before, 0), 0);
    usleep(20000);
    assert_int_equal(bz_shelf_claim(&s->cas->blobs, &d.hash), BZ_SHELF_CLAIMED);
    assert_int_equal(fstatat(s->dir, path, &after, 0), 0);
    assert_memory_equal(&before.st_ctim, &after.st_ctim, sizeof(before.st_ctim));
    s->cas->root.touch = 0;
    assert_int_equal(bz_shelf_claim(&s->cas->blobs, &d.hash), BZ_SHELF_CLAIMED);
    assert_int_equal(fstatat(s->dir, path, &after, 0), 0);
    assert_memory_not_equal(&before.st_atim, &after.st_atim, sizeof(before.st_atim));
}

static void a_store_that_is_only_read_loses_nothing(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_READ, BZ_FS_NOSYNC};
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    struct bz_cas *other;
    struct stat st;

    assert_ok(bz_cas_open(s->root, &opts, &other, &s->err), &s->err);
    assert_int_equal(bz_trash_remove(&other->blobs, &d.hash, LATER, &st),
                     BZ_TRASH_KEPT);
    assert_true(bz_cas_has(s->cas, &d));
    bz_cas_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(what_was_not_used_since_the_limit_goes),
        store_test(what_a_killed_collector_left_is_still_read),
        store_test(the_next_collector_puts_it_back),
        store_test(a_claim_in_between_brings_it_back),
        store_test(a_recent_use_is_not_told_again),
        store_test(a_store_that_is_only_read_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
