#include "sandbox/spawn.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

struct note {
    int value;
    long pid;
    void *stack;
    pid_t grandchild;
};

BZ_SPAWN_CHILD static int write_note(void *ctx)
{
    struct note *n = ctx;

    n->value = 42;
    n->pid = syscall(SYS_getpid);
    return 5;
}

BZ_SPAWN_CHILD static int start_another(void *ctx)
{
    struct note *n = ctx;

    n->grandchild = bz_spawn_run(n->stack, 0, write_note, n);
    return n->grandchild > 0 && n->value == 42 ? 6 : 7;
}

static void a_child_runs_in_our_memory_and_we_wait_for_it(void **state)
{
    struct note n = {0};
    struct bz_err err;
    void *stack;
    int status;
    pid_t pid;

    (void)state;
    assert_ok(bz_spawn_stack_new(&stack, &err), &err);
    assert_ok(bz_spawn_start(stack, 0, write_note, &n, &pid, &err), &err);
    assert_int_equal(n.value, 42);
    assert_int_equal(n.pid, pid);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 5);
    bz_spawn_stack_free(stack);
}

static void a_child_may_start_another(void **state)
{
    struct note n = {0};
    struct bz_err err;
    void *stack;
    int status;
    pid_t pid;

    (void)state;
    assert_ok(bz_spawn_stack_new(&stack, &err), &err);
    assert_ok(bz_spawn_stack_new(&n.stack, &err), &err);
    assert_ok(bz_spawn_start(stack, 0, start_another, &n, &pid, &err), &err);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 6);
    assert_int_equal(n.pid, n.grandchild);
    bz_spawn_stack_free(stack);
    bz_spawn_stack_free(n.stack);
}

static void the_mask_of_signals_is_as_before(void **state)
{
    struct note n = {0};
    struct bz_err err;
    sigset_t now;
    void *stack;
    pid_t pid;

    (void)state;
    assert_ok(bz_spawn_stack_new(&stack, &err), &err);
    assert_ok(bz_spawn_start(stack, 0, write_note, &n, &pid, &err), &err);
    assert_int_equal(waitpid(pid, &(int){0}, 0), pid);
    sigprocmask(SIG_BLOCK, NULL, &now);
    assert_int_equal(sigismember(&now, SIGTERM), 0);
    bz_spawn_stack_free(stack);
    bz_spawn_stack_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_runs_in_our_memory_and_we_wait_for_it),
        cmocka_unit_test(a_child_may_start_another),
        cmocka_unit_test(the_mask_of_signals_is_as_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
