#include "sandbox/stage.h"

#include "sandbox/spawn.h"
#include "sandbox/userns.h"
#include "tests/unit/os/scratch.h"
#include "tests/unit/sandbox/room.h"

static int setup(void **state)
{
    struct room *r = calloc(1, sizeof(*r));

    *state = r;
    room_open(r);
    bz_host_add(&r->spec);
    room_add(r, BZ_SPEC_TEXT, "/run/task", "first");
    return 0;
}

static int teardown(void **state)
{
    room_close(*state);
    free(*state);
    return 0;
}

/* The same spec again, with another text for the last entry. */
static void next_text(struct room *r, const char *text)
{
    r->spec.entries.len--;
    room_add(r, BZ_SPEC_TEXT, "/run/task", text);
}

static void what_is_a_sandboxs_own_changes_and_the_rest_stays(void **state)
{
    struct room *r = *state;
    size_t fds;

    for (int i = 0; i < 3; i++)
        assert_script(r, "cat /run/task; echo x >/dev/shm/x; chmod 600 /dev/pts/ptmx",
                      "first");
    fds = count_fds();
    for (int i = 0; i < 3; i++) {
        next_text(r, i % 2 ? "odd" : "even");
        assert_script(r,
                      "cat /run/task; ls /dev/shm; stat -c %a /dev/pts/ptmx; "
                      "test -x /usr/bin/env && echo $$",
                      i % 2 ? "odd666\n2\n" : "even666\n2\n");
    }
    assert_int_equal(count_fds(), fds);
}

static void nobody_inside_can_write_to_what_the_next_will_see(void **state)
{
    struct room *r = *state;

    for (int i = 0; i < 4; i++)
        assert_script(r,
                      "for f in /x /etc/passwd /run/task /run/x /usr/x /etc/x; do "
                      "(echo x >$f) 2>/dev/null && echo wrote $f; done; "
                      "rm -f /run/task 2>/dev/null; cat /run/task",
                      "first");
}

static void another_spec_gets_another_stage(void **state)
{
    struct room *r = *state;

    assert_script(r, "test ! -e /seen && cat /run/task", "first");
    for (int i = 0; i < 3; i++) {
        room_add(r, BZ_SPEC_SHOW, "/seen", r->dir);
        for (int k = 0; k < 3; k++)
            assert_script(r, "ls /seen", "anchor\n");
        r->spec.entries.len--;
        room_add(r, BZ_SPEC_WORK, "/work", r->dir);
        for (int k = 0; k < 3; k++)
            assert_script(r, "test ! -e /seen && ls /work", "anchor\n");
        r->spec.entries.len--;
        for (int k = 0; k < 3; k++)
            assert_script(r, "test ! -e /seen && test ! -e /work && cat /run/task",
                          "first");
    }
}

static void entries_below_what_changes_are_made_after_it(void **state)
{
    struct room *r = *state;

    room_add(r, BZ_SPEC_TMPFS, "/top", "1m");
    room_add(r, BZ_SPEC_FILE, "/top/file", "below\n");
    room_add(r, BZ_SPEC_FILE, "/topping", "beside\n");
    for (int i = 0; i < 4; i++)
        assert_script(r, "cat /top/file /topping; echo 1 >/top/x; ls /top",
                      "below\nbeside\nfile\nx\n");
}

static void what_cannot_be_mounted_is_told(void **state)
{
    struct room *r = *state;

    room_add(r, BZ_SPEC_SHOW, "/seen", "/nonexistent/dir");
    r->spec.argv.len = 0;
    bz_spec_arg(&r->spec, "/bin/true");
    for (int i = 0; i < 2; i++) {
        struct bz_proc_spec io = {0};
        struct bz_sandbox_child child;
        struct bz_err err;

        assert_int_equal(bz_sandbox_start(r->sb, &r->spec, &io, &child, &err),
                         BZ_E_NOENT);
        assert_non_null(strstr(err.msg, "set up /seen"));
    }
}

/* A directory in the room, made anew. */
static const char *fresh(struct room *r, const char *name, char path[128])
{
    struct bz_err err;

    room_path(r, name, path);
    assert_ok(bz_fs_remove(AT_FDCWD, path, &err), &err);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, path, 0755, &err), &err);
    return path;
}

/* The first without a stage, by the old way to mount, the others with one. */
static void layers_and_host_directories_are_the_same_with_a_stage(void **state)
{
    struct room *r = *state;
    char low[128], links[128], upper[128], work[128], seen[128], file[160];
    char want[64];
    struct bz_err err;

    snprintf(file, sizeof(file), "%s/f", fresh(r, "low", low));
    assert_ok(bz_fs_write(AT_FDCWD, file, "low\n", 4, 0644, BZ_FS_NOSYNC, &err), &err);
    snprintf(file, sizeof(file), "%s/0", fresh(r, "links", links));
    assert_int_equal(symlink(low, file), 0);
    room_add(r, BZ_SPEC_WORK, "/seen", fresh(r, "seen", seen));
    assert_ok(
        bz_spec_overlay(&r->spec, "/top",
                        &(struct bz_spec_layers){links, 1, fresh(r, "upper", upper),
                                                 fresh(r, "work", work)},
                        &err),
        &err);
    for (int i = 0; i < 4; i++) {
        snprintf(want, sizeof(want), "low\nf\nlow\nup\n%d\n", i + 1);
        assert_script(r,
                      "cat /top/f; ls /top; echo up >>/top/f; cat /top/f; "
                      "echo x >>/seen/x; wc -l </seen/x | tr -d ' '",
                      want);
        snprintf(file, sizeof(file), "%s/f", upper);
        assert_true(bz_fs_exists(AT_FDCWD, file));
        fresh(r, "upper", upper);
        fresh(r, "work", work);
    }
}

static void nothing_of_the_host_is_mounted_that_was_not_asked_for(void **state)
{
    struct room *r = *state;
    char first[sizeof(r->out)];

    assert_int_equal(room_run(r, "cut -d' ' -f5 /proc/self/mountinfo | sort; ls /.."),
                     0);
    snprintf(first, sizeof(first), "%s", r->out);
    for (int i = 0; i < 3; i++)
        assert_script(r, "cut -d' ' -f5 /proc/self/mountinfo | sort; ls /..", first);
}

static void what_needs_the_host_later_has_no_stage(void **state)
{
    struct room *r = *state;
    char many[300];
    bool fixed[100] = {false};
    struct bz_mount_plan plan = {&r->spec, fixed, "", "", false, "0:1", NULL};

    for (size_t i = 0; i < r->spec.entries.len; i++)
        fixed[i] = bz_spec_is_fixed(&r->spec, i);
    assert_true(bz_mount_can_base(&plan));
    memset(many, '1', sizeof(many));
    many[255] = '\0';
    plan.lower = many;
    assert_true(bz_mount_can_base(&plan));
    many[255] = '1';
    many[256] = '\0';
    assert_false(bz_mount_can_base(&plan));
    plan.lower = "";
    room_add(r, BZ_SPEC_TMPFS, "/top", "1m");
    room_add(r, BZ_SPEC_HOST, "/top/usr", "");
    assert_false(bz_mount_can_base(&plan));
    for (int i = 0; i < 3; i++)
        assert_script(r, "echo /top/*", "/top/*\n");
}

static void a_plan_fits_if_all_that_is_fixed_is_the_same(void **state)
{
    struct room *r = *state;
    struct bz_stage stage = {.mnt = -1, .host = -1};
    struct bz_userns ns;
    char anchor[128];
    bool fixed[100];
    struct bz_mount_plan plan = {&r->spec, fixed, anchor, "", false, "", NULL};
    struct bz_err err;
    uint64_t shape;
    void *stack;

    room_path(r, "anchor", anchor);
    for (size_t i = 0; i < r->spec.entries.len; i++)
        fixed[i] = bz_spec_is_fixed(&r->spec, i);
    shape = bz_stage_shape(&plan);
    assert_ok(bz_spawn_stack_new(&stack, &err), &err);
    assert_ok(bz_userns_make(&ns, &(struct bz_userns_opts){.id = 1000}, stack, &err),
              &err);
    assert_false(bz_stage_fits(&stage, &plan));
    assert_ok(bz_stage_make(&stage, &plan, ns.user, stack, &err), &err);
    assert_true(bz_stage_fits(&stage, &plan));
    next_text(r, "second");
    assert_true(bz_stage_fits(&stage, &plan));
    assert_true(bz_stage_shape(&plan) == shape);
    fixed[r->spec.entries.len] = true;
    room_add(r, BZ_SPEC_DIR, "/more", "");
    assert_false(bz_stage_fits(&stage, &plan));
    assert_true(bz_stage_shape(&plan) != shape);
    assert_int_equal(bz_stage_make(&stage, &plan, -1, stack, &err), BZ_E_IO);
    assert_false(bz_stage_fits(&stage, &plan));
    bz_stage_release(&stage);
    bz_userns_release(&ns);
    bz_spawn_stack_free(stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(what_is_a_sandboxs_own_changes_and_the_rest_stays),
        TEST(nobody_inside_can_write_to_what_the_next_will_see),
        TEST(another_spec_gets_another_stage),
        TEST(entries_below_what_changes_are_made_after_it),
        TEST(what_cannot_be_mounted_is_told),
        TEST(layers_and_host_directories_are_the_same_with_a_stage),
        TEST(nothing_of_the_host_is_mounted_that_was_not_asked_for),
        TEST(what_needs_the_host_later_has_no_stage),
        TEST(a_plan_fits_if_all_that_is_fixed_is_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
