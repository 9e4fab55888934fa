#include "jobs/postbox.h"

#include <sys/stat.h>

#include "jobs/request.h"
#include "tests/unit/os/scratch.h"

static struct bz_err err;

static void add(const struct scratch *s, const char *text)
{
    int fd = openat(s->fd, "mailbox-1.json", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
                    0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void open_box(struct bz_postbox *p, const struct scratch *s)
{
    assert_ok(bz_postbox_open(p, s->fd, s->fd, 1, &err), &err);
}

/* Takes a line of that text; NULL: there is none. */
static struct bz_postbox_line *next(struct bz_postbox *p, const char *want)
{
    struct bz_str text = {0};
    int rc = bz_postbox_peek(p, &text, &err);

    assert_ok(rc, &err);
    assert_int_equal(rc, want ? 1 : 0);
    if (!want)
        return NULL;
    assert_int_equal(text.n, strlen(want));
    assert_memory_equal(text.p, want, text.n);
    return bz_postbox_take(p);
}

static void answer(struct bz_postbox *p, struct bz_postbox_line *line)
{
    bz_postbox_answer(p, line);
    assert_ok(bz_postbox_save(p, &err), &err);
}

static void a_line_counts_when_it_has_an_end(void **state)
{
    struct scratch *s = *state;
    const struct bz_postbox_line *l;
    struct bz_postbox p;

    add(s, "one\ntw");
    open_box(&p, s);
    l = next(&p, "one");
    assert_int_equal(l->start, 0);
    assert_int_equal(l->end, 4);
    next(&p, NULL);
    add(s, "o");
    next(&p, NULL);
    add(s, "\n\nlast\n");
    l = next(&p, "two");
    assert_int_equal(l->start, 4);
    assert_int_equal(l->end, 8);
    next(&p, "");
    next(&p, "last");
    next(&p, NULL);
    bz_postbox_close(&p);
}

static void answered_lines_do_not_come_again(void **state)
{
    struct scratch *s = *state;
    struct bz_postbox_line *one, *three;
    struct bz_postbox p;

    add(s, "one\ntwo\nthree\nfour\n");
    open_box(&p, s);
    one = next(&p, "one");
    next(&p, "two");
    three = next(&p, "three");
    answer(&p, three); /* the second takes longer */
    answer(&p, one);
    bz_postbox_close(&p);
    for (int i = 0; i < 3; i++) {
        open_box(&p, s);
        next(&p, "two");
        next(&p, "four");
        next(&p, NULL);
        bz_postbox_close(&p);
    }
    open_box(&p, s);
    answer(&p, next(&p, "two"));
    answer(&p, next(&p, "four"));
    bz_postbox_close(&p);
    open_box(&p, s);
    assert_int_equal(p.in_at, 19);
    add(s, "five\n");
    next(&p, "five");
    bz_postbox_close(&p);
}

static void a_record_that_is_cut_says_what_it_can(void **state)
{
    struct scratch *s = *state;
    struct bz_postbox p;
    int fd;

    add(s, "one\ntwo\nthree\n");
    open_box(&p, s);
    answer(&p, next(&p, "one"));
    bz_postbox_close(&p);
    fd = openat(s->fd, "answered-1", O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, "nonsense\n4 8", 12), 12);
    close(fd);
    open_box(&p, s);
    next(&p, "two");
    bz_postbox_close(&p);
    fd = openat(s->fd, "answered-1", O_WRONLY | O_TRUNC | O_CLOEXEC);
    close(fd);
    open_box(&p, s);
    next(&p, "one");
    bz_postbox_close(&p);
}

static void the_record_stays_small(void **state)
{
    struct scratch *s = *state;
    struct bz_postbox_line *lines[2];
    struct bz_postbox p;
    struct stat st;

    open_box((add(s, "begin\n"), &p), s);
    next(&p, "begin"); /* never answered */
    for (int i = 0; i < 20000; i += 2) {
        add(s, "a line\nanother\n");
        lines[0] = next(&p, "a line");
        lines[1] = next(&p, "another");
        answer(&p, lines[1]);
        answer(&p, lines[0]);
    }
    assert_int_equal(fstatat(s->fd, "answered-1", &st, 0), 0);
    assert_true(st.st_size < 70000);
    bz_postbox_close(&p);
    open_box(&p, s);
    next(&p, "begin");
    next(&p, NULL);
    bz_postbox_close(&p);
}

static void a_file_that_is_cut_off_begins_again(void **state)
{
    struct scratch *s = *state;
    struct bz_postbox_line *old;
    struct bz_postbox p;
    char path[300];

    snprintf(path, sizeof(path), "%s/mailbox-1.json", s->path);
    add(s, "one\ntwo\nthr");
    open_box(&p, s);
    old = next(&p, "one");
    answer(&p, next(&p, "two"));
    next(&p, NULL);
    assert_int_equal(truncate(path, 0), 0);
    next(&p, NULL);
    add(s, "new\n");
    answer(&p, next(&p, "new"));
    answer(&p, old); /* of a file that is no more */
    /* Cut off and filled again, with more than there was. */
    assert_int_equal(truncate(path, 0), 0);
    add(s, "something else\nand more\n");
    next(&p, "something else");
    bz_postbox_close(&p);
    /* While nobody looked. */
    assert_int_equal(truncate(path, 0), 0);
    add(s, "x\n");
    open_box(&p, s);
    next(&p, "x");
    bz_postbox_close(&p);
}

static void a_file_without_its_name_is_read_to_its_end(void **state)
{
    struct scratch *s = *state;
    struct bz_postbox p;

    add(s, "one\ntwo\n");
    open_box(&p, s);
    next(&p, "one");
    assert_false(bz_postbox_is_left(&p));
    assert_int_equal(renameat(s->fd, "mailbox-1.json", s->fd, "old"), 0);
    assert_true(bz_postbox_is_left(&p));
    add(s, "new\n");
    assert_true(bz_postbox_is_left(&p));
    next(&p, "two");
    next(&p, NULL);
    bz_postbox_close(&p);
    open_box(&p, s); /* and its record is not the new one's */
    next(&p, "new");
    bz_postbox_forget(&p);
    bz_postbox_close(&p);
    assert_false(bz_fs_exists(s->fd, "answered-1"));
}

static void lines_that_are_too_long_are_passed_over(void **state)
{
    struct scratch *s = *state;
    const struct bz_postbox_line *l;
    struct bz_postbox p;
    struct bz_str text = BZ_STR("");
    char path[300];

    add(s, "one\n");
    snprintf(path, sizeof(path), "%s/mailbox-1.json", s->path);
    assert_int_equal(truncate(path, (off_t)BZ_REQUEST_MAX + 10), 0); /* zeros */
    open_box(&p, s);
    next(&p, "one");
    next(&p, NULL);
    add(s, "zzz\nlast\n");
    assert_int_equal(bz_postbox_peek(&p, &text, &err), 1);
    assert_null(text.p);
    l = bz_postbox_take(&p);
    assert_int_equal(l->start, 4);
    assert_int_equal(l->end, BZ_REQUEST_MAX + 14);
    next(&p, "last");
    next(&p, NULL);
    assert_int_equal(p.in.cap, 0);
    bz_postbox_close(&p);
}

static void only_regular_files_of_ours_are_read(void **state)
{
    struct scratch *s = *state;
    struct bz_postbox p;

    assert_int_equal(bz_postbox_open(&p, s->fd, s->fd, 1, &err), BZ_E_NOENT);
    assert_int_equal(mkfifoat(s->fd, "mailbox-1.json", 0600), 0);
    assert_int_equal(bz_postbox_open(&p, s->fd, s->fd, 1, &err), BZ_E_INVAL);
    assert_int_equal(unlinkat(s->fd, "mailbox-1.json", 0), 0);
    add(s, "one\n");
    assert_int_equal(renameat(s->fd, "mailbox-1.json", s->fd, "real"), 0);
    assert_int_equal(symlinkat("real", s->fd, "mailbox-1.json"), 0);
    assert_int_equal(bz_postbox_open(&p, s->fd, s->fd, 1, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "mailbox-1.json is a symbolic link");
    assert_int_equal(unlinkat(s->fd, "mailbox-1.json", 0), 0);
    assert_int_equal(mkdirat(s->fd, "mailbox-1.json", 0700), 0);
    assert_int_equal(bz_postbox_open(&p, s->fd, s->fd, 1, &err), BZ_E_INVAL);
    if (geteuid() != 0)
        return; /* only root can make another's file */
    assert_int_equal(unlinkat(s->fd, "mailbox-1.json", AT_REMOVEDIR), 0);
    add(s, "one\n");
    assert_int_equal(fchownat(s->fd, "mailbox-1.json", 12345, (gid_t)-1, 0), 0);
    assert_int_equal(bz_postbox_open(&p, s->fd, s->fd, 1, &err), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(a_line_counts_when_it_has_an_end),
        TEST(answered_lines_do_not_come_again),
        TEST(a_record_that_is_cut_says_what_it_can),
        TEST(the_record_stays_small),
        TEST(a_file_that_is_cut_off_begins_again),
        TEST(a_file_without_its_name_is_read_to_its_end),
        TEST(lines_that_are_too_long_are_passed_over),
        TEST(only_regular_files_of_ours_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
