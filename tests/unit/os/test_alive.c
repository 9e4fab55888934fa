#include "os/alive.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

static void this_process_runs(void **state)
{
    struct bz_alive self, again;

    (void)state;
    bz_alive_self(&self);
    bz_alive_self(&again);
    assert_string_equal(self.name, again.name);
    assert_int_equal(bz_alive_check(&self, bz_str_from(self.name)), BZ_ALIVE_RUNNING);
}

static void a_name_can_be_part_of_a_file_name(void **state)
{
    struct bz_alive self;

    (void)state;
    bz_alive_self(&self);
    assert_true(strlen(self.name) > 40);
    assert_int_equal(strspn(self.name, "0123456789abcdef."), strlen(self.name));
}

/* The child's name as it sees it, read after it has been reaped or while it waits. */
static void child_name(int out, int hold)
{
    struct bz_alive own;
    char c;

    bz_alive_self(&own);
    if (write(out, &own, sizeof(own)) != sizeof(own) || read(hold, &c, 1) < 0)
        _exit(1);
    _exit(0);
}

static void a_child_runs_until_it_has_ended(void **state)
{
    struct bz_alive self, child = {""};
    int out[2], hold[2];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(hold), 0);
    pid = fork();
    if (pid == 0) {
        close(hold[1]);
        child_name(out[1], hold[0]);
    }
    bz_alive_self(&self);
    assert_int_equal(read(out[0], &child, sizeof(child)), sizeof(child));
    assert_string_not_equal(self.name, child.name);
    assert_int_equal(bz_alive_check(&self, bz_str_from(child.name)), BZ_ALIVE_RUNNING);
    close(hold[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(bz_alive_check(&self, bz_str_from(child.name)), BZ_ALIVE_GONE);
    close(hold[0]);
    close(out[0]);
    close(out[1]);
}

static void a_reused_number_is_another_process(void **state)
{
    struct bz_alive self;
    char other[BZ_ALIVE_MAX];
    size_t n;

    (void)state;
    bz_alive_self(&self);
    n = strlen(self.name);
    memcpy(other, self.name, n + 1);
    other[n - 1] = other[n - 1] == '1' ? '2' : '1';
    assert_int_equal(bz_alive_check(&self, bz_str_from(other)), BZ_ALIVE_GONE);
}

static void what_is_not_of_this_machine_is_not_judged(void **state)
{
    struct bz_alive self;
    char other[BZ_ALIVE_MAX];
    static const char *const strange[] = {
        "", ".", "..", "1.2", "x.y.z", "0.0.0.999999.1", "a.b.c.1.", "a.b.c..1",
    };

    (void)state;
    bz_alive_self(&self);
    memcpy(other, self.name, sizeof(other));
    other[0] = other[0] == 'a' ? 'b' : 'a'; /* another boot */
    assert_int_equal(bz_alive_check(&self, bz_str_from(other)), BZ_ALIVE_UNKNOWN);
    for (size_t i = 0; i < BZ_COUNTOF(strange); i++)
        assert_int_equal(bz_alive_check(&self, bz_str_from(strange[i])),
                         BZ_ALIVE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_process_runs),
        cmocka_unit_test(a_name_can_be_part_of_a_file_name),
        cmocka_unit_test(a_child_runs_until_it_has_ended),
        cmocka_unit_test(a_reused_number_is_another_process),
        cmocka_unit_test(what_is_not_of_this_machine_is_not_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
