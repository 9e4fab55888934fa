#include "cache/shelf.h"

#include <signal.h>
#include <sys/wait.h>

#include "os/fs_walk.h"
#include "tests/unit/cache/store.h"

static void a_name_is_two_digits_a_slash_and_all_of_them(void **state)
{
    static const struct bz_digest key = {
        {0x12, 0xab}
    };
    char name[BZ_SHELF_NAME];

    (void)state;
    bz_shelf_name(&key, name);
    assert_memory_equal(name, "12/12ab0000", 11);
    assert_int_equal(strlen(name), 67);
}

/* One publisher: fresh content again and again, from a small set of keys. */
static void publish_for_ever(const char *root, unsigned seed)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct bz_digest_hasher *h;
    struct bz_cas *cas;
    struct bz_err err;
    char *bytes = calloc(1, 70000);

    if (bz_digest_hasher_new(&h, &err) < 0 || bz_cas_open(root, &opts, &cas, &err) < 0)
        _exit(2);
    for (;;) {
        struct bz_reapi_digest d;
        unsigned which = (seed = seed * 1103515245 + 12345) >> 16;

        memset(bytes, (int)(which % 251), 70000);
        if (bz_cas_put(cas, h, bytes, which % 70000, &d, &err) < 0)
            _exit(3);
    }
}

/* Every name leads to its bytes. Counts them. */
static int check_blob(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct store *s = ctx;
    struct bz_digest want, got;
    uint64_t size;
    int rc;

    if (S_ISDIR(e->st->st_mode))
        return BZ_FS_WALK_ON;
    rc = bz_digest_parse(bz_str_from(e->name), &want, err);
    if (rc == 0)
        rc = bz_digest_file(s->h, e->dir, e->name, &got, &size, err);
    if (rc == 0 && !bz_digest_eq(&want, &got))
        return bz_fail(err, BZ_E_CORRUPT, "%s", e->path);
    s->err.sys++;
    return rc < 0 ? rc : BZ_FS_WALK_ON;
}

static int check_all(struct store *s)
{
    struct bz_err err;

    s->err.sys = 0;
    assert_ok(bz_fs_walk(s->dir, "s/cas", check_blob, s, &err), &err);
    return s->err.sys;
}

static void publishers_that_are_killed_leave_only_temporaries(void **state)
{
    enum { PUBLISHERS = 6, ROUNDS = 40 };
    struct store *s = *state;
    pid_t pids[PUBLISHERS] = {0};
    size_t swept;

    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned i = round % PUBLISHERS;

        if (pids[i]) {
            kill(pids[i], SIGKILL);
            waitpid(pids[i], NULL, 0);
        }
        pids[i] = fork();
        if (pids[i] == 0)
            publish_for_ever(s->root, round);
        usleep(5000 + 1000 * (round % 7));
    }
    /* Those that run keep their temporaries, whatever is swept. */
    bz_shelf_sweep(&s->cas->root);
    for (unsigned i = 0; i < PUBLISHERS; i++) {
        int status;

        assert_int_equal(waitpid(pids[i], &status, WNOHANG), 0);
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    assert_true(check_all(s) > 10);
    swept = store_temps(s);
    assert_int_equal(bz_shelf_sweep(&s->cas->root), swept);
    assert_int_equal(store_temps(s), 0);
    assert_int_equal(store_bad(s), 0);
}

static void temporaries_of_unknown_owners_are_kept_for_a_day(void **state)
{
    struct store *s = *state;

    put(s->dir, "s/tmp/somebody.else.1.2.3", "x");
    put(s->dir, "s/tmp/x", "x");
    assert_int_equal(bz_shelf_sweep(&s->cas->root), 0);
    assert_int_equal(store_temps(s), 2);
}

static void a_temporary_of_our_own_is_kept(void **state)
{
    struct store *s = *state;
    struct bz_shelf_temp t;

    assert_ok(bz_shelf_temp_open(&s->cas->root, &t, &s->err), &s->err);
    assert_int_equal(bz_shelf_sweep(&s->cas->root), 0);
    assert_int_equal(store_temps(s), 1);
    bz_shelf_temp_release(&t);
    bz_shelf_temp_release(&t);
    assert_int_equal(store_temps(s), 0);
}

/* A tier may be the store itself, and is opened anew while blobs are on their way. */
static void one_process_may_open_a_store_twice(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct store *s = *state;
    struct bz_shelf_temp one[3], two[3];
    struct bz_cas *other;

    assert_ok(bz_cas_open(s->root, &opts, &other, &s->err), &s->err);
    atomic_store(&s->cas->root.temps, 0);
    atomic_store(&other->root.temps, 0);
    for (int i = 0; i < 3; i++) {
        assert_ok(bz_shelf_temp_open(&s->cas->root, &one[i], &s->err), &s->err);
        assert_ok(bz_shelf_temp_open(&other->root, &two[i], &s->err), &s->err);
    }
    assert_int_equal(store_temps(s), 6);
    for (int i = 0; i < 3; i++) {
        bz_shelf_temp_release(&one[i]);
        bz_shelf_temp_release(&two[i]);
    }
    assert_int_equal(store_temps(s), 0);
    bz_cas_close(other);
}

static void a_file_that_was_exchanged_is_not_adopted(void **state)
{
    static const struct bz_digest key = {{5}};
    struct store *s = *state;
    bool existed;
    int fd;

    put(s->dir, "f", "text");
    fd = openat(s->dir, "f", O_RDONLY | O_CLOEXEC);
    assert_int_equal(unlinkat(s->dir, "f", 0), 0);
    put(s->dir, "f", "evil");
    assert_int_equal(
        bz_shelf_adopt(&s->cas->blobs, s->dir, "f", fd, &key, &existed, &s->err),
        BZ_E_BUSY);
    assert_false(bz_shelf_has(&s->cas->blobs, &key));
    close(fd);
}

static void only_what_was_seen_is_put_aside(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    struct stat other;

    assert_int_equal(stat("/", &other), 0);
    bz_shelf_quarantine(&s->cas->blobs, &d.hash, &other, "a test");
    assert_true(bz_cas_has(s->cas, &d));
    assert_int_equal(store_bad(s), 0);
}

static void in_doubt_the_bytes_of_what_exists_are_compared(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest first = store_text(s, "first"),
                           other = store_text(s, "other");
    char path[128];

    damage(s->dir, store_path("cas", &first.hash, path), 1, false);
    damage(s->dir, store_path("cas", &other.hash, path), 1, false);
    store_text(s, "first"); /* its size is right */
    assert_int_equal(store_bad(s), 0);
    assert_int_equal(bz_cas_fd(s->cas, s->h, &other, &(int){-1}, &s->err), BZ_E_NOENT);
    assert_int_equal(store_bad(s), 1);
    store_text(s, "first"); /* by now one was found damaged */
    assert_int_equal(store_bad(s), 2);
    store_text(s, "first");
    assert_int_equal(store_bad(s), 2);
}

static void a_full_disk_is_an_error_and_leaves_nothing(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct store *s = *state;
    struct bz_reapi_digest d, small;
    char path[320], *big, *out;
    struct bz_cas *cas;

    if (!store_mount(s, "size=256k", path))
        skip();
    big = calloc(1, 1 << 20);
    assert_ok(bz_cas_open(path, &opts, &cas, &s->err), &s->err);
    assert_ok(bz_cas_put(cas, s->h, "abc", 3, &small, &s->err), &s->err);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(bz_cas_put(cas, s->h, big, 1 << 20, &d, &s->err), BZ_E_IO);
        assert_int_equal(s->err.sys, ENOSPC);
        assert_false(bz_cas_has(cas, &d));
    }
    assert_ok(bz_cas_read(cas, s->h, &small, 10, &out, &s->err), &s->err);
    assert_ok(bz_cas_put(cas, s->h, "abcd", 4, &d, &s->err), &s->err);
    bz_cas_close(cas);
    assert_int_equal(umount2(path, MNT_DETACH), 0);
    free(big);
    free(out);
}

static void a_store_on_a_read_only_file_system_is_read(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct store *s = *state;
    struct bz_reapi_digest d, e;
    char path[320], *out;
    struct bz_cas *cas;

    if (!store_mount(s, "size=1m", path))
        skip();
    assert_ok(bz_cas_open(path, &opts, &cas, &s->err), &s->err);
    assert_ok(bz_cas_put(cas, s->h, "abc", 3, &d, &s->err), &s->err);
    bz_cas_close(cas);
    assert_int_equal(mount(NULL, path, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    assert_ok(bz_cas_open(path, &opts, &cas, &s->err), &s->err);
    assert_ok(bz_cas_read(cas, s->h, &d, 10, &out, &s->err), &s->err);
    assert_int_equal(bz_cas_put(cas, s->h, "x", 1, &e, &s->err), BZ_E_IO);
    assert_int_equal(s->err.sys, EROFS);
    bz_cas_close(cas);
    assert_int_equal(umount2(path, MNT_DETACH), 0);
    free(out);
}

/* As another user, who has no rights in the store. */
static int read_as_nobody(const char *root, const struct bz_reapi_digest *d)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct bz_digest_hasher *h;
    struct bz_reapi_digest e;
    struct bz_cas *cas;
    struct bz_err err;
    char *out;

    if (setgid(65534) < 0 || setuid(65534) < 0 || bz_digest_hasher_new(&h, &err) < 0 ||
        bz_cas_open(root, &opts, &cas, &err) < 0)
        return 2;
    if (bz_cas_read(cas, h, d, 10, &out, &err) < 0)
        return 3;
    return bz_cas_put(cas, h, "x", 1, &e, &err) < 0 && err.sys == EROFS ? 0 : 4;
}

static void a_store_of_another_user_is_read(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "abc");
    int status;
    pid_t pid;

    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(s->scratch->path, 0755), 0);
    pid = fork();
    if (pid == 0)
        _exit(read_as_nobody(s->root, &d));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_store_cannot_be_where_a_file_is(void **state)
{
    struct store *s = *state;
    struct bz_shelf_root r;
    char path[320];

    put(s->dir, "file", "x");
    snprintf(path, sizeof(path), "%s/file", s->scratch->path);
    assert_true(bz_shelf_root_open(&r, path, BZ_SHELF_WRITE, BZ_FS_NOSYNC, &s->err) <
                0);
}

/* In a child that is another user: what it found, by its exit code. */
static int put_as_another_user(struct store *s, struct bz_digest *key)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct bz_reapi_digest d;
        struct bz_cas *cas;
        struct stat st;
        char path[128];

        if (setgid(65534) < 0 || setuid(65534) < 0 ||
            bz_cas_open(s->root, &opts, &cas, &s->err) < 0 || cas->root.readonly)
            _exit(10);
        cas->root.touch = 0;
        if (bz_shelf_claim(&cas->blobs, key) != BZ_SHELF_FOREIGN)
            _exit(11);
        if (bz_cas_put(cas, s->h, "theirs", 6, &d, &s->err) < 0)
            _exit(12);
        if (fstatat(s->dir, store_path("cas", key, path), &st, 0) < 0 ||
            st.st_uid != 65534)
            _exit(13);
        _exit(bz_shelf_claim(&cas->blobs, key) == BZ_SHELF_CLAIMED ? 0 : 14);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

static void another_users_blob_is_replaced_by_its_like(void **state)
{
    static const char *const dirs[] = {".", "s", "s/cas", "s/ac", "s/tmp", "s/leases"};
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "theirs");
    char path[128];
    int rc;

    if (geteuid() != 0)
        skip(); /* only root can be somebody else */
    for (size_t i = 0; i < BZ_COUNTOF(dirs); i++)
        assert_int_equal(fchmodat(s->dir, dirs[i], 0777, 0), 0);
    store_path("cas", &d.hash, path);
    path[strlen(path) - BZ_DIGEST_HEX_LEN - 1] = '\0';
    assert_int_equal(fchmodat(s->dir, path, 0777, 0), 0);
    usleep(20000);
    rc = put_as_another_user(s, &d.hash);
    if (rc == 10 && !getenv("BITZEL_MUST_WORK"))
        skip(); /* what lies above the directory may be closed to others */
    assert_int_equal(rc, 0);
    assert_int_equal(store_temps(s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(another_users_blob_is_replaced_by_its_like),
        cmocka_unit_test(a_name_is_two_digits_a_slash_and_all_of_them),
        store_test(publishers_that_are_killed_leave_only_temporaries),
        store_test(temporaries_of_unknown_owners_are_kept_for_a_day),
        store_test(a_temporary_of_our_own_is_kept),
        store_test(one_process_may_open_a_store_twice),
        store_test(a_file_that_was_exchanged_is_not_adopted),
        store_test(only_what_was_seen_is_put_aside),
        store_test(in_doubt_the_bytes_of_what_exists_are_compared),
        store_test(a_full_disk_is_an_error_and_leaves_nothing),
        store_test(a_store_on_a_read_only_file_system_is_read),
        store_test(a_store_of_another_user_is_read),
        store_test(a_store_cannot_be_where_a_file_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
