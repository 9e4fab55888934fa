#include "codec/entries.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/path.h"
#include "tests/unit/os/scratch.h"

#define TAG "test 1"

enum { MARK = 64, HEAD = 64, KEPT = (int)(BZ_ENTRIES_KEPT | 7) };

static struct bz_path path_of(const struct scratch *dir)
{
    struct bz_path path;
    struct bz_err err;

    assert_int_equal(
        bz_path_join(bz_str_from(dir->path), BZ_STR("deep/entries"), &path, &err), 0);
    return path;
}

static struct bz_entries_key key(uint8_t n)
{
    return (struct bz_entries_key){
        {n, 1, 2, 3}
    };
}

static void enter(struct bz_entries *e, uint32_t kind, uint8_t n, const char *text)
{
    struct bz_entries_key k = key(n);

    bz_entries_put(e, kind, &k, bz_str_from(text));
}

static bool has(struct bz_entries *e, uint32_t kind, uint8_t n, const char *text)
{
    struct bz_entries_key k = key(n);
    struct bz_str found;

    if (!bz_entries_find(e, kind, &k, &found))
        return false;
    assert_int_equal((uintptr_t)found.p % 8, 0);
    return bz_str_eq(found, bz_str_from(text));
}

static bool lacks(struct bz_entries *e, uint32_t kind, uint8_t n)
{
    struct bz_entries_key k = key(n);
    struct bz_str found;

    return !bz_entries_find(e, kind, &k, &found);
}

static void save(struct bz_entries *e)
{
    struct bz_err err;

    assert_int_equal(bz_entries_save(e, &err), 0);
}

/* One run that adds one entry. */
static void add(const char *path, uint8_t n, const char *text)
{
    struct bz_entries e;

    bz_entries_open(&e, path, TAG);
    enter(&e, 1, n, text);
    save(&e);
    bz_entries_close(&e);
}

static size_t size_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

static void entries_are_found_at_once_and_by_the_next_run(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries e;

    bz_entries_open(&e, path.s, TAG);
    assert_true(lacks(&e, 1, 1));
    enter(&e, 1, 1, "one");
    enter(&e, 2, 1, "of another kind");
    enter(&e, 1, 2, "");
    assert_true(has(&e, 1, 1, "one") && has(&e, 2, 1, "of another kind"));
    save(&e);
    bz_entries_close(&e);

    bz_entries_open(&e, path.s, TAG);
    assert_true(has(&e, 1, 1, "one") && has(&e, 2, 1, "of another kind"));
    assert_true(has(&e, 1, 2, "") && lacks(&e, 2, 2));
    bz_entries_close(&e);
}

static void the_last_entry_of_a_key_counts(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries_key k = key(1);
    struct bz_entries e;

    add(path.s, 1, "old");
    add(path.s, 1, "new");
    bz_entries_open(&e, path.s, TAG);
    assert_true(has(&e, 1, 1, "new"));
    enter(&e, 1, 1, "newer");
    enter(&e, 1, 1, "newest");
    assert_true(has(&e, 1, 1, "newest"));
    save(&e);
    bz_entries_close(&e);
    bz_entries_open(&e, path.s, TAG);
    assert_true(has(&e, 1, 1, "newest"));
    bz_entries_drop(&e, 1, &k);
    assert_true(lacks(&e, 1, 1));
    save(&e);
    bz_entries_close(&e);
    bz_entries_open(&e, path.s, TAG);
    assert_true(lacks(&e, 1, 1));
    bz_entries_close(&e);
}

static void a_run_writes_only_what_it_adds(void **state)
{
    struct bz_path path = path_of(*state);
    char text[4096];
    size_t before;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (uint8_t i = 0; i < 100; i++)
        add(path.s, i, text);
    before = size_of(path.s);
    add(path.s, 200, "small");
    assert_int_equal(size_of(path.s), before + 64 + 8 + MARK);
}

static void dead_entries_and_unused_ones_go(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries e;
    char text[16384];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    add(path.s, 1, "used");
    add(path.s, 2, "unused");
    for (unsigned i = 0; i < 100; i++) {
        text[0] = (char)('a' + i % 26);
        bz_entries_open(&e, path.s, TAG);
        assert_true(has(&e, 1, 1, "used"));
        enter(&e, 1, 3, text);
        save(&e);
        bz_entries_close(&e);
        assert_true(size_of(path.s) < 10 * sizeof(text));
    }
    bz_entries_open(&e, path.s, TAG);
    assert_true(has(&e, 1, 1, "used") && has(&e, 1, 3, text) && lacks(&e, 1, 2));
    bz_entries_close(&e);
}

static void an_entry_may_be_used_without_being_read(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries_key k = key(1);
    struct bz_entries e;
    char text[16384];
    bool due = false;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    add(path.s, 1, "used");
    add(path.s, 2, "unused");
    for (unsigned i = 0; i < 100; i++) {
        bz_entries_open(&e, path.s, TAG);
        assert_false(bz_entries_is_due(&e));
        enter(&e, 1, 3, text);
        if (bz_entries_is_due(&e)) {
            due = true;
            bz_entries_use(&e, &k);
        }
        save(&e);
        bz_entries_close(&e);
    }
    assert_true(due);
    bz_entries_open(&e, path.s, TAG);
    bz_entries_use(&e, &k);
    assert_true(has(&e, 1, 1, "used") && lacks(&e, 1, 2));
    bz_entries_close(&e);
}

static void entries_of_ever_new_keys_do_not_pile_up(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries e;
    char text[16384];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (uint32_t i = 0; i < 2000; i++) {
        struct bz_entries_key k = {{0}};

        memcpy(k.b, &i, sizeof(i));
        bz_entries_open(&e, path.s, TAG);
        bz_entries_put(&e, 1, &k, bz_str_from(text));
        save(&e);
        bz_entries_close(&e);
    }
    assert_true(size_of(path.s) < (size_t)6 << 20); /* of 32 MB */
}

static void writers_take_turns(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries one, two;

    add(path.s, 1, "first");
    bz_entries_open(&one, path.s, TAG);
    bz_entries_open(&two, path.s, TAG);
    enter(&one, 1, 2, "by one");
    enter(&two, 1, 3, "by two");
    enter(&two, 1, 1, "again");
    save(&one);
    save(&two);
    assert_true(has(&one, 1, 1, "first") && lacks(&one, 1, 3));
    bz_entries_close(&one);
    bz_entries_close(&two);
    bz_entries_open(&one, path.s, TAG);
    assert_true(has(&one, 1, 1, "again") && has(&one, 1, 2, "by one") &&
                has(&one, 1, 3, "by two"));
    bz_entries_close(&one);
}

static void a_file_of_another_tag_is_as_none(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries e;

    add(path.s, 1, "one");
    bz_entries_open(&e, path.s, "test 2");
    assert_true(lacks(&e, 1, 1));
    enter(&e, 1, 2, "two");
    save(&e);
    bz_entries_close(&e);
    bz_entries_open(&e, path.s, TAG);
    assert_true(lacks(&e, 1, 1) && lacks(&e, 1, 2));
    bz_entries_close(&e);
}

/* Wherever a writer was killed, the entries before are there and the next one writes.
 */
static void a_file_that_is_cut_off_anywhere_is_mended(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_err err;
    char *bytes;
    size_t n, first;

    add(path.s, 1, "first");
    first = size_of(path.s) - MARK;
    add(path.s, 2, "a second that is longer");
    assert_int_equal(bz_fs_read(AT_FDCWD, path.s, 1 << 20, &bytes, &n, &err), 0);
    for (size_t cut = 0; cut < n; cut++) {
        struct bz_entries e;

        assert_int_equal(
            bz_fs_write(AT_FDCWD, path.s, bytes, cut, 0644, BZ_FS_NOSYNC, &err), 0);
        bz_entries_open(&e, path.s, TAG);
        assert_int_equal(has(&e, 1, 1, "first"), cut >= first);
        assert_int_equal(lacks(&e, 1, 2), cut < n - MARK);
        bz_entries_close(&e);
        add(path.s, 3, "third");
        bz_entries_open(&e, path.s, TAG);
        assert_int_equal(has(&e, 1, 1, "first"), cut >= first);
        assert_true(has(&e, 1, 3, "third"));
        bz_entries_close(&e);
    }
    free(bytes);
}

/* A byte that changed is never believed. */
static void damage_costs_entries_and_nothing_else(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_err err;
    char *bytes;
    size_t n;

    add(path.s, 1, "first");
    add(path.s, 2, "second");
    assert_int_equal(bz_fs_read(AT_FDCWD, path.s, 1 << 20, &bytes, &n, &err), 0);
    for (size_t i = 0; i < n; i++) {
        struct bz_entries_key one = key(1), two = key(2);
        struct bz_entries e;
        struct bz_str found;

        bytes[i] ^= 0x55;
        assert_int_equal(
            bz_fs_write(AT_FDCWD, path.s, bytes, n, 0644, BZ_FS_NOSYNC, &err), 0);
        bz_entries_open(&e, path.s, TAG);
        if (bz_entries_find(&e, 1, &one, &found))
            assert_true(bz_str_eq(found, BZ_STR("first")));
        if (bz_entries_find(&e, 1, &two, &found))
            assert_true(bz_str_eq(found, BZ_STR("second")));
        bz_entries_close(&e);
        bytes[i] ^= 0x55;
    }
    free(bytes);
}

/* Entries that an index leads to, and later ones. */
static void many_entries_are_found(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries_key k = {{0}};
    struct bz_entries e;
    struct bz_str found;

    for (uint32_t round = 0; round < 4; round++) {
        bz_entries_open(&e, path.s, TAG);
        for (uint32_t i = round * 500; i < round * 500 + 700; i++) {
            uint32_t value = i + round;

            memcpy(k.b, &i, sizeof(i));
            bz_entries_put(&e, 3, &k, bz_str_of((const char *)&value, sizeof(value)));
        }
        save(&e);
        bz_entries_close(&e);
    }
    add(path.s, 1, "one more");
    bz_entries_open(&e, path.s, TAG);
    for (uint32_t i = 0; i < 2200; i++) {
        uint32_t round = i / 500 < 3 ? i / 500 : 3, value;

        memcpy(k.b, &i, sizeof(i));
        assert_true(bz_entries_find(&e, 3, &k, &found) && found.n == sizeof(value));
        memcpy(&value, found.p, sizeof(value));
        assert_int_equal(value, i + round);
    }
    assert_true(has(&e, 1, 1, "one more") && lacks(&e, 1, 2));
    bz_entries_close(&e);
}

/* Whichever byte of an index is damaged, or where it is cut off. */
static void a_damaged_index_loses_nothing(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries_key k = {{0}};
    struct bz_entries e;
    struct bz_err err;
    char *bytes;
    size_t n, end;

    bz_entries_open(&e, path.s, TAG);
    for (uint32_t i = 0; i < 200; i++) {
        memcpy(k.b, &i, sizeof(i));
        bz_entries_put(&e, 3, &k, BZ_STR("x"));
    }
    enter(&e, 1, 1, "one");
    save(&e);
    bz_entries_close(&e);
    assert_int_equal(bz_fs_read(AT_FDCWD, path.s, 1 << 20, &bytes, &n, &err), 0);
    end = 48 + 201 * (HEAD + 8);
    assert_true(n > end + MARK + HEAD + (size_t)256 * 16);
    for (size_t i = end; i < n; i += 7) {
        bytes[i] ^= 0x10;
        for (int cut = 0; cut < 2; cut++) {
            assert_int_equal(bz_fs_write(AT_FDCWD, path.s, bytes, cut ? i : n, 0644,
                                         BZ_FS_NOSYNC, &err),
                             0);
            bz_entries_open(&e, path.s, TAG);
            assert_true(bz_entries_find(&e, 3, &k, &(struct bz_str){0}));
            assert_true(has(&e, 1, 1, "one"));
            bz_entries_close(&e);
        }
        bytes[i] ^= 0x10;
    }
    free(bytes);
}

static void damage_in_one_entry_costs_no_other(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_err err;
    char *bytes;
    size_t n;

    add(path.s, 1, "first");
    add(path.s, 2, "second");
    add(path.s, 3, "third");
    assert_int_equal(bz_fs_read(AT_FDCWD, path.s, 1 << 20, &bytes, &n, &err), 0);
    for (size_t i = 48; i < 48 + HEAD + 5; i++) {
        struct bz_entries e;

        bytes[i] ^= 0x55;
        assert_int_equal(
            bz_fs_write(AT_FDCWD, path.s, bytes, n, 0644, BZ_FS_NOSYNC, &err), 0);
        bytes[i] ^= 0x55;
        for (int round = 0; round < 3; round++) {
            bz_entries_open(&e, path.s, TAG);
            assert_true(lacks(&e, 1, 1) && has(&e, 1, 2, "second") &&
                        has(&e, 1, 3, "third"));
            assert_int_equal(lacks(&e, 1, 4), round == 0);
            enter(&e, 1, 4, "fourth");
            save(&e);
            bz_entries_close(&e);
        }
    }
    free(bytes);
}

static void add_texts(void *ctx, uint32_t kind, const struct bz_entries_key *k,
                      struct bz_str bytes)
{
    (void)k;
    assert_int_equal(kind, (uint32_t)KEPT);
    bz_buf_addf(ctx, "%.*s ", BZ_STR_ARG(bytes));
}

static void assert_kept(const char *path, const char *tag, const char *texts)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf all = {0};
    struct bz_entries e;

    bz_entries_open(&e, path, tag);
    bz_entries_each_kept(&e, (uint32_t)KEPT, add_texts, &all);
    assert_string_equal(bz_buf_text(&all), texts);
    bz_entries_close(&e);
}

static void spoil(const char *path, off_t at)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);

    assert_int_equal(pwrite(fd, "?", 1, at), 1);
    close(fd);
}

static void entries_of_kept_kinds_stay_until_they_are_dropped(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries_key k = key(2);
    struct bz_entries e;
    char text[16384];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    bz_entries_open(&e, path.s, TAG);
    enter(&e, (uint32_t)KEPT, 1, "old");
    enter(&e, (uint32_t)KEPT, 2, "two");
    enter(&e, 1, 2, "of another kind");
    save(&e);
    enter(&e, (uint32_t)KEPT, 1, "one");
    save(&e);
    bz_entries_close(&e);
    assert_kept(path.s, TAG, "two one ");
    for (uint8_t i = 0; i < 100; i++)
        add(path.s, i % 3, text); /* which rewrites the file */
    assert_kept(path.s, TAG, "two one ");
    assert_kept(path.s, "test 2", "two one ");
    spoil(path.s, 9); /* the head of the file */
    assert_kept(path.s, TAG, "two one ");
    bz_entries_open(&e, path.s, "test 2");
    assert_true(lacks(&e, 1, 1));
    bz_entries_drop(&e, (uint32_t)KEPT, &k);
    save(&e);
    bz_entries_close(&e);
    assert_kept(path.s, "test 2", "one ");
    assert_kept(path.s, TAG, "one ");
    assert_true(size_of(path.s) < sizeof(text));
}

static void an_entry_may_be_made_in_place(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries_key k = key(1);
    struct bz_entries e;
    struct bz_str found;
    char *room;

    bz_entries_open(&e, path.s, TAG);
    room = bz_entries_room(&e, 3 << 20);
    assert_int_equal((uintptr_t)room % 8, 0);
    memset(room, 'y', 3 << 20);
    bz_entries_commit(&e, 1, &k, (2 << 20) + 1);
    enter(&e, 1, 2, "after it");
    save(&e);
    assert_true(bz_entries_find(&e, 1, &k, &found));
    assert_int_equal(bz_entries_sum(found), bz_str_hash(found));
    bz_entries_close(&e);
    bz_entries_open(&e, path.s, TAG);
    assert_true(bz_entries_find(&e, 1, &k, &found));
    assert_int_equal(found.n, (2 << 20) + 1);
    assert_int_equal(bz_entries_sum(found), bz_str_hash(found));
    assert_true(has(&e, 1, 2, "after it"));
    bz_entries_close(&e);
}

static void count(void *ctx, uint32_t kind, const struct bz_entries_key *k,
                  struct bz_str bytes)
{
    unsigned *n = ctx;

    (void)kind;
    (void)k;
    *n += (unsigned)bytes.n;
}

static void each_shows_what_counts(void **state)
{
    struct bz_path path = path_of(*state);
    struct bz_entries e;
    unsigned n = 0;

    add(path.s, 1, "1");
    add(path.s, 2, "22");
    bz_entries_open(&e, path.s, TAG);
    enter(&e, 1, 2, "4444");
    enter(&e, 1, 3, "88888888");
    enter(&e, 1, 4, "dropped");
    bz_entries_drop(&e, 1,
                    &(struct bz_entries_key){
                        {4, 1, 2, 3}
    });
    bz_entries_each(&e, count, &n);
    assert_int_equal(n, 1 + 4 + 8);
    bz_entries_close(&e);
}

static void without_a_path_nothing_is_remembered(void **state)
{
    struct bz_entries e;

    (void)state;
    bz_entries_open(&e, NULL, TAG);
    enter(&e, 1, 1, "one");
    assert_true(has(&e, 1, 1, "one"));
    save(&e);
    bz_entries_close(&e);
}

static void keys_of_texts_differ(void **state)
{
    struct bz_entries_key a, b;

    (void)state;
    bz_entries_key_of(BZ_STR("/a/b"), &a);
    bz_entries_key_of(BZ_STR("/a/c"), &b);
    assert_memory_not_equal(&a, &b, sizeof(a));
    bz_entries_key_of(BZ_STR("/a/b"), &b);
    assert_memory_equal(&a, &b, sizeof(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(entries_are_found_at_once_and_by_the_next_run),
        scratch_test(the_last_entry_of_a_key_counts),
        scratch_test(a_run_writes_only_what_it_adds),
        scratch_test(dead_entries_and_unused_ones_go),
        scratch_test(an_entry_may_be_used_without_being_read),
        scratch_test(entries_of_ever_new_keys_do_not_pile_up),
        scratch_test(writers_take_turns),
        scratch_test(a_file_of_another_tag_is_as_none),
        scratch_test(a_file_that_is_cut_off_anywhere_is_mended),
        scratch_test(damage_costs_entries_and_nothing_else),
        scratch_test(many_entries_are_found),
        scratch_test(a_damaged_index_loses_nothing),
        scratch_test(damage_in_one_entry_costs_no_other),
        scratch_test(entries_of_kept_kinds_stay_until_they_are_dropped),
        scratch_test(an_entry_may_be_made_in_place),
        scratch_test(each_shows_what_counts),
        cmocka_unit_test(without_a_path_nothing_is_remembered),
        cmocka_unit_test(keys_of_texts_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
