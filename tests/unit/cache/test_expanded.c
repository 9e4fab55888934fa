#include "cache/expanded.h"

#include <sys/wait.h>

#include "os/clock.h"
#include "tests/unit/cache/store.h"

#define HEX "00000000000000000000000000000000000000000000000000000000000000ab"
#define LONG_AGO (INT64_C(1000000000) * BZ_CLOCK_S)

static const struct timespec long_ago[2] = {
    {1000000000, 0},
    {1000000000, 0}
};

static void make_dir(struct store *s, const char *name, bool old)
{
    char path[256], file[300];
    int fd;

    snprintf(path, sizeof(path), "s/%s", name);
    snprintf(file, sizeof(file), "%s/file", path);
    assert_ok(bz_fs_mkdirs(s->dir, path, 0755, &s->err), &s->err);
    fd = openat(s->dir, file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file, sizeof(file)), sizeof(file));
    close(fd);
    if (old)
        assert_int_equal(utimensat(s->dir, path, long_ago, 0), 0);
}

static bool there(struct store *s, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "s/%s", name);
    return bz_fs_exists(s->dir, path);
}

static int64_t now_of(struct store *s)
{
    int64_t now;

    assert_ok(bz_shelf_clock(&s->cas->root, &now, &s->err), &s->err);
    return now;
}

/* Removes all that may go, and returns how many that were. */
static size_t remove_all(struct store *s, int64_t now, int64_t limit, bool dry)
{
    struct bz_expanded x;
    size_t n = 0;

    bz_expanded_take(&s->cas->root, now, &x);
    for (size_t i = 0; i < x.items.len; i++)
        n += bz_expanded_doom(&x, &x.items.at[i], limit);
    for (size_t i = 0; i < x.items.len && !dry; i++)
        assert_int_equal(bz_expanded_remove(&s->cas->root, &x, &x.items.at[i], limit),
                         x.items.at[i].doomed);
    bz_expanded_release(&x);
    return n;
}

static void what_there_is_is_told_the_longest_unused_first(void **state)
{
    struct store *s = *state;
    struct bz_expanded x;

    bz_expanded_take(&s->cas->root, now_of(s), &x);
    assert_int_equal(x.items.len, 0);
    bz_expanded_release(&x);
    make_dir(s, "trees/merged-" HEX, false);
    make_dir(s, "trees/" HEX, true);
    assert_int_equal(linkat(s->dir, "s/trees/" HEX "/file", s->dir, "s/other", 0), 0);
    bz_expanded_take(&s->cas->root, now_of(s), &x);
    assert_int_equal(x.items.len, 2);
    assert_int_equal(x.items.at[0].kind, BZ_EXPANDED_TREE);
    assert_int_equal(x.items.at[0].tree.b[31], 0xab);
    assert_int_equal(x.items.at[0].used, LONG_AGO);
    assert_string_equal(x.items.at[1].name, "trees/merged-" HEX);
    assert_int_equal(x.items.at[1].kind, BZ_EXPANDED_MERGED);
    /* What has another name is not its own. */
    assert_true(x.items.at[0].bytes < x.items.at[1].bytes);
    assert_int_equal(x.bytes, x.items.at[0].bytes + x.items.at[1].bytes);
    assert_int_equal(x.links.len, 1);
    assert_int_equal(bz_expanded_names(&x, x.links.at[0].inode), 0);
    assert_true(bz_expanded_doom(&x, &x.items.at[0], LONG_AGO + 1));
    assert_int_equal(bz_expanded_names(&x, x.links.at[0].inode), 1);
    assert_int_equal(bz_expanded_names(&x, x.links.at[0].inode + 1), 0);
    bz_expanded_release(&x);
}

static void what_was_used_since_the_limit_stays(void **state)
{
    struct store *s = *state;
    int64_t now = now_of(s), limit = now - BZ_CLOCK_S;

    make_dir(s, "trees/" HEX, true);
    make_dir(s, "trees/merged-" HEX, false);
    make_dir(s, "trees/.new-1-1", true); /* its change time counts, too */
    make_dir(s, "trees/.old-" HEX, true);
    assert_int_equal(remove_all(s, now, limit, true), 2);
    assert_true(there(s, "trees/" HEX));
    assert_int_equal(remove_all(s, now, limit, false), 2);
    assert_false(there(s, "trees/" HEX) || there(s, "trees/.old-" HEX));
    assert_true(there(s, "trees/merged-" HEX) && there(s, "trees/.new-1-1"));
    assert_int_equal(remove_all(s, now, now + 60 * BZ_CLOCK_S, false), 2);
    assert_false(there(s, "trees/merged-" HEX) || there(s, "trees/.new-1-1"));
}

static void what_a_killed_collector_left_is_not_in_the_way(void **state)
{
    struct store *s = *state;
    struct bz_expanded x;

    make_dir(s, "trees/" HEX, true);
    bz_expanded_take(&s->cas->root, now_of(s), &x);
    make_dir(s, "trees/.old-" HEX, false); /* by another one, meanwhile */
    assert_true(bz_expanded_doom(&x, &x.items.at[0], LONG_AGO + 1));
    assert_true(bz_expanded_remove(&s->cas->root, &x, &x.items.at[0], LONG_AGO + 1));
    assert_int_equal(x.bytes, 0);
    assert_false(there(s, "trees/" HEX) || there(s, "trees/.old-" HEX));
    bz_expanded_release(&x);
}

static void a_claim_keeps_a_tree(void **state)
{
    struct store *s = *state;
    struct bz_expanded x;
    char path[400];
    int64_t limit;

    snprintf(path, sizeof(path), "%s/trees/" HEX, s->root);
    assert_false(bz_expanded_claim(&s->cas->root, path));
    make_dir(s, "trees/" HEX, true);
    limit = now_of(s) - BZ_CLOCK_S;
    bz_expanded_take(&s->cas->root, now_of(s), &x);
    assert_true(bz_expanded_doom(&x, &x.items.at[0], limit));
    assert_true(bz_expanded_claim(&s->cas->root, path)); /* after one has looked */
    assert_false(bz_expanded_remove(&s->cas->root, &x, &x.items.at[0], limit));
    assert_true(x.bytes > 0);
    assert_true(there(s, "trees/" HEX "/file"));
    bz_expanded_release(&x);
}

static void a_use_is_noted_once_an_hour(void **state)
{
    struct store *s = *state;
    struct stat before, after;
    char path[400];

    snprintf(path, sizeof(path), "%s/trees/" HEX, s->root);
    make_dir(s, "trees/" HEX, false);
    assert_int_equal(stat(path, &before), 0);
    usleep(20000);
    assert_true(bz_expanded_claim(&s->cas->root, path));
    assert_int_equal(stat(path, &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
    s->cas->root.touch = 0;
    assert_true(bz_expanded_claim(&s->cas->root, path));
    assert_int_equal(stat(path, &after), 0);
    assert_memory_not_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
}

static void a_tree_remembers_that_it_was_checked_in_this_boot(void **state)
{
    struct store *s = *state;
    struct bz_shelf_root other = s->cas->root;
    char path[400];

    snprintf(path, sizeof(path), "%s/trees/" HEX, s->root);
    make_dir(s, "trees/" HEX, false);
    assert_false(bz_expanded_checked(&s->cas->root, path));
    bz_expanded_note_checked(&s->cas->root, path);
    if (!bz_expanded_checked(&s->cas->root, path))
        skip(); /* this file system keeps no attributes */
    other.self.name[0] = other.self.name[0] == 'a' ? 'b' : 'a';
    assert_false(bz_expanded_checked(&other, path));
    snprintf(other.self.name, sizeof(other.self.name), "12.34"); /* it is not known */
    bz_expanded_note_checked(&other, path);
    assert_false(bz_expanded_checked(&other, path));
    assert_true(bz_expanded_checked(&s->cas->root, path));
}

static void what_makes_way_is_left_to_collectors(void **state)
{
    struct store *s = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_expanded x;
    const char *one, *two;
    char path[400];

    snprintf(path, sizeof(path), "%s/trees/" HEX, s->root);
    for (int i = 0; i < 2; i++) {
        make_dir(s, "trees/" HEX, true);
        assert_ok(
            bz_expanded_discard(&s->cas->root, path, &a, i ? &two : &one, &s->err),
            &s->err);
        assert_false(there(s, "trees/" HEX));
    }
    assert_ok(bz_expanded_discard(&s->cas->root, path, &a, &two, &s->err), &s->err);
    assert_string_not_equal(one, two);
    bz_expanded_take(&s->cas->root, now_of(s), &x);
    assert_int_equal(x.items.len, 2);
    assert_int_equal(x.items.at[0].kind, BZ_EXPANDED_LEFT);
    bz_expanded_release(&x);
    assert_int_equal(remove_all(s, now_of(s), LONG_AGO + 1, false), 2);
}

/* A process that is not there, one that runs, and one that nobody here can judge. */
static void the_work_of_dead_builds_goes(void **state)
{
    struct store *s = *state;
    int64_t now = now_of(s);
    char dead[BZ_ALIVE_MAX + 32], ours[BZ_ALIVE_MAX + 32];
    pid_t pid = fork();

    if (pid == 0) {
        struct bz_alive self;

        bz_alive_self(&self);
        snprintf(dead, sizeof(dead), "work/%s", self.name);
        make_dir(s, dead, false);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    snprintf(ours, sizeof(ours), "work/%s", s->cas->root.self.name);
    make_dir(s, ours, true);
    make_dir(s, "work/elsewhere", true);
    assert_int_equal(remove_all(s, now, 0, false), 1);
    assert_true(there(s, ours) && there(s, "work/elsewhere"));
    now += INT64_C(2) * 86400 * BZ_CLOCK_S;
    assert_int_equal(remove_all(s, now, 0, false), 1);
    assert_true(there(s, ours));
    assert_false(there(s, "work/elsewhere"));
}

static void what_failed_tasks_left_is_told_and_goes(void **state)
{
    struct store *s = *state;
    int64_t now = now_of(s), limit = now - BZ_CLOCK_S;
    struct bz_expanded x;

    make_dir(s, "failed/a:do_x", true);
    make_dir(s, "failed/b:do_x", false);
    make_dir(s, "failed/.old-c:do_x", true);
    bz_expanded_take(&s->cas->root, now, &x);
    assert_int_equal(x.items.len, 3);
    assert_int_equal(x.items.at[2].kind, BZ_EXPANDED_FAILED);
    assert_string_equal(x.items.at[2].name, "failed/b:do_x");
    bz_expanded_release(&x);
    assert_int_equal(remove_all(s, now, limit, false), 2);
    assert_false(there(s, "failed/a:do_x") || there(s, "failed/.old-a:do_x") ||
                 there(s, "failed/.old-c:do_x"));
    assert_true(there(s, "failed/b:do_x/file"));
}

static void what_tasks_wrote_is_closed_to_others(void **state)
{
    struct store *s = *state;
    char path[320];
    struct stat st;

    snprintf(path, sizeof(path), "%s/trees", s->root);
    for (int i = 0; i < 2; i++) {
        assert_ok(bz_expanded_close_off(path, &s->err), &s->err);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        assert_int_equal(chmod(path, 0755), 0);
    }
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_ok(bz_expanded_close_off(path, &s->err), &s->err);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(seteuid(65534), 0);
    assert_int_equal(bz_expanded_close_off("/", &s->err), BZ_E_IO);
    assert_non_null(strstr(s->err.msg, "belongs to another user"));
    assert_int_equal(seteuid(0), 0);
}

static void what_is_shown_to_users_goes_too(void **state)
{
    struct store *s = *state;
    int64_t now = now_of(s);

    make_dir(s, "out/" HEX, true);
    make_dir(s, "out/merged-" HEX, false);
    assert_int_equal(remove_all(s, now, LONG_AGO + 1, false), 1);
    assert_false(there(s, "out/" HEX));
    assert_true(there(s, "out/merged-" HEX));
    assert_true(bz_expanded_estimate(&s->cas->root) > 0);
}

#define store_test(f) cmocka_unit_test_setup_teardown(f, store_setup, store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(what_there_is_is_told_the_longest_unused_first),
        store_test(what_was_used_since_the_limit_stays),
        store_test(what_a_killed_collector_left_is_not_in_the_way),
        store_test(a_claim_keeps_a_tree),
        store_test(a_use_is_noted_once_an_hour),
        store_test(a_tree_remembers_that_it_was_checked_in_this_boot),
        store_test(what_makes_way_is_left_to_collectors),
        store_test(the_work_of_dead_builds_goes),
        store_test(what_failed_tasks_left_is_told_and_goes),
        store_test(what_tasks_wrote_is_closed_to_others),
        store_test(what_is_shown_to_users_goes_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
