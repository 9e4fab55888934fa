#include "sig/sums.h"

#include "os/path.h"
#include "tests/unit/os/scratch.h"

struct run {
    struct bz_digest_hasher *hasher;
    struct bz_sums sums;
    struct bz_entries catalog;
    const struct scratch *dir;
    struct bz_path memory;
    struct bz_err err;
};

static void begin(struct run *r, const struct scratch *dir)
{
    r->dir = dir;
    assert_ok(bz_digest_hasher_new(&r->hasher, &r->err), &r->err);
    assert_ok(bz_path_join(bz_str_from(dir->path), BZ_STR("cache/catalog"), &r->memory,
                           &r->err),
              &r->err);
    bz_entries_open(&r->catalog, r->memory.s, "test");
    bz_sums_open(&r->sums, &r->catalog, r->hasher);
}

/* How many files had to be read. */
static size_t end(struct run *r)
{
    size_t nread = r->sums.nread;

    bz_sums_keep(&r->sums);
    assert_ok(bz_entries_save(&r->catalog, &r->err), &r->err);
    bz_sums_close(&r->sums);
    bz_entries_close(&r->catalog);
    bz_digest_hasher_free(r->hasher);
    return nread;
}

static struct bz_sums_file get(struct run *r, const char *name)
{
    struct bz_sums_file file;
    struct bz_path path;

    assert_ok(
        bz_path_join(bz_str_from(r->dir->path), bz_str_from(name), &path, &r->err),
        &r->err);
    assert_ok(bz_sums_get(&r->sums, path.s, &file, &r->err), &r->err);
    return file;
}

static bool is(struct run *r, const struct bz_sums_file *file, const char *text)
{
    struct bz_digest want;

    bz_digest_bytes(r->hasher, text, strlen(text), &want);
    return file->present && bz_digest_eq(&file->digest, &want);
}

/* One run that must find that text, and read as many files. */
static void check(const struct scratch *dir, const char *name, const char *text,
                  size_t nread)
{
    struct run r;
    struct bz_sums_file file;

    begin(&r, dir);
    file = get(&r, name);
    assert_true(is(&r, &file, text));
    assert_int_equal(end(&r), nread);
}

/* Until a later change is sure to bear another time. */
static void settle(const struct scratch *dir, const char *name)
{
    struct bz_stamp stamp;

    do {
        usleep(5000);
        bz_stamp_path(dir->fd, name, &stamp);
    } while (!stamp.settled);
}

static void copy_times(const struct scratch *dir, const char *from, const char *to)
{
    struct stat st;

    assert_int_equal(fstatat(dir->fd, from, &st, 0), 0);
    assert_int_equal(
        utimensat(dir->fd, to, (struct timespec[]){st.st_atim, st.st_mtim}, 0), 0);
}

static void a_file_is_its_content_and_whether_it_may_be_executed(void **state)
{
    struct scratch *dir = *state;
    struct run r;
    struct bz_sums_file file;

    put(dir->fd, "a", "text");
    put(dir->fd, "b", "");
    assert_int_equal(fchmodat(dir->fd, "b", 0755, 0), 0);
    assert_int_equal(symlinkat("a", dir->fd, "link"), 0);
    begin(&r, dir);
    file = get(&r, "a");
    assert_true(is(&r, &file, "text") && !file.executable);
    file = get(&r, "b");
    assert_true(is(&r, &file, "") && file.executable);
    file = get(&r, "link");
    assert_true(is(&r, &file, "text"));
    file = get(&r, "none");
    assert_false(file.present);
    assert_true(bz_digest_is_zero(&file.digest));
    assert_int_equal(end(&r), 3);
}

static void what_is_no_file_is_refused(void **state)
{
    struct scratch *dir = *state;
    struct bz_sums_file file;
    struct bz_path path;
    struct run r;

    assert_int_equal(mkfifoat(dir->fd, "pipe", 0600), 0);
    begin(&r, dir);
    assert_int_equal(bz_sums_get(&r.sums, dir->path, &file, &r.err), BZ_E_INVAL);
    assert_ok(bz_path_join(bz_str_from(dir->path), BZ_STR("pipe"), &path, &r.err),
              &r.err);
    assert_int_equal(bz_sums_get(&r.sums, path.s, &file, &r.err), BZ_E_INVAL);
    (void)end(&r);
}

static void a_file_that_has_settled_is_read_once(void **state)
{
    struct scratch *dir = *state;

    put(dir->fd, "a", "text");
    settle(dir, "a");
    check(dir, "a", "text", 1);
    check(dir, "a", "text", 0);
    assert_int_equal(fchmodat(dir->fd, "a", 0755, 0), 0);
    check(dir, "a", "text", 1); /* its ctime is another */
}

static void a_file_that_was_just_written_is_not_trusted(void **state)
{
    struct scratch *dir = *state;

    put(dir->fd, "a", "one");
    check(dir, "a", "one", 1);
    put(dir->fd, "a", "two"); /* perhaps within the same tick */
    check(dir, "a", "two", 1);
    for (int i = 0; i < 20; i++) {
        char text[4] = {(char)('a' + i), 'x', 'y', 0};

        put(dir->fd, "a", text);
        check(dir, "a", text, 1);
    }
}

static void same_size_and_mtime_are_no_excuse(void **state)
{
    struct scratch *dir = *state;

    put(dir->fd, "a", "one");
    put(dir->fd, "old", "");
    copy_times(dir, "a", "old");
    settle(dir, "a");
    check(dir, "a", "one", 1);
    put(dir->fd, "a", "two");
    copy_times(dir, "old", "a");
    check(dir, "a", "two", 1);
}

static void a_file_that_takes_the_place_of_another_is_read(void **state)
{
    struct scratch *dir = *state;

    put(dir->fd, "a", "one");
    put(dir->fd, "b", "two");
    copy_times(dir, "a", "b");
    settle(dir, "b");
    check(dir, "a", "one", 1);
    assert_int_equal(renameat(dir->fd, "b", dir->fd, "a"), 0);
    check(dir, "a", "two", 1);
    assert_int_equal(unlinkat(dir->fd, "a", 0), 0);
    put(dir->fd, "a", "one");
    check(dir, "a", "one", 1);
}

/* Writes while the file is read. */
struct writer {
    struct run *run;
    int times;
};

static int hash_and_write(void *ctx, int fd, struct bz_digest *out, struct bz_err *err)
{
    struct writer *w = ctx;
    uint64_t size;
    int rc = bz_digest_fd(w->run->sums.hasher, fd, out, &size, err);

    if (w->times-- > 0) {
        char text[64];

        snprintf(text, sizeof(text), "%*s", 40 - w->times, "more");
        put(w->run->dir->fd, "a", text);
    }
    return rc;
}

static void a_file_that_changes_while_it_is_read_is_read_again(void **state)
{
    struct scratch *dir = *state;
    struct run r;
    struct writer w = {&r, 2};
    struct bz_sums_file file;
    char text[64];

    put(dir->fd, "a", "before");
    begin(&r, dir);
    r.sums.hash = hash_and_write;
    r.sums.ctx = &w;
    file = get(&r, "a");
    assert_int_equal(w.times, -1);
    snprintf(text, sizeof(text), "%*s", 40, "more"); /* the last that was written */
    assert_true(is(&r, &file, text));
    (void)end(&r);
}

static void one_that_never_stops_changing_is_a_failure(void **state)
{
    struct scratch *dir = *state;
    struct run r;
    struct writer w = {&r, 30};
    struct bz_sums_file file;
    struct bz_path path;

    put(dir->fd, "a", "before");
    begin(&r, dir);
    r.sums.hash = hash_and_write;
    r.sums.ctx = &w;
    assert_ok(bz_path_join(bz_str_from(dir->path), BZ_STR("a"), &path, &r.err), &r.err);
    assert_int_equal(bz_sums_get(&r.sums, path.s, &file, &r.err), BZ_E_BUSY);
    (void)end(&r);
}

static void all_of_a_run_see_the_same_file(void **state)
{
    struct scratch *dir = *state;
    struct run r;
    struct bz_sums_file file;

    put(dir->fd, "a", "one");
    begin(&r, dir);
    (void)get(&r, "a");
    put(dir->fd, "a", "other");
    file = get(&r, "a");
    assert_true(is(&r, &file, "one"));
    assert_int_equal(end(&r), 1);
    check(dir, "a", "other", 1);
}

static void what_another_run_saw_is_kept(void **state)
{
    struct scratch *dir = *state;

    put(dir->fd, "a", "one");
    put(dir->fd, "b", "two");
    settle(dir, "b");
    check(dir, "a", "one", 1);
    check(dir, "b", "two", 1);
    check(dir, "a", "one", 0);
    check(dir, "b", "two", 0);
}

static void a_damaged_memory_is_as_good_as_none(void **state)
{
    struct scratch *dir = *state;

    put(dir->fd, "a", "one");
    settle(dir, "a");
    check(dir, "a", "one", 1);
    put(dir->fd, "cache/catalog", "bzentry1");
    check(dir, "a", "one", 1);
    check(dir, "a", "one", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_file_is_its_content_and_whether_it_may_be_executed),
        scratch_test(what_is_no_file_is_refused),
        scratch_test(a_file_that_has_settled_is_read_once),
        scratch_test(a_file_that_was_just_written_is_not_trusted),
        scratch_test(same_size_and_mtime_are_no_excuse),
        scratch_test(a_file_that_takes_the_place_of_another_is_read),
        scratch_test(a_file_that_changes_while_it_is_read_is_read_again),
        scratch_test(one_that_never_stops_changing_is_a_failure),
        scratch_test(all_of_a_run_see_the_same_file),
        scratch_test(what_another_run_saw_is_kept),
        scratch_test(a_damaged_memory_is_as_good_as_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
