#include "exec/jobserver.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/os/scratch.h"

struct fixture {
    struct scratch *scratch;
    char path[300];
    struct bz_jobserver j;
    struct bz_err err;
    int client; /* a make's */
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    void *scratch;

    if (scratch_setup(&scratch) < 0)
        return -1;
    f->scratch = scratch;
    *state = f;
    snprintf(f->path, sizeof(f->path), "%s/tokens", f->scratch->path);
    if (bz_jobserver_open(&f->j, f->path, 3, &f->err) < 0)
        return -1;
    f->client = open(f->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return f->client < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    void *scratch = f->scratch;

    bz_jobserver_close(&f->j);
    close(f->client);
    free(f);
    return scratch_teardown(&scratch);
}

/* How many tokens a make could get; it takes them. */
static int grab(struct fixture *f)
{
    char tokens[100];
    ssize_t n = read(f->client, tokens, sizeof(tokens));

    return n < 0 ? 0 : (int)n;
}

static void put_back(struct fixture *f, size_t n)
{
    assert_int_equal(write(f->client, "+++++++++", n), n);
}

static bool gate_open(struct fixture *f)
{
    struct pollfd p = {.fd = f->j.gate, .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

static void tasks_and_makes_share_the_tokens(void **state)
{
    struct fixture *f = *state;

    assert_true(bz_jobserver_take(&f->j));
    assert_int_equal(bz_jobserver_used(&f->j), 1);
    bz_jobserver_join(&f->j);
    assert_int_equal(grab(f), 2);
    assert_false(bz_jobserver_take(&f->j));
    put_back(f, 1);
    assert_true(bz_jobserver_take(&f->j));
    bz_jobserver_give(&f->j);
    assert_int_equal(grab(f), 1);
}

static void the_gate_opens_only_for_who_waits(void **state)
{
    struct fixture *f = *state;

    assert_false(gate_open(f)); /* though there are tokens */
    bz_jobserver_join(&f->j);
    assert_int_equal(grab(f), 3);
    assert_false(bz_jobserver_take(&f->j));
    assert_false(gate_open(f));
    put_back(f, 1);
    assert_true(gate_open(f));
    bz_jobserver_rest(&f->j);
    assert_false(gate_open(f));
    assert_true(bz_jobserver_take(&f->j));
}

static void
tokens_that_were_lost_or_added_are_counted_when_nobody_uses_them(void **state)
{
    struct fixture *f = *state;

    for (int added = 0; added < 2; added++) {
        assert_true(bz_jobserver_take(&f->j));
        assert_true(bz_jobserver_take(&f->j)); /* by a task that has no make */
        bz_jobserver_join(&f->j);
        if (added)
            put_back(f, 5);
        else
            assert_int_equal(grab(f), 1);
        bz_jobserver_leave(&f->j);
        bz_jobserver_give(&f->j);
        assert_int_equal(grab(f), 2);
        bz_jobserver_give(&f->j);
    }
}

static void a_token_taken_before_the_pipe_is_there_counts(void **state)
{
    struct fixture *f = *state;

    bz_jobserver_close(&f->j);
    f->j = (struct bz_jobserver){0};
    assert_true(bz_jobserver_take(&f->j));
    assert_int_equal(unlink(f->path), 0);
    assert_ok(bz_jobserver_open(&f->j, f->path, 2, &f->err), &f->err);
    assert_true(bz_jobserver_take(&f->j));
    assert_false(bz_jobserver_take(&f->j));
}

static void a_make_is_told_in_the_way_it_knows(void **state)
{
    static const struct {
        const char *version;
        enum bz_jobserver_style style;
    } cases[] = {
        {"GNU Make 4.3\nBuilt for x86_64-pc-linux-gnu\n", BZ_JOBSERVER_FDS },
        {"GNU Make 3.81\n",                               BZ_JOBSERVER_FDS },
        {"GNU Make 4.2.1\n",                              BZ_JOBSERVER_FDS },
        {"GNU Make 4\n",                                  BZ_JOBSERVER_FDS },
        {"GNU Make 4.4\n",                                BZ_JOBSERVER_PATH},
        {"GNU Make 4.4.1\n",                              BZ_JOBSERVER_PATH},
        {"GNU Make 4.10",                                 BZ_JOBSERVER_PATH},
        {"GNU Make 5.0\n",                                BZ_JOBSERVER_PATH},
        {"GNU Make new\n",                                BZ_JOBSERVER_PATH},
        {"",                                              BZ_JOBSERVER_PATH},
    };
    struct fixture *f = *state;
    struct bz_buf text = {0};

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_jobserver_style_of(bz_str_from(cases[i].version)),
                         cases[i].style);
    f->j.style = BZ_JOBSERVER_PATH;
    bz_jobserver_flags(&f->j, "/run/x", &text);
    f->j.style = BZ_JOBSERVER_FDS;
    bz_jobserver_flags(&f->j, "/run/x", &text);
    assert_string_equal(bz_buf_text(&text), " -j3 --jobserver-auth=fifo:/run/x"
                                            " -j3 --jobserver-auth=8,9");
    bz_buf_release(&text);
    f->j.style = BZ_JOBSERVER_UNKNOWN;
    bz_jobserver_flags(&f->j, "/run/x", &text);
    assert_int_not_equal(f->j.style, BZ_JOBSERVER_UNKNOWN);
    bz_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(tasks_and_makes_share_the_tokens),
        TEST(the_gate_opens_only_for_who_waits),
        TEST(tokens_that_were_lost_or_added_are_counted_when_nobody_uses_them),
        TEST(a_token_taken_before_the_pipe_is_there_counts),
        TEST(a_make_is_told_in_the_way_it_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
