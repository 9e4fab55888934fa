#include "exec/workplace.h"

#include <sys/wait.h>
#include <unistd.h>

#include "os/alive.h"
#include "tests/unit/exec/worktop.h"

/* The directory that a process which has gone since would have used. */
static void leave_work(struct worktop *b)
{
    struct bz_alive dead = {0};
    char line[300];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    if (fork() == 0) {
        bz_alive_self(&dead);
        _exit(write(ends[1], &dead, sizeof(dead)) != sizeof(dead));
    }
    assert_int_equal(read(ends[0], &dead, sizeof(dead)), sizeof(dead));
    wait(NULL);
    close(ends[0]);
    close(ends[1]);
    snprintf(line, sizeof(line), "mkdir -p store/work/%s/3/upper", dead.name);
    kitchen_make(b->k, line);
}

static void what_killed_builds_left_is_removed(void **state)
{
    struct worktop *b = *state;
    struct bz_exec x;

    leave_work(b);
    worktop_open(b, &x);
    assert_ok(bz_workplace_trees(&x, &b->k->err), &b->k->err);
    assert_ok(bz_workplace_trees(&x, &b->k->err), &b->k->err);
    if (bz_workplace_open(&x, &b->k->err) < 0 &&
        strstr(b->k->err.msg, "user namespaces do not work") &&
        !getenv("BITZEL_MUST_WORK"))
        skip();
    kitchen_make(b->k, "test $(ls store/work | wc -l) = 1");
    bz_workplace_close(&x);
    kitchen_make(b->k, "test $(ls store/work | wc -l) = 0");
    worktop_close(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(what_killed_builds_left_is_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
