#include "cache/cas_file.h"

#include <sys/xattr.h>

#include "tests/unit/cache/store.h"

static struct bz_reapi_digest put_file(struct store *s, const char *name,
                                       enum bz_cas_file_in how)
{
    struct bz_cas_file f;

    assert_ok(bz_cas_file_put(s->cas, s->h, s->dir, name, how, &f, &s->err), &s->err);
    return f.digest;
}

static struct stat stat_of(struct store *s, const char *name)
{
    struct stat st;

    assert_int_equal(fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st;
}

static struct stat blob_of(struct store *s, const struct bz_reapi_digest *d)
{
    char path[128];

    return stat_of(s, store_path("cas", &d->hash, path));
}

static int get(struct store *s, const struct bz_reapi_digest *d, mode_t mode,
               enum bz_cas_file_out out, enum bz_cas_file_check check)
{
    struct bz_cas_file_want want = {d, mode, out, check, false};

    unlinkat(s->dir, "out", 0);
    return bz_cas_file_get(s->cas, s->h, s->dir, "out", &want, &s->err);
}

static void assert_out(struct store *s, const char *text, mode_t mode)
{
    struct stat st = stat_of(s, "out");
    size_t n;
    char *got;

    assert_int_equal(st.st_mode & 07777, mode);
    assert_int_equal(st.st_mtim.tv_sec, BZ_SHELF_MTIME);
    assert_ok(bz_fs_read(s->dir, "out", 1000, &got, &n, &s->err), &s->err);
    assert_string_equal(got, text);
    free(got);
}

static void an_adopted_file_and_its_blob_are_one(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d;

    put(s->dir, "f", "text");
    d = put_file(s, "f", BZ_CAS_FILE_ADOPT);
    assert_int_equal(blob_of(s, &d).st_ino, stat_of(s, "f").st_ino);
    assert_int_equal(d.size, 4);
    assert_int_equal(stat_of(s, "f").st_mtim.tv_sec, BZ_SHELF_MTIME);
    put_file(s, "f", BZ_CAS_FILE_ADOPT);
    assert_int_equal(stat_of(s, "f").st_nlink, 2);
    assert_int_equal(store_temps(s), 0);
}

/* As setcap(8) writes cap_net_raw+ep. Only root may. */
static bool give_capabilities(int dir, const char *name)
{
    static const unsigned char net_raw[20] = {1, 0, 0, 2, 0, 0x20};
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    int rc = fsetxattr(fd, "security.capability", net_raw, sizeof(net_raw), 0);

    close(fd);
    return rc == 0;
}

static void a_file_with_capabilities_is_not_adopted(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d;

    put(s->dir, "f", "text");
    if (!give_capabilities(s->dir, "f"))
        skip();
    d = put_file(s, "f", BZ_CAS_FILE_ADOPT);
    assert_int_not_equal(blob_of(s, &d).st_ino, stat_of(s, "f").st_ino);
}

static void a_plain_file_is_not_linked_to_a_blob_with_capabilities(void **state)
{
    struct store *s = *state;
    struct bz_cas_file_want want = {.mode = 0644, .out = BZ_CAS_FILE_LINK};
    struct bz_reapi_digest d;

    put(s->dir, "f", "text");
    assert_int_equal(fchmodat(s->dir, "f", 0644, 0), 0);
    d = put_file(s, "f", BZ_CAS_FILE_ADOPT);
    if (!give_capabilities(s->dir, "f"))
        skip();
    want.digest = &d;
    for (int plain = 0; plain < 2; plain++) {
        want.plain = plain;
        unlinkat(s->dir, "out", 0);
        assert_ok(bz_cas_file_get(s->cas, s->h, s->dir, "out", &want, &s->err),
                  &s->err);
        assert_out(s, "text", 0644);
        assert_int_equal(stat_of(s, "out").st_ino != stat_of(s, "f").st_ino, plain);
    }
}

static void a_copied_file_stays_as_it_is(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d;
    struct stat before;

    put(s->dir, "f", "text");
    before = stat_of(s, "f");
    d = put_file(s, "f", BZ_CAS_FILE_COPY);
    assert_int_not_equal(blob_of(s, &d).st_ino, before.st_ino);
    assert_int_equal(blob_of(s, &d).st_mode & 07777, 0444);
    assert_int_equal(stat_of(s, "f").st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    assert_int_equal(stat_of(s, "f").st_mode, before.st_mode);
}

static void a_file_that_others_could_change_or_not_read_is_copied(void **state)
{
    static const mode_t modes[] = {0664, 0646, 04755, 02755, 0600, 0700, 01644};
    struct store *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(modes); i++) {
        struct bz_reapi_digest d;
        char text[2] = {(char)('a' + i)};

        put(s->dir, "f", text);
        assert_int_equal(fchmodat(s->dir, "f", modes[i], 0), 0);
        d = put_file(s, "f", BZ_CAS_FILE_ADOPT);
        assert_int_not_equal(blob_of(s, &d).st_ino, stat_of(s, "f").st_ino);
        assert_int_equal(blob_of(s, &d).st_mode & 07777, 0444);
        assert_int_equal(stat_of(s, "f").st_mode & 07777, modes[i]);
        assert_ok(get(s, &d, modes[i], BZ_CAS_FILE_LINK, BZ_CAS_FILE_CHANGED), &s->err);
        assert_out(s, text, modes[i]);
        unlinkat(s->dir, "f", 0);
    }
}

static void a_file_with_a_second_name_is_copied(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d;

    put(s->dir, "f", "text");
    assert_int_equal(linkat(s->dir, "f", s->dir, "g", 0), 0);
    d = put_file(s, "f", BZ_CAS_FILE_ADOPT);
    assert_int_not_equal(blob_of(s, &d).st_ino, stat_of(s, "f").st_ino);
}

static void only_regular_files_are_stored(void **state)
{
    static const char *const names[] = {"dir", "pipe", "link", "absent"};
    struct store *s = *state;
    struct bz_cas_file f;

    assert_int_equal(mkdirat(s->dir, "dir", 0755), 0);
    assert_int_equal(mkfifoat(s->dir, "pipe", 0644), 0);
    assert_int_equal(symlinkat("pipe", s->dir, "link"), 0);
    for (size_t i = 0; i < 2 * BZ_COUNTOF(names); i++)
        assert_true(bz_cas_file_put(s->cas, s->h, s->dir, names[i / 2], i % 2, &f,
                                    &s->err) < 0);
}

static void a_file_comes_out_by_link_when_the_mode_agrees(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d;

    put(s->dir, "f", "text");
    assert_int_equal(fchmodat(s->dir, "f", 0755, 0), 0);
    d = put_file(s, "f", BZ_CAS_FILE_ADOPT);
    for (int check = 0; check < 3; check++) {
        assert_ok(get(s, &d, 0755, BZ_CAS_FILE_LINK, check), &s->err);
        assert_out(s, "text", 0755);
        assert_int_equal(stat_of(s, "out").st_ino, blob_of(s, &d).st_ino);
        assert_ok(get(s, &d, 0640, BZ_CAS_FILE_LINK, check), &s->err);
        assert_out(s, "text", 0640);
        assert_ok(get(s, &d, 0755, BZ_CAS_FILE_PRIVATE, check), &s->err);
        assert_out(s, "text", 0755);
        assert_int_not_equal(stat_of(s, "out").st_ino, blob_of(s, &d).st_ino);
    }
    assert_int_equal(blob_of(s, &d).st_mode & 07777, 0755);
}

static void an_existing_file_is_not_replaced(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "text");
    struct bz_cas_file_want want = {&d, 0444, BZ_CAS_FILE_LINK, BZ_CAS_FILE_CHECK,
                                    false};

    put(s->dir, "out", "mine");
    for (int i = 0; i < 2; i++) {
        want.out = i ? BZ_CAS_FILE_PRIVATE : BZ_CAS_FILE_LINK;
        assert_int_equal(bz_cas_file_get(s->cas, s->h, s->dir, "out", &want, &s->err),
                         BZ_E_EXISTS);
    }
    assert_int_equal(stat_of(s, "out").st_size, 4);
}

/* Written to through one of its names: the time tells, whatever the policy but the one
 * that looks at nothing. */
static void a_blob_that_was_written_to_is_not_restored(void **state)
{
    struct store *s = *state;

    for (int i = 0; i < 4; i++) {
        enum bz_cas_file_out out = i % 2 ? BZ_CAS_FILE_PRIVATE : BZ_CAS_FILE_LINK;
        enum bz_cas_file_check check = i < 2 ? BZ_CAS_FILE_CHECK : BZ_CAS_FILE_CHANGED;
        struct bz_reapi_digest d;

        put(s->dir, "f", "text");
        d = put_file(s, "f", BZ_CAS_FILE_ADOPT);
        damage(s->dir, "f", 2, false);
        assert_int_equal(get(s, &d, 0644, out, check), BZ_E_NOENT);
        assert_false(bz_fs_exists(s->dir, "out"));
        assert_false(bz_cas_has(s->cas, &d));
        assert_int_equal(unlinkat(s->dir, "f", 0), 0);
    }
}

/* Who does not look must not hide from the next one what there is to see. */
static void a_write_is_still_seen_after_an_unchecked_restore(void **state)
{
    struct store *s = *state;

    for (int i = 0; i < 2; i++) {
        enum bz_cas_file_out out = i ? BZ_CAS_FILE_PRIVATE : BZ_CAS_FILE_LINK;
        struct bz_reapi_digest d;

        put(s->dir, "f", "text");
        d = put_file(s, "f", BZ_CAS_FILE_ADOPT);
        damage(s->dir, "f", 2, false);
        assert_ok(get(s, &d, 0644, out, BZ_CAS_FILE_UNCHECKED), &s->err);
        assert_int_not_equal(stat_of(s, "out").st_ino, blob_of(s, &d).st_ino);
        assert_int_equal(get(s, &d, 0644, out, BZ_CAS_FILE_CHANGED), BZ_E_NOENT);
        assert_int_equal(unlinkat(s->dir, "f", 0), 0);
    }
}

static void a_write_within_the_second_is_seen(void **state)
{
    static const struct timespec times[2] = {
        {0,              UTIME_OMIT},
        {BZ_SHELF_MTIME, 1         }
    };
    struct store *s = *state;

    for (int i = 0; i < 2; i++) {
        struct bz_reapi_digest d;

        put(s->dir, "f", "text");
        d = put_file(s, "f", BZ_CAS_FILE_ADOPT);
        damage(s->dir, "f", 2, false);
        assert_int_equal(utimensat(s->dir, "f", times, 0), 0);
        assert_int_equal(get(s, &d, 0644, i ? BZ_CAS_FILE_PRIVATE : BZ_CAS_FILE_LINK,
                             BZ_CAS_FILE_CHANGED),
                         BZ_E_NOENT);
        assert_int_equal(unlinkat(s->dir, "f", 0), 0);
    }
}

static void a_blob_cut_short_or_removed_is_never_restored(void **state)
{
    struct store *s = *state;
    char path[128];

    for (int i = 0; i < 12; i++) {
        struct bz_reapi_digest d = store_text(s, "text");

        store_path("cas", &d.hash, path);
        if (i < 6)
            damage(s->dir, path, 3, true);
        else
            unlinkat(s->dir, path, 0);
        assert_int_equal(
            get(s, &d, 0444, i % 2 ? BZ_CAS_FILE_PRIVATE : BZ_CAS_FILE_LINK, i % 3),
            BZ_E_NOENT);
        assert_false(bz_fs_exists(s->dir, "out"));
    }
}

static void a_reference_with_a_wrong_size_costs_no_blob(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "text"), wrong = d;

    wrong.size--;
    for (int i = 0; i < 6; i++)
        assert_int_equal(
            get(s, &wrong, 0444, i % 2 ? BZ_CAS_FILE_PRIVATE : BZ_CAS_FILE_LINK, i % 3),
            BZ_E_NOENT);
    assert_false(bz_fs_exists(s->dir, "out"));
    assert_true(bz_cas_has(s->cas, &d));
    assert_int_equal(store_bad(s), 0);
}

/* As Bazel leaves it: writable, with the time of its making. */
static void a_blob_of_another_program_is_checked_and_gets_the_time(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "text");
    char path[128];

    store_path("cas", &d.hash, path);
    assert_int_equal(unlinkat(s->dir, path, 0), 0);
    put(s->dir, path, "text");
    assert_ok(get(s, &d, 0644, BZ_CAS_FILE_LINK, BZ_CAS_FILE_CHANGED), &s->err);
    assert_out(s, "text", 0644);
    assert_int_equal(blob_of(s, &d).st_mtim.tv_sec, BZ_SHELF_MTIME);
}

static void holes_survive_the_way_in_and_out(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d, e;
    int fd = openat(s->dir, "f", O_RDWR | O_CREAT | O_CLOEXEC, 0644);

    assert_int_equal(ftruncate(fd, 50 << 20), 0);
    assert_int_equal(pwrite(fd, "x", 1, 30 << 20), 1);
    close(fd);
    d = put_file(s, "f", BZ_CAS_FILE_COPY);
    assert_true(blob_of(s, &d).st_blocks < 100);
    assert_ok(get(s, &d, 0600, BZ_CAS_FILE_LINK, BZ_CAS_FILE_CHECK), &s->err);
    assert_true(stat_of(s, "out").st_blocks < 100);
    assert_int_equal(stat_of(s, "out").st_size, 50 << 20);
    e = put_file(s, "f", BZ_CAS_FILE_ADOPT);
    assert_true(bz_digest_eq(&d.hash, &e.hash));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(an_adopted_file_and_its_blob_are_one),
        store_test(a_file_with_capabilities_is_not_adopted),
        store_test(a_plain_file_is_not_linked_to_a_blob_with_capabilities),
        store_test(a_copied_file_stays_as_it_is),
        store_test(a_file_that_others_could_change_or_not_read_is_copied),
        store_test(a_file_with_a_second_name_is_copied),
        store_test(only_regular_files_are_stored),
        store_test(a_file_comes_out_by_link_when_the_mode_agrees),
        store_test(an_existing_file_is_not_replaced),
        store_test(a_blob_that_was_written_to_is_not_restored),
        store_test(a_write_is_still_seen_after_an_unchecked_restore),
        store_test(a_write_within_the_second_is_seen),
        store_test(a_blob_cut_short_or_removed_is_never_restored),
        store_test(a_reference_with_a_wrong_size_costs_no_blob),
        store_test(a_blob_of_another_program_is_checked_and_gets_the_time),
        store_test(holes_survive_the_way_in_and_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
