#include "os/fs_remove.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "os/proc_run.h"
#include "tests/unit/os/scratch.h"

static void whatever_has_the_name_is_gone(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    static const char *const paths[] = {"file", "dir",  "tree",   "link",
                                        "dang", "fifo", "slash/", "absent"};

    put(s->fd, "file", "x");
    make_dirs(s->fd, "dir");
    make_dirs(s->fd, "tree/a/b/c");
    make_dirs(s->fd, "slash/x");
    put(s->fd, "tree/a/f", "x");
    put(s->fd, "tree/.hidden", "x");
    make_dirs(s->fd, "kept/inside");
    assert_int_equal(symlinkat("kept", s->fd, "link"), 0);
    assert_int_equal(symlinkat("nowhere", s->fd, "dang"), 0);
    assert_int_equal(mkfifoat(s->fd, "fifo", 0600), 0);
    for (size_t i = 0; i < BZ_COUNTOF(paths); i++) {
        assert_ok(bz_fs_remove(s->fd, paths[i], &err), &err);
        assert_false(bz_fs_exists(s->fd, paths[i]));
    }
    assert_true(bz_fs_exists(s->fd, "kept/inside"));
    assert_int_equal(count_names(s->path), 1);
}

static void names_that_are_none_are_refused(void **state)
{
    static const char *const paths[] = {"",   "/",    "//",  ".",
                                        "..", "a/..", "a/.", "a/./"};
    struct scratch *s = *state;

    make_dirs(s->fd, "a");
    put(s->fd, "a/f", "");
    for (size_t i = 0; i < BZ_COUNTOF(paths); i++) {
        struct bz_err err;

        assert_int_equal(bz_fs_remove(s->fd, paths[i], &err), BZ_E_INVAL);
    }
    assert_true(bz_fs_exists(s->fd, "a/f"));
}

static void links_are_removed_and_not_followed(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;

    make_dirs(s->fd, "precious/sub");
    put(s->fd, "precious/f", "x");
    make_dirs(s->fd, "tree/d");
    assert_int_equal(symlinkat("../precious", s->fd, "tree/up"), 0);
    assert_int_equal(symlinkat(s->path, s->fd, "tree/d/abs"), 0);
    assert_int_equal(symlinkat("precious", s->fd, "link"), 0);
    assert_ok(bz_fs_remove(s->fd, "tree", &err), &err);
    assert_ok(bz_fs_remove(s->fd, "link/", &err), &err);
    assert_false(bz_fs_exists(s->fd, "link"));
    assert_true(bz_fs_exists(s->fd, "precious/f"));
    assert_true(bz_fs_exists(s->fd, "precious/sub"));
}

static void shut_directories_are_opened_first(void **state)
{
    static const mode_t modes[] = {0000, 0555, 0300, 0444, 0111};
    struct scratch *s = *state;
    struct bz_err err;

    for (size_t i = 0; i < BZ_COUNTOF(modes); i++) {
        make_dirs(s->fd, "top/mid/low");
        put(s->fd, "top/mid/low/f", "x");
        assert_int_equal(fchmodat(s->fd, "top/mid/low", modes[i], 0), 0);
        assert_int_equal(fchmodat(s->fd, "top/mid", modes[i], 0), 0);
        assert_int_equal(fchmodat(s->fd, "top", modes[i], 0), 0);
        assert_ok(bz_fs_remove(s->fd, "top", &err), &err);
        assert_false(bz_fs_exists(s->fd, "top"));
    }
}

/* A chain of directories whose path no call could take as a whole. */
static void a_tree_of_any_depth_is_removed(void **state)
{
    enum { DEPTH = 4 * BZ_FS_REMOVE_DEPTH };
    struct scratch *s = *state;
    size_t before = count_fds();
    char name[101];
    struct bz_err err;
    int at;

    memset(name, 'd', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    make_dirs(s->fd, "top");
    at = openat(s->fd, "top", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < DEPTH; i++) {
        int next;

        assert_int_equal(mkdirat(at, name, 0755), 0);
        next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        if (i % 50 == 0)
            assert_int_equal(fchmod(at, 0500), 0);
        close(at);
        at = next;
    }
    close(at);
    assert_ok(bz_fs_remove(s->fd, "top", &err), &err);
    assert_int_equal(count_names(s->path), 0);
    assert_int_equal(count_fds(), before);
}

static void many_entries_are_all_removed(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    char name[32];

    make_dirs(s->fd, "top");
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "top/%d", i);
        put(s->fd, name, "");
    }
    assert_ok(bz_fs_remove(s->fd, "top", &err), &err);
    assert_false(bz_fs_exists(s->fd, "top"));
}

struct vandal {
    int dir;
    atomic_bool stop;
};

/* Keeps making files, directories and links in the tree while it is removed. */
static void *disturb(void *arg)
{
    struct vandal *v = arg;

    for (unsigned i = 0; !atomic_load(&v->stop); i++) {
        char name[32];

        snprintf(name, sizeof(name), "top/x%u", i % 7);
        if (i % 3 == 0)
            mkdirat(v->dir, name, 0755);
        else if (i % 3 == 1)
            unlinkat(v->dir, name, i % 2 ? AT_REMOVEDIR : 0);
        else if (symlinkat("../precious", v->dir, name) < 0)
            sched_yield();
    }
    return NULL;
}

static void others_may_change_the_tree_meanwhile(void **state)
{
    struct scratch *s = *state;
    struct vandal v = {.dir = s->fd};
    struct bz_err err;
    pthread_t thread;
    int failed = 0;

    make_dirs(s->fd, "precious");
    put(s->fd, "precious/f", "x");
    assert_int_equal(pthread_create(&thread, NULL, disturb, &v), 0);
    for (int i = 0; i < 100; i++) {
        make_dirs(s->fd, "top/a/b");
        put(s->fd, "top/a/f", "x");
        if (bz_fs_remove(s->fd, "top", &err) < 0)
            failed++;
    }
    atomic_store(&v.stop, true);
    pthread_join(thread, NULL);
    if (failed)
        fail_msg("%d removals failed, the last one: %s", failed, err.msg);
    assert_true(bz_fs_exists(s->fd, "precious/f"));
}

/* What the program does when it is run again in a mount namespace of its own. Its exit
 * code is 0 when the removal refused the mount and spared the files behind it. */
#define NO_MOUNTS 77

static int remove_tree_with_mount(const char *top)
{
    char source[300], point[300];
    struct bz_err err;
    int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    snprintf(source, sizeof(source), "%s/precious", top);
    snprintf(point, sizeof(point), "%s/tree/d/mount", top);
    if (mount(source, point, NULL, MS_BIND, NULL) < 0)
        return NO_MOUNTS;
    if (bz_fs_remove(dir, "tree", &err) == 0 || !strstr(err.msg, "tree/d/mount"))
        return 2;
    if (!bz_fs_exists(dir, "precious/f") || bz_fs_exists(dir, "tree/other"))
        return 3;
    return 0;
}

static void a_mount_in_the_tree_is_not_entered(void **state)
{
    const char *must = getenv("BITZEL_MUST_WORK");
    struct scratch *s = *state;
    char self[4096] = "";
    struct bz_proc_spec spec = {
        .argv = (const char *const[]){"unshare", "-rm", self, s->path, NULL},
    };
    struct bz_proc_result r;
    struct bz_err err;
    int code;

    make_dirs(s->fd, "precious");
    put(s->fd, "precious/f", "x");
    make_dirs(s->fd, "tree/d/mount");
    put(s->fd, "tree/other", "x");
    /* Another program, not a fork: the sanitizer's thread would be in the way. */
    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    assert_ok(bz_proc_run(&spec, &r, &err), &err);
    code = r.exit_code;
    bz_proc_pump_release_result(&r);
    /* 1 is unshare's own failure. */
    if ((code == NO_MOUNTS || code == 1) && !(must && strcmp(must, "1") == 0)) {
        print_message("skipped: no user and mount namespaces here\n");
        skip();
    }
    assert_int_equal(code, 0);
}

static void one_stubborn_entry_does_not_protect_the_others(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;

    /* Somebody else's directory, full and shut: only root can make that. */
    if (geteuid() != 0) {
        print_message("not checked: only root can make what is needed\n");
        return;
    }
    make_dirs(s->fd, "tree/theirs");
    make_dirs(s->fd, "tree/z");
    put(s->fd, "tree/a", "x");
    put(s->fd, "tree/theirs/f", "x");
    assert_int_equal(fchownat(s->fd, "tree", 65534, 65534, 0), 0);
    assert_int_equal(fchmodat(s->fd, ".", 0777, 0), 0);
    assert_int_equal(fchmodat(s->fd, "tree/theirs", 0755, 0), 0);
    {
        int status;
        pid_t pid = fork();

        if (pid == 0) {
            if (setresuid(65534, 65534, 65534) < 0)
                _exit(3);
            _exit(bz_fs_remove(s->fd, "tree", &err) == BZ_E_IO &&
                          strstr(err.msg, "tree/theirs/f")
                      ? 0
                      : 1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    assert_true(bz_fs_exists(s->fd, "tree/theirs/f"));
    assert_false(bz_fs_exists(s->fd, "tree/a"));
    assert_false(bz_fs_exists(s->fd, "tree/z"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        scratch_test(whatever_has_the_name_is_gone),
        scratch_test(names_that_are_none_are_refused),
        scratch_test(links_are_removed_and_not_followed),
        scratch_test(shut_directories_are_opened_first),
        scratch_test(a_tree_of_any_depth_is_removed),
        scratch_test(many_entries_are_all_removed),
        scratch_test(others_may_change_the_tree_meanwhile),
        scratch_test(a_mount_in_the_tree_is_not_entered),
        scratch_test(one_stubborn_entry_does_not_protect_the_others),
    };

    if (argc == 2)
        return remove_tree_with_mount(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
