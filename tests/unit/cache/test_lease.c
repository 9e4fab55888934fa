#include "cache/lease.h"

#include <sys/wait.h>

#include "os/clock.h"
#include "tests/unit/cache/store.h"

static size_t leases(struct store *s)
{
    char path[320];

    snprintf(path, sizeof(path), "%s/leases", s->root);
    return count_names(path);
}

static int64_t oldest(struct store *s, int64_t now)
{
    int64_t out;

    assert_ok(
        bz_lease_oldest(s->cas->root.top, &s->cas->root.self, now, true, &out, &s->err),
        &s->err);
    return out;
}

static int64_t now_of(struct store *s)
{
    int64_t now;

    assert_ok(bz_shelf_clock(&s->cas->root, &now, &s->err), &s->err);
    return now;
}

static void an_open_store_has_a_lease_since_it_was_opened(void **state)
{
    struct store *s = *state;
    int64_t now = now_of(s);

    assert_int_equal(leases(s), 1);
    assert_true(oldest(s, now) == s->cas->root.lease.begun);
    assert_true(s->cas->root.lease.begun <= now);
    bz_lease_close(&s->cas->root.lease);
    bz_lease_close(&s->cas->root.lease);
    assert_int_equal(leases(s), 0);
    assert_true(oldest(s, now) == now);
}

static void one_process_may_have_several(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct store *s = *state;
    int64_t begun = s->cas->root.lease.begun;
    struct bz_cas *other;

    assert_ok(bz_cas_open(s->root, &opts, &other, &s->err), &s->err);
    assert_int_equal(leases(s), 2);
    bz_lease_close(&other->root.lease);
    assert_int_equal(leases(s), 1);
    assert_true(oldest(s, now_of(s)) == begun);
    bz_cas_close(other);
}

static void who_only_reads_has_none(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_READ, BZ_FS_NOSYNC};
    struct store *s = *state;
    struct bz_cas *other;

    assert_ok(bz_cas_open(s->root, &opts, &other, &s->err), &s->err);
    assert_int_equal(leases(s), 1);
    bz_cas_close(other);
}

static void a_lease_of_a_killed_process_does_not_count(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct store *s = *state;
    pid_t pid = fork();

    if (pid == 0) {
        struct bz_cas *other;

        _exit(bz_cas_open(s->root, &opts, &other, &s->err) < 0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(leases(s), 2);
    oldest(s, now_of(s));
    assert_int_equal(leases(s), 1);
}

/* A name from another boot, whose owner nobody here can know. */
#define STRANGER "s/leases/0123456789abcdef.1.2.3.4.0"

static void a_lease_from_elsewhere_counts_until_it_gives_no_sign_for_a_day(void **state)
{
    static const struct timespec old[2] = {
        {1000, 0},
        {1000, 0}
    };
    struct store *s = *state;
    int64_t now = now_of(s), day = 86400 * BZ_CLOCK_S;

    put(s->dir, STRANGER, "");
    assert_int_equal(utimensat(s->dir, STRANGER, old, 0), 0);
    assert_true(oldest(s, now) == 1000 * BZ_CLOCK_S);
    assert_true(oldest(s, now + day - 60 * BZ_CLOCK_S) == 1000 * BZ_CLOCK_S);
    assert_true(bz_fs_exists(s->dir, STRANGER));
    assert_true(oldest(s, now + day + 60 * BZ_CLOCK_S) == s->cas->root.lease.begun);
    assert_false(bz_fs_exists(s->dir, STRANGER));
}

static void who_only_looks_removes_no_lease(void **state)
{
    struct store *s = *state;
    int64_t out, later = now_of(s) + (int64_t)2 * 86400 * BZ_CLOCK_S;

    put(s->dir, STRANGER, "");
    assert_ok(bz_lease_oldest(s->cas->root.top, &s->cas->root.self, later, false, &out,
                              &s->err),
              &s->err);
    assert_true(out == s->cas->root.lease.begun); /* it does not count */
    assert_true(bz_fs_exists(s->dir, STRANGER));
}

static void leases_that_cannot_be_read_are_not_taken_for_none(void **state)
{
    struct store *s = *state;
    int64_t out, now = now_of(s);

    assert_ok(bz_fs_remove(s->dir, "s/leases", &s->err), &s->err);
    assert_true(oldest(s, now) == now);
    put(s->dir, "s/leases", "in the way");
    assert_int_equal(
        bz_lease_oldest(s->cas->root.top, &s->cas->root.self, now, true, &out, &s->err),
        BZ_E_IO);
}

static void a_sign_of_life_moves_the_change_time_only(void **state)
{
    struct store *s = *state;
    struct bz_lease *l = &s->cas->root.lease;
    struct stat before, now, after;

    assert_int_equal(fstat(l->fd, &before), 0);
    usleep(20000);
    bz_lease_renew(l); /* too early */
    assert_int_equal(fstat(l->fd, &now), 0);
    assert_memory_equal(&before.st_ctim, &now.st_ctim, sizeof(now.st_ctim));
    atomic_store(&l->renewed, bz_clock_now() - 4000 * BZ_CLOCK_S);
    bz_lease_renew(l);
    assert_int_equal(fstat(l->fd, &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(now.st_mtim));
    assert_memory_not_equal(&before.st_ctim, &after.st_ctim, sizeof(now.st_ctim));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(an_open_store_has_a_lease_since_it_was_opened),
        store_test(one_process_may_have_several),
        store_test(who_only_reads_has_none),
        store_test(a_lease_of_a_killed_process_does_not_count),
        store_test(a_lease_from_elsewhere_counts_until_it_gives_no_sign_for_a_day),
        store_test(who_only_looks_removes_no_lease),
        store_test(leases_that_cannot_be_read_are_not_taken_for_none),
        store_test(a_sign_of_life_moves_the_change_time_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
