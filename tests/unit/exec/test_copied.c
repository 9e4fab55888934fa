#include "exec/copied.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "base/buf.h"
#include "tests/unit/os/scratch.h"

struct tree {
    struct scratch *s;
    struct bz_copied c;
    char root[300], upper[300], low[300], top[300];
};

static void sh(const struct tree *t, const char *script)
{
    char line[2000];

    snprintf(line, sizeof(line), "cd %s && set -e; %s", t->s->path, script);
    if (system(line) != 0)
        fail_msg("%s", script);
}

static int setup(void **state)
{
    struct tree *t = calloc(1, sizeof(*t));
    void *s;

    if (scratch_setup(&s) < 0)
        return -1;
    *state = t;
    t->s = s;
    snprintf(t->root, sizeof(t->root), "%s/root", t->s->path);
    snprintf(t->upper, sizeof(t->upper), "%s/upper", t->s->path);
    snprintf(t->top, sizeof(t->top), "%s/0", t->s->path);
    snprintf(t->low, sizeof(t->low), "%s/1", t->s->path);
    sh(t, "mkdir -m 755 upper 0 1");
    return 0;
}

static int teardown(void **state)
{
    struct tree *t = *state;
    void *s = t->s;

    bz_copied_release(&t->c);
    free(t);
    return scratch_teardown(&s);
}

static void make(struct tree *t, const char *expect)
{
    const char *layers[] = {t->top, t->low};
    struct bz_err err;

    assert_ok(
        bz_copied_make(&t->c, t->root, layers, 2, bz_str_from(expect), t->upper, &err),
        &err);
}

/* Lets the "task" change the tree, and compares what is in upper with a listing. */
static void work(struct tree *t, const char *script, const char *want)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf line = {0};
    struct bz_err err;

    bz_buf_addf(&line, "cd root; %s", script);
    sh(t, bz_buf_text(&line));
    assert_ok(bz_copied_capture(&t->c, t->upper, &err), &err);
    put(t->s->fd, "want", want);
    sh(t, "(cd upper; find . -mindepth 1 -printf '%y %m %P %l\\n' 2>/dev/null | sed "
          "'s/ $//' | "
          "LC_ALL=C sort -k3) >got; diff want got");
}

static bool is_opaque(const struct tree *t, const char *path)
{
    char full[400], value[4];

    snprintf(full, sizeof(full), "%s/%s", t->upper, path);
    return getxattr(full, "user.overlay.opaque", value, sizeof(value)) == 1;
}

static void nothing_done_is_nothing_captured(void **state)
{
    struct tree *t = *state;

    sh(t, "mkdir -p 0/d 1/e; echo x >0/d/f; chmod 500 1/e");
    make(t, "w/temp");
    work(t, "test -d w/temp; cat d/f >/dev/null; ls -l e", "");
}

static void what_is_new_or_changed_is_there_with_its_directories(void **state)
{
    struct tree *t = *state;

    sh(t,
       "mkdir -p 0/d/e 1/d/g; echo x >0/d/e/f; echo same >0/d/e/same; echo x >1/d/g/m; "
       "chmod 711 0/d/e; echo x >1/t; echo x >1/h; ln -s a 1/l");
    make(t, "");
    work(t,
         "printf y | dd of=d/e/f conv=notrunc 2>/dev/null; chmod 600 d/g/m; mkdir -p "
         "n/o; "
         "echo x >n/o/p; ln -sf b l; ln h h2; touch -d @5 t; chmod 500 n/o",
         "d 755 d\nd 711 d/e\nf 644 d/e/f\nd 755 d/g\nf 600 d/g/m\nf 644 h\nf 644 h2\n"
         "l 777 l b\nd 755 n\nd 500 n/o\nf 644 n/o/p\nf 644 t\n");
    sh(t, "test \"$(cat upper/d/e/f)\" = y; test \"$(cat 0/d/e/f)\" = x; "
          "test \"$(cat 1/h)\" = x; chmod -R u+rwx upper");
    assert_false(is_opaque(t, "d"));
}

static void an_edit_in_the_same_moment_is_seen(void **state)
{
    struct tree *t = *state;
    int fd;

    sh(t, "echo x >0/f");
    make(t, "");
    fd = openat(t->s->fd, "root/f", O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "y", 1, 0), 1);
    close(fd);
    work(t, "true", "f 644 f\n");
}

static void what_is_gone_becomes_a_whiteout(void **state)
{
    struct tree *t = *state;
    struct stat st;

    sh(t, "mkdir -p 0/d/e 1/d/e 1/x/y; echo x >1/d/e/f; echo x >1/d/keep; echo x "
          ">1/x/y/z");
    make(t, "");
    work(t, "rm -r d/e x", "d 755 d\nc 0 d/e\nc 0 x\n");
    assert_int_equal(fstatat(t->s->fd, "upper/d/e", &st, 0), 0);
    assert_true(S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0));
}

static void a_directory_in_place_of_another_is_opaque(void **state)
{
    struct tree *t = *state;

    sh(t, "mkdir -p 0/d/e/g 1/f 1/k; echo x >0/d/e/old; echo x >1/was; echo x >1/f/x");
    make(t, "");
    work(t,
         "rm -r d; mkdir -p d/e; echo x >d/e/new; rm was; mkdir was; rm -r f; echo x "
         ">f; "
         "mv k k2",
         "d 755 d\nd 755 d/e\nf 644 d/e/new\nf 644 f\nc 0 k\nd 755 k2\nd 755 was\n");
    assert_true(is_opaque(t, "d"));
    assert_true(is_opaque(t, "was"));
    assert_false(is_opaque(t, "d/e"));
    assert_false(is_opaque(t, "k2"));
}

static void what_was_made_for_the_task_is_its_work(void **state)
{
    struct tree *t = *state;

    sh(t, "mkdir -p 1/d; echo low >1/d/f; echo low >1/d/g; echo low >1/d/h; "
          "mkdir -p upper/d/new upper/d/h; echo up >upper/d/f; echo up >upper/d/new/a; "
          "echo up >upper/d/b; echo up >upper/d/g");
    make(t, "");
    sh(t, "test -z \"$(ls -A upper)\"; test \"$(cat root/d/f)\" = up");
    work(t, "rm d/b d/g",
         "d 755 d\nf 644 d/f\nc 0 d/g\nd 755 d/h\nd 755 d/new\n"
         "f 644 d/new/a\n");
    assert_true(is_opaque(t, "d/h"));
}

/* An upper layer in which something was deleted: what is laid on it is seen alone. */
static void what_is_laid_on_a_whiteout_hides_what_is_below(void **state)
{
    struct tree *t = *state;
    struct bz_err err;
    char gone[400];

    sh(t,
       "mkdir -p upper/d/kept 0/d/gone 0/d/kept 0/new; echo up >upper/d/kept/a; "
       "echo up >upper/d/b; echo on >0/d/gone/x; echo on >0/d/kept/c; echo on >0/d/b; "
       "echo on >0/d/f; chmod 500 0/new");
    snprintf(gone, sizeof(gone), "%s/d/gone", t->upper);
    assert_int_equal(mknod(gone, S_IFCHR, makedev(0, 0)), 0);
    snprintf(gone, sizeof(gone), "%s/d/f", t->upper);
    assert_int_equal(mknod(gone, S_IFCHR, makedev(0, 0)), 0);
    assert_ok(bz_copied_lay(t->top, t->upper, &err), &err);
    sh(t, "cd upper; test \"$(cat d/gone/x d/kept/a d/kept/c d/b d/f)\" = "
          "\"$(printf 'on\\nup\\non\\non\\non')\"; test \"$(stat -c %a new)\" = 500; "
          "test -z \"$(find ../0 -type f)\"");
    assert_true(is_opaque(t, "d/gone"));
    assert_false(is_opaque(t, "d/kept"));
    assert_false(is_opaque(t, "new"));
}

static void closed_directories_do_not_keep_us_out(void **state)
{
    struct tree *t = *state;

    sh(t, "mkdir -p 0/c; echo x >0/c/f; chmod 555 0/c");
    make(t, "");
    work(t,
         "chmod 755 c; echo y >c/g; chmod 555 c; mkdir -p p/q p/r; echo x >p/q/s; "
         "chmod 0 p/r; chmod 500 p/q p",
         "d 555 c\nf 644 c/g\nd 500 p\nd 500 p/q\nf 644 p/q/s\nd 0 p/r\n");
    sh(t, "chmod 755 upper/p upper/p/q");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(nothing_done_is_nothing_captured),
        TEST(what_is_new_or_changed_is_there_with_its_directories),
        TEST(an_edit_in_the_same_moment_is_seen),
        TEST(what_is_gone_becomes_a_whiteout),
        TEST(a_directory_in_place_of_another_is_opaque),
        TEST(what_was_made_for_the_task_is_its_work),
        TEST(what_is_laid_on_a_whiteout_hides_what_is_below),
        TEST(closed_directories_do_not_keep_us_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
