#include "pool/flowrun.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "os/clock.h"
#include "pool/worker.h"
#include "tests/unit/bz_test.h"

enum { MOST = 64 };

/* What the bodies note down, for the test to judge. */
struct record {
    atomic_int clock;           /* ticks at each start and end */
    atomic_int runs[MOST];      /* how often a node ran */
    int start[MOST], end[MOST]; /* written by the node alone */
    atomic_int on_lane[MOST];   /* 1 + the lane it ran on */
    struct bz_bitset fail;      /* nodes that fail */
    uint32_t cancel_at;         /* node that cancels the run */
    struct bz_cancel *cancel;
    struct bz_pool *pool;
};

static int note(struct bz_flowrun_step *step)
{
    struct record *r = step->arg;
    uint32_t i = step->node;
    bool io = step->worker->lane == bz_pool_lane(r->pool, BZ_LANE_IO);

    r->start[i] = atomic_fetch_add(&r->clock, 1) + 1;
    atomic_fetch_add(&r->runs[i], 1);
    atomic_store(&r->on_lane[i], io ? 2 : 1);
    if (r->cancel && r->cancel_at == i)
        bz_cancel_now(r->cancel);
    r->end[i] = atomic_fetch_add(&r->clock, 1) + 1;
    if (bz_bitset_test(&r->fail, i)) {
        bz_buf_addf(&step->output, "output of node %u", i);
        return bz_fail(&step->err, BZ_E_TASK, "node %u broke", i);
    }
    bz_buf_addf(&step->output, "dropped");
    return 0;
}

struct fixture {
    struct bz_pool *pool;
    struct bz_flow *flow;
    struct bz_flowrun *run;
    struct record record;
    struct bz_bitset dirty;
    struct bz_flowrun_opts opts;
    struct bz_err err;
};

static void set_up(struct fixture *f, uint32_t n)
{
    memset(f, 0, sizeof(*f));
    assert_ok(bz_pool_new(&(struct bz_pool_opts){2, 2}, &f->pool, &f->err), &f->err);
    f->flow = bz_flow_new(n);
    f->record.pool = f->pool;
    f->opts = (struct bz_flowrun_opts){.body = note, .arg = &f->record};
}

static int go(struct fixture *f)
{
    if (!f->run) {
        assert_ok(bz_flow_close(f->flow, NULL, NULL, &f->err), &f->err);
        f->run = bz_flowrun_new(f->flow);
    }
    return bz_flowrun_go(f->run, f->pool, &f->opts, &f->err);
}

static void tear_down(struct fixture *f)
{
    bz_bitset_release(&f->dirty);
    bz_bitset_release(&f->record.fail);
    bz_flowrun_free(f->run);
    bz_flow_free(f->flow);
    bz_pool_free(f->pool);
}

static void mark_dirty(struct fixture *f, const char *nodes)
{
    for (; *nodes; nodes++)
        bz_bitset_set(&f->dirty, (size_t)(*nodes - '0'));
    f->opts.dirty = &f->dirty;
}

static void chain(struct bz_flow *flow)
{
    for (uint32_t i = 1; i < flow->count; i++)
        bz_flow_edge(flow, i - 1, i);
}

/* The nodes that ran, as digits in order of number; each must have run once. */
static void assert_ran(struct fixture *f, const char *want)
{
    char got[MOST + 1] = "";

    for (uint32_t i = 0; i < f->flow->count; i++) {
        assert_true(atomic_load(&f->record.runs[i]) <= 1);
        if (atomic_load(&f->record.runs[i]))
            strncat(got, &"0123456789"[i], 1);
    }
    assert_string_equal(got, want);
}

static void assert_order(struct fixture *f, uint32_t first, uint32_t second)
{
    assert_true(f->record.end[first] < f->record.start[second]);
}

static void single_dirty(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 3);
    chain(f.flow);
    mark_dirty(&f, "1");
    assert_ok(go(&f), &f.err);
    assert_ran(&f, "1");
    assert_int_equal(bz_flowrun_state(f.run, 0), BZ_FLOWRUN_CLEAN);
    assert_int_equal(bz_flowrun_state(f.run, 1), BZ_FLOWRUN_RAN);
    assert_int_equal(bz_flowrun_count(f.run, BZ_FLOWRUN_RAN), 1);
    assert_int_equal(bz_flowrun_count(f.run, BZ_FLOWRUN_CLEAN), 2);
    tear_down(&f);
}

static void chain_of_dirty(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 5);
    chain(f.flow);
    assert_ok(go(&f), &f.err);
    assert_ran(&f, "01234");
    for (uint32_t i = 1; i < 5; i++)
        assert_order(&f, i - 1, i);
    tear_down(&f);
}

static void independent(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 8);
    assert_ok(go(&f), &f.err);
    assert_ran(&f, "01234567");
    tear_down(&f);
}

static void mixed_clean_and_dirty(void **state)
{
    struct fixture f;

    (void)state;
    /* 0 -> 1 -> 2 -> 3 and 0 -> 4: 1 is clean, so 2 does not wait for anything. */
    set_up(&f, 5);
    bz_flow_edge(f.flow, 0, 1);
    bz_flow_edge(f.flow, 1, 2);
    bz_flow_edge(f.flow, 2, 3);
    bz_flow_edge(f.flow, 0, 4);
    mark_dirty(&f, "0234");
    assert_ok(go(&f), &f.err);
    assert_ran(&f, "0234");
    assert_order(&f, 2, 3);
    assert_order(&f, 0, 4);
    tear_down(&f);
}

static void all_clean(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 4);
    chain(f.flow);
    mark_dirty(&f, "");
    for (int mode = BZ_FLOWRUN_READY; mode <= BZ_FLOWRUN_WAVES; mode++) {
        f.opts.mode = mode;
        assert_ok(go(&f), &f.err);
        assert_ran(&f, "");
        assert_int_equal(bz_flowrun_count(f.run, BZ_FLOWRUN_CLEAN), 4);
    }
    tear_down(&f);
}

static void failure_stops_downstream_only(void **state)
{
    const struct bz_flowrun_failure *failure;
    struct fixture f;

    (void)state;
    /* 0 -> 1 -> 2 -> 3, 4 -> 5, and 6 needs both 2 and 5. Node 1 fails. */
    for (int mode = BZ_FLOWRUN_READY; mode <= BZ_FLOWRUN_WAVES; mode++) {
        set_up(&f, 7);
        f.opts.mode = mode;
        bz_flow_edge(f.flow, 0, 1);
        bz_flow_edge(f.flow, 1, 2);
        bz_flow_edge(f.flow, 2, 3);
        bz_flow_edge(f.flow, 4, 5);
        bz_flow_edge(f.flow, 2, 6);
        bz_flow_edge(f.flow, 5, 6);
        bz_bitset_set(&f.record.fail, 1);
        assert_int_equal(go(&f), BZ_E_TASK);
        assert_string_equal(f.err.msg, "1 failed, 3 skipped: node 1 broke");
        assert_ran(&f, "0145");
        assert_int_equal(bz_flowrun_state(f.run, 1), BZ_FLOWRUN_FAILED);
        for (uint32_t i = 0; i < 7; i++) {
            bool skipped = i == 2 || i == 3 || i == 6;

            assert_int_equal(bz_flowrun_state(f.run, i) == BZ_FLOWRUN_SKIPPED, skipped);
            assert_int_equal(bz_flowrun_cause(f.run, i), skipped ? 1 : BZ_FLOW_NONE);
        }
        failure = bz_flowrun_failure(f.run, 0);
        assert_int_equal(failure->node, 1);
        assert_string_equal(failure->err.msg, "node 1 broke");
        assert_string_equal(bz_buf_text(&failure->output), "output of node 1");
        assert_null(bz_flowrun_failure(f.run, 1));
        tear_down(&f);
    }
}

static void several_failures_are_listed_by_node_and_the_smallest_is_blamed(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 6);
    for (uint32_t i = 0; i < 5; i++) {
        bz_flow_edge(f.flow, i, 5);
        if (i > 1)
            bz_bitset_set(&f.record.fail, i);
    }
    for (int k = 0; k < 20; k++) {
        assert_int_equal(go(&f), BZ_E_TASK);
        assert_int_equal(bz_flowrun_cause(f.run, 5), 2);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(bz_flowrun_failure(f.run, i)->node, i + 2);
        assert_null(bz_flowrun_failure(f.run, 3));
    }
    tear_down(&f);
}

static int fail_silently(struct bz_flowrun_step *step)
{
    (void)step;
    return BZ_E_IO;
}

static void a_body_that_fails_without_words_gets_some(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 1);
    f.opts.body = fail_silently;
    assert_int_equal(go(&f), BZ_E_TASK);
    assert_string_equal(f.err.msg, "1 failed, 0 skipped: system error");
    tear_down(&f);
}

static void multi_branch(void **state)
{
    struct fixture f;

    (void)state;
    /* A fan out and in again: 0 -> 1..8 -> 9. */
    set_up(&f, 10);
    for (uint32_t i = 1; i < 9; i++) {
        bz_flow_edge(f.flow, 0, i);
        bz_flow_edge(f.flow, i, 9);
    }
    assert_ok(go(&f), &f.err);
    assert_ran(&f, "0123456789");
    for (uint32_t i = 1; i < 9; i++) {
        assert_order(&f, 0, i);
        assert_order(&f, i, 9);
    }
    tear_down(&f);
}

static void mixed_compute_and_io(void **state)
{
    struct fixture f;

    (void)state;
    for (int prio = 0; prio < 2; prio++) {
        set_up(&f, 10);
        for (uint32_t i = 0; i < 10; i++) {
            if (i % 2)
                bz_flow_lane(f.flow, i, BZ_LANE_IO);
            if (prio)
                bz_flow_priority(f.flow, i, i);
            if (i >= 3)
                bz_flow_edge(f.flow, i - 3, i);
        }
        assert_ok(go(&f), &f.err);
        assert_ran(&f, "0123456789");
        for (uint32_t i = 0; i < 10; i++) {
            assert_int_equal(atomic_load(&f.record.on_lane[i]), i % 2 ? 2 : 1);
            if (i >= 3)
                assert_order(&f, i - 3, i);
        }
        tear_down(&f);
    }
}

static void files_order_the_nodes_that_write_and_read_them(void **state)
{
    struct fixture f;
    uint32_t source, object;

    (void)state;
    set_up(&f, 3);
    source = bz_flow_file(f.flow);
    object = bz_flow_file(f.flow);
    bz_flow_reads(f.flow, 0, object); /* the linker */
    bz_flow_reads(f.flow, 1, source); /* the compiler; nobody writes the source */
    bz_flow_writes(f.flow, 1, object);
    bz_flow_reads(f.flow, 2, source);
    assert_ok(go(&f), &f.err);
    assert_ran(&f, "012");
    assert_order(&f, 1, 0);
    tear_down(&f);
}

static void ready_nodes_start_in_order_of_priority(void **state)
{
    static const int64_t priority[] = {0, 30, 10, 50, 20, 40};
    static const uint32_t want[] = {3, 5, 1, 4, 2};
    struct fixture f;
    int last;

    (void)state;
    /* One io thread, so one at a time. Node 0 releases all the others at once. */
    set_up(&f, 6);
    bz_pool_free(f.pool);
    assert_ok(bz_pool_new(&(struct bz_pool_opts){1, 1}, &f.pool, &f.err), &f.err);
    f.record.pool = f.pool;
    for (uint32_t i = 0; i < 6; i++) {
        bz_flow_lane(f.flow, i, BZ_LANE_IO);
        bz_flow_priority(f.flow, i, priority[i]);
        if (i > 0)
            bz_flow_edge(f.flow, 0, i);
    }
    assert_ok(go(&f), &f.err);
    last = f.record.end[0];
    for (size_t i = 0; i < BZ_COUNTOF(want); i++) {
        assert_true(f.record.start[want[i]] > last);
        last = f.record.end[want[i]];
    }
    tear_down(&f);
}

static void waves_start_when_the_level_before_is_done(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 60);
    f.opts.mode = BZ_FLOWRUN_WAVES;
    for (uint32_t i = 0; i < 60; i++) {
        if (i >= 10)
            bz_flow_edge(f.flow, i - 10 - i % 3 * (i >= 12), i);
        if (i % 4 == 3)
            bz_flow_lane(f.flow, i, BZ_LANE_IO);
    }
    assert_ok(go(&f), &f.err);
    for (uint32_t a = 0; a < 60; a++)
        for (uint32_t b = 0; b < 60; b++)
            if (f.flow->level[a] < f.flow->level[b])
                assert_order(&f, a, b);
    tear_down(&f);
}

/* A random graph, the same each time: edges only go up, so it has no cycle. */
static void random_edges(struct bz_flow *flow, unsigned seed)
{
    for (uint32_t to = 1; to < flow->count; to++) {
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            if (seed >> 30)
                bz_flow_edge(flow, (seed >> 8) % to, to);
        }
    }
}

static void a_thousand_repeated_runs_keep_the_order(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 40);
    for (uint32_t i = 0; i < 40; i += 5)
        bz_flow_lane(f.flow, i, BZ_LANE_IO);
    random_edges(f.flow, 7);
    for (int k = 0; k < 1000; k++) {
        f.opts.mode = k % 10 == 0 ? BZ_FLOWRUN_WAVES : BZ_FLOWRUN_READY;
        assert_ok(go(&f), &f.err);
        for (uint32_t i = 0; i < 40; i++) {
            assert_int_equal(atomic_load(&f.record.runs[i]), k + 1);
            for (uint32_t e = f.flow->succ_begin[i]; e < f.flow->succ_begin[i + 1]; e++)
                assert_order(&f, i, f.flow->succ[e]);
        }
    }
    tear_down(&f);
}

static void runs_of_every_kind_may_follow_each_other(void **state)
{
    static const struct {
        int rc;
        enum bz_flowrun_mode mode;
        const char *dirty, *ran; /* dirty NULL: all */
        uint32_t count, failing; /* that ran, that fails */
        bool canceled;
    } t[] = {
        {0,             BZ_FLOWRUN_READY, NULL, "01234", 5, BZ_FLOW_NONE, false},
        {0,             BZ_FLOWRUN_WAVES, NULL, "01234", 5, BZ_FLOW_NONE, false},
        {0,             BZ_FLOWRUN_READY, "13", "13",    2, BZ_FLOW_NONE, false},
        {BZ_E_TASK,     BZ_FLOWRUN_READY, NULL, "0123",  3, 3,            false},
        {BZ_E_CANCELED, BZ_FLOWRUN_READY, NULL, "",      0, BZ_FLOW_NONE, true },
    };
    struct fixture f;
    struct bz_cancel canceled;

    (void)state;
    set_up(&f, 5);
    chain(f.flow);
    bz_cancel_init(&canceled, NULL, 0);
    bz_cancel_now(&canceled);
    for (unsigned k = 0; k < 400; k++) {
        unsigned i = k * 7 / 3 % 5; /* each kind after each other one */

        memset(f.record.runs, 0, sizeof(f.record.runs));
        bz_bitset_zero(&f.record.fail);
        bz_bitset_zero(&f.dirty);
        f.opts.mode = t[i].mode;
        f.opts.dirty = NULL;
        f.opts.cancel = t[i].canceled ? &canceled : NULL;
        if (t[i].dirty)
            mark_dirty(&f, t[i].dirty);
        if (t[i].failing != BZ_FLOW_NONE)
            bz_bitset_set(&f.record.fail, t[i].failing);
        assert_int_equal(go(&f), t[i].rc);
        assert_ran(&f, t[i].ran);
        assert_int_equal(bz_flowrun_count(f.run, BZ_FLOWRUN_RAN), t[i].count);
        assert_int_equal(bz_flowrun_cause(f.run, 4), t[i].failing);
    }
    tear_down(&f);
}

static void cancellation_mid_run_starts_nothing_further(void **state)
{
    struct fixture f;
    struct bz_cancel cancel;

    (void)state;
    set_up(&f, 6);
    chain(f.flow);
    bz_cancel_init(&cancel, NULL, 0);
    f.opts.cancel = f.record.cancel = &cancel;
    f.record.cancel_at = 2;
    assert_int_equal(go(&f), BZ_E_CANCELED);
    assert_string_equal(f.err.msg, "canceled with 3 not started");
    assert_ran(&f, "012");
    assert_int_equal(bz_flowrun_state(f.run, 2), BZ_FLOWRUN_RAN);
    assert_int_equal(bz_flowrun_count(f.run, BZ_FLOWRUN_CANCELED), 3);
    tear_down(&f);
}

static int outlast_deadline(struct bz_flowrun_step *step)
{
    note(step);
    while (bz_cancel_check(step->cancel) == 0)
        sched_yield();
    return 0;
}

static void a_deadline_stops_the_run(void **state)
{
    struct fixture f;
    struct bz_cancel cancel;

    (void)state;
    set_up(&f, 3);
    chain(f.flow);
    bz_cancel_init(&cancel, NULL, bz_clock_in(20 * BZ_CLOCK_MS));
    f.opts.cancel = &cancel;
    f.opts.body = outlast_deadline;
    assert_int_equal(go(&f), BZ_E_TIMEOUT);
    assert_string_equal(f.err.msg, "timed out with 2 not started");
    assert_ran(&f, "0");
    tear_down(&f);
}

static void a_cycle_is_refused_before_anything_runs(void **state)
{
    struct bz_flow *flow = bz_flow_new(3);
    struct bz_err err;

    (void)state;
    bz_flow_edge(flow, 0, 1);
    bz_flow_edge(flow, 1, 2);
    bz_flow_edge(flow, 2, 0);
    assert_int_equal(bz_flow_close(flow, NULL, NULL, &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "dependency cycle of 3: "));
    bz_flow_free(flow);
}

static int count_node(struct bz_flowrun_step *step)
{
    ((unsigned char *)step->arg)[step->node]++;
    return 0;
}

static void a_large_graph_runs_every_node_once(void **state)
{
    enum { N = 20000 };
    unsigned char *hit = bz_mem_array(N, 1);
    struct fixture f;

    (void)state;
    for (int prio = 0; prio < 2; prio++) {
        set_up(&f, N);
        random_edges(f.flow, 11);
        if (prio)
            bz_flow_priority(f.flow, N - 1, 5);
        f.opts.body = count_node;
        f.opts.arg = hit;
        assert_ok(go(&f), &f.err);
        for (int i = 0; i < N; i++)
            assert_int_equal(hit[i], prio + 1);
        tear_down(&f);
    }
    free(hit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_dirty),
        cmocka_unit_test(chain_of_dirty),
        cmocka_unit_test(independent),
        cmocka_unit_test(mixed_clean_and_dirty),
        cmocka_unit_test(all_clean),
        cmocka_unit_test(failure_stops_downstream_only),
        cmocka_unit_test(
            several_failures_are_listed_by_node_and_the_smallest_is_blamed),
        cmocka_unit_test(a_body_that_fails_without_words_gets_some),
        cmocka_unit_test(multi_branch),
        cmocka_unit_test(mixed_compute_and_io),
        cmocka_unit_test(files_order_the_nodes_that_write_and_read_them),
        cmocka_unit_test(ready_nodes_start_in_order_of_priority),
        cmocka_unit_test(waves_start_when_the_level_before_is_done),
        cmocka_unit_test(a_thousand_repeated_runs_keep_the_order),
        cmocka_unit_test(runs_of_every_kind_may_follow_each_other),
        cmocka_unit_test(cancellation_mid_run_starts_nothing_further),
        cmocka_unit_test(a_deadline_stops_the_run),
        cmocka_unit_test(a_cycle_is_refused_before_anything_runs),
        cmocka_unit_test(a_large_graph_runs_every_node_once),
    };

    return cmocka_run_group_tests_name("pool/flowrun", tests, NULL, NULL);
}
