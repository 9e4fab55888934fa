#include "sandbox/child.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "sandbox/image.h"
#include "sandbox/spawn.h"
#include "tests/unit/sandbox/room.h"

/* A bz_child by hand, with one thing wrong. */
struct bench {
    struct room room;
    struct bz_filter filter;
    struct bz_child child;
    bool fixed[100]; /* none */
    void *first;
    int ends[2];
};

static int setup(void **state)
{
    static const char *const argv[] = {"init", "/bin/true", NULL};
    static const char *const env[] = {NULL};
    struct bench *b = calloc(1, sizeof(*b));
    struct bz_err err;
    char anchor[128];

    *state = b;
    room_open(&b->room);
    room_path(&b->room, "anchor", anchor);
    bz_host_add(&b->room.spec);
    assert_ok(bz_filter_make(&b->filter, &err), &err);
    assert_ok(bz_spawn_stack_new(&b->first, &err), &err);
    assert_ok(bz_spawn_stack_new(&b->child.stack, &err), &err);
    assert_int_equal(pipe2(b->ends, O_CLOEXEC), 0);
    b->child.plan = (struct bz_mount_plan){
        &b->room.spec, b->fixed, strdup(anchor), "", false, "", NULL};
    b->child.stage = -1;
    b->child.filter = &b->filter.prog;
    b->child.argv = argv;
    b->child.env = env;
    b->child.note = fcntl(memfd_create("note", MFD_CLOEXEC), F_DUPFD_CLOEXEC, 20);
    b->child.status = fcntl(b->ends[1], F_DUPFD_CLOEXEC, 20);
    for (int i = 0; i < 3; i++)
        b->child.fd[i] =
            fcntl(open("/dev/null", O_RDWR | O_CLOEXEC), F_DUPFD_CLOEXEC, 20);
    assert_ok(bz_image_open(&b->child.init, &err), &err);
    b->child.parent = pidfd_open(getpid(), 0);
    assert_ok(bz_userns_make(&b->child.ns, &(struct bz_userns_opts){.id = 1000},
                             b->first, &err),
              &err);
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;

    bz_filter_release(&b->filter);
    bz_spawn_stack_free(b->first);
    bz_spawn_stack_free(b->child.stack);
    bz_userns_release(&b->child.ns);
    free((char *)(uintptr_t)b->child.plan.anchor);
    room_close(&b->room);
    free(b);
    return 0;
}

/* Runs both steps, and the task, if it comes to that. */
static void run(struct bench *b)
{
    struct bz_err err;
    pid_t first;

    assert_ok(bz_spawn_start(b->first, 0, bz_child_enter, &b->child, &first, &err),
              &err);
    assert_int_equal(waitpid(first, &(int){0}, 0), first);
    if (b->child.pid > 0)
        assert_int_equal(waitpid(b->child.pid, &(int){0}, 0), b->child.pid);
}

static void the_first_process_is_our_child_and_reports(void **state)
{
    struct bench *b = *state;
    int status = -1;

    run(b);
    assert_null(b->child.failure.step);
    assert_int_equal(read(b->ends[0], &status, sizeof(status)), sizeof(status));
    assert_int_equal(status, 0);
}

static void a_namespace_that_is_none_is_told(void **state)
{
    struct bench *b = *state;

    bz_userns_release(&b->child.ns);
    b->child.ns.user = open("/dev/null", O_RDONLY | O_CLOEXEC);
    run(b);
    assert_string_equal(b->child.failure.step, "enter a user namespace");
    assert_int_equal(b->child.failure.sys, EINVAL);
}

static void without_a_parent_nothing_is_started(void **state)
{
    struct bench *b = *state;
    pid_t gone = fork();

    if (gone == 0)
        _exit(0);
    b->child.parent = pidfd_open(gone, 0);
    assert_int_equal(waitid(P_PID, (id_t)gone, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    run(b);
    assert_string_equal(b->child.failure.step, "find the parent");
    waitpid(gone, &(int){0}, 0);
}

static void a_program_that_is_none_is_told(void **state)
{
    struct bench *b = *state;

    b->child.init = open("/dev/null", O_RDONLY | O_CLOEXEC);
    run(b);
    assert_string_equal(b->child.failure.step, "start its first process");
    assert_int_equal(b->child.failure.sys, EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(the_first_process_is_our_child_and_reports),
        TEST(a_namespace_that_is_none_is_told),
        TEST(without_a_parent_nothing_is_started),
        TEST(a_program_that_is_none_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
