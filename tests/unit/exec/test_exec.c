#include "exec/exec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/unit/exec/worktop.h"

static void tasks_run_in_order_and_then_not_at_all(void **state)
{
    struct worktop *b = *state;

    b->scripts[X] = "mkdir a; echo 1 >a/f; echo 2 >shared";
    b->scripts[Y] = "set -e; test -e a/f; cat shared >>a/f";
    b->scripts[W] = "set -e; test ! -e a/f; test -e shared"; /* of another recipe */
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 ");
    assert_int_equal(b->counts.executed, 3);
    assert_int_equal(b->counts.noexec, 1);
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "C3 C1 ");
    assert_int_equal(b->counts.unneeded, 1);
}

static void a_key_that_changed_runs_but_equal_output_stops_there(void **state)
{
    struct worktop *b = *state;

    b->scripts[X] = "echo same >f";
    assert_ok(worktop_run(b), &b->k->err);
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = 1; /* all signatures */
    b->bases[X].b[1] = 1;    /* because of this one */
    b->scripts[X] = "printf 'same\\n' >f";
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 C1 C3 ");
    assert_true(b->saved > 0);
    assert_ok(worktop_run(b), &b->k->err); /* now by its signature */
    assert_string_equal(b->told, "C3 C1 ");
    assert_true(b->saved > 0);
    b->keys[X].b[1] = b->bases[X].b[1] = 2;
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = 2;
    b->scripts[X] = "echo other >f";
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 ");
}

/* Adds where the targets are to be seen to what was told. */
static int run_and_show(struct worktop *b)
{
    struct bz_exec_outputs outputs = {0};
    int rc;

    b->opts.outputs = &outputs;
    rc = worktop_run(b);
    for (size_t i = 0; i < outputs.list.len; i++) {
        const struct bz_exec_output *o = &outputs.list.at[i];
        size_t n = strlen(b->told);

        snprintf(b->told + n, sizeof(b->told) - n, "t%u%s%s ", o->task,
                 o->own ? "o" : "", o->shared ? "s" : "");
    }
    bz_exec_outputs_release(&outputs);
    b->opts.outputs = NULL;
    return rc;
}

static void targets_are_shown_and_made_again_if_they_are_gone(void **state)
{
    struct worktop *b = *state;

    b->scripts[X] = "echo 1 >f";
    b->scripts[W] = "mkdir b; echo 2 >b/g";
    assert_ok(run_and_show(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 t2s t3os ");
    kitchen_make(b->k,
                 "test -e store/out/*/b/g; rm -rf store/trees store/out store/cas/*");
    bz_log_set_level(BZ_LOG_ERROR);
    assert_ok(run_and_show(b), &b->k->err);
    assert_non_null(strstr(b->told, "t2s t3os"));
    kitchen_make(b->k, "test -e store/out/*/b/g");
}

/* Files a result of W whose tree is none. */
static void file_nonsense(struct worktop *b)
{
    static const char text[] = "this is no tree";
    struct bz_cache_labels labels = {BZ_STR("b"), BZ_STR("do_w")};
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_output_release) struct bz_output out = {0};
    struct bz_output_layer layer = {.task = b->names[W]};
    struct bz_reapi_result r = {0};
    enum bz_action_put how;

    assert_ok(bz_digest_hasher_new(&h, &b->k->err), &b->k->err);
    assert_ok(bz_cas_put(bz_cache_cas(b->k->cache), h, text, sizeof(text), &layer.tree,
                         &b->k->err),
              &b->k->err);
    BZ_VEC_PUSH(&out.own, layer);
    bz_output_write(&out, &a, &r);
    assert_ok(bz_cache_put(b->k->cache, h, &b->keys[W], &r, &labels, &how, &b->k->err),
              &b->k->err);
}

static void a_target_whose_tree_makes_no_sense_is_made_again(void **state)
{
    struct worktop *b = *state;

    b->scripts[W] = "mkdir b; echo 2 >b/g";
    file_nonsense(b);
    bz_log_set_level(BZ_LOG_ERROR);
    assert_ok(run_and_show(b), &b->k->err);
    assert_non_null(strstr(b->told, "C3 "));
    assert_non_null(strstr(b->told, "D3 t2"));
    kitchen_make(b->k, "test -e store/out/*/b/g");
    assert_ok(run_and_show(b), &b->k->err); /* and is not run again */
    assert_null(strstr(b->told, "D"));
}

static void what_is_gone_from_the_store_is_made_again(void **state)
{
    struct worktop *b = *state;

    b->scripts[X] = "echo 1 >f";
    b->scripts[W] = "exit 1";
    assert_int_equal(worktop_run(b), BZ_E_TASK);
    assert_string_equal(b->told, "D0 D1 F3 ");
    kitchen_make(b->k, "rm -rf store/trees store/out store/cas/*");
    b->scripts[W] = "test -e f";
    bz_log_set_level(BZ_LOG_ERROR);
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "C1 D0 D1 D3 ");
}

/* Tells of the time, and lets tasks start at the third time. */
static void hear_time(void *ctx, const struct bz_event *e)
{
    struct worktop *b = ctx;
    size_t n = strlen(b->told);

    worktop_hear(ctx, e);
    if (e->kind == BZ_EVENT_DONE && e->task == X)
        b->hold = true;
    if (e->kind != BZ_EVENT_TICK || !b->hold)
        return;
    assert_int_equal(e->slots, 2);
    assert_int_equal(e->slots_used, 0);
    snprintf(b->told + n, sizeof(b->told) - n, "t");
    b->hold = !strstr(b->told, "ttt");
}

static void nothing_starts_while_it_is_held_but_time_goes_on(void **state)
{
    struct worktop *b = *state;

    b->opts.event = hear_time;
    b->opts.hold = &b->hold;
    b->opts.tick = 1000000;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 tttD1 D3 ");
}

static void a_nostamp_task_and_what_waits_for_it_run_every_time(void **state)
{
    struct worktop *b = *state;

    b->task_facts[Y].nostamp = true;
    assert_ok(worktop_run(b), &b->k->err);
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "C0 D1 D3 ");
}

static void without_results_all_that_is_needed_waits(void **state)
{
    struct worktop *b = *state;
    struct bz_exec x;

    worktop_open(b, &x);
    bz_exec_begin(&x);
    for (uint32_t t = 0; t < TASKS; t++)
        assert_int_equal(x.tasks[t].state, BZ_EXEC_WAITING);
    assert_int_equal(x.queues[BZ_EXEC_WORKS].ready.len, 1);
    assert_int_equal(x.queues[BZ_EXEC_WORKS].ready.at[0].task, X);
    assert_int_equal(x.tasks[W].pending, 1);
    worktop_close(&x);
}

static void what_is_not_needed_is_told_with_what_it_took(void **state)
{
    struct worktop *b = *state;
    struct bz_index *index = bz_cache_index(b->k->cache);

    assert_ok(worktop_run(b), &b->k->err);
    assert_int_equal(b->unneeded, 0);
    assert_int_equal(b->planned, 0);
    bz_index_note_cost(
        index, &(struct bz_index_task){.recipe = BZ_STR("a"), .task = BZ_STR("do_x")},
        &(struct bz_index_cost){40, 0});
    bz_index_note_cost(
        index, &(struct bz_index_task){.recipe = BZ_STR("a"), .task = BZ_STR("do_y")},
        &(struct bz_index_cost){2, 0});
    assert_ok(bz_index_flush(index, &b->k->err), &b->k->err);
    b->graph.targets.len = 1;
    b->graph.targets.at[0] = W;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "C3 ");
    assert_int_equal(b->unneeded, 3);
    assert_int_equal(b->spared, 42);
    assert_int_equal(b->planned, 42);
}

static void a_tree_is_lost_once_and_not_to_a_full_disk(void **state)
{
    struct worktop *b = *state;
    const struct bz_err gone = {.code = BZ_E_NOENT},
                        full = {.code = BZ_E_IO, .sys = ENOSPC};
    struct bz_exec x;

    worktop_open(b, &x);
    assert_false(bz_exec_lose(&x, &(struct bz_digest){0}, &gone));
    assert_false(bz_exec_lose(&x, &b->keys[X], &full));
    assert_false(x.again);
    assert_true(bz_exec_lose(&x, &b->keys[X], &gone));
    assert_true(x.again);
    assert_false(bz_exec_lose(&x, &b->keys[X], &gone));
    worktop_close(&x);
}

static void take_interrupt(void *ctx)
{
    uint64_t n;

    assert_int_equal(read(*(int *)ctx, &n, sizeof(n)), sizeof(n));
}

/* A server that takes connections and says nothing. */
static void the_user_need_not_wait_for_a_plan(void **state)
{
    struct worktop *b = *state;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int user = eventfd(1, EFD_CLOEXEC);
    socklen_t len = sizeof(at);
    char root[320], tier[64];
    struct bz_cache_opts opts = {
        .root = root, .store = {BZ_SHELF_WRITE, BZ_FS_NOSYNC}
    };
    struct bz_arena a = {0};
    struct bz_tier_spec spec;

    assert_int_equal(bind(silent, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(silent, 20), 0);
    assert_int_equal(getsockname(silent, (struct sockaddr *)&at, &len), 0);
    snprintf(tier, sizeof(tier), "http://127.0.0.1:%u/", ntohs(at.sin_port));
    snprintf(root, sizeof(root), "%s/near", b->k->scratch->path);
    assert_ok(bz_tier_spec_parse(&a, bz_str_from(tier), &spec, &b->k->err), &b->k->err);
    opts.tiers =
        (struct bz_tiers_opts){.specs = &spec, .n = 1, .timeout = 60 * BZ_CLOCK_S};
    assert_ok(bz_cache_open(&opts, &b->opts.cache, &b->k->err), &b->k->err);
    b->opts.interrupt_fd = user;
    b->opts.interrupt = take_interrupt;
    b->opts.interrupt_ctx = &user;
    assert_int_equal(worktop_run(b), BZ_E_CANCELED);
    assert_string_equal(b->told, "");
    bz_cache_close(b->opts.cache);
    bz_arena_release(&a);
    close(user);
    close(silent);
}

static void hear_wants(void *ctx, const struct bz_event *e)
{
    struct worktop *b = ctx;
    size_t n = strlen(b->told);

    if (e->kind == BZ_EVENT_WANTED)
        snprintf(b->told + n, sizeof(b->told) - n, "%c%u ", e->unless ? 'u' : 'w',
                 e->task);
    worktop_hear(ctx, e);
}

static void a_dry_run_tells_and_does_nothing(void **state)
{
    struct worktop *b = *state;

    b->opts.event = hear_wants;
    b->opts.dry = true;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "w0 w1 w3 ");
    assert_int_equal(b->counts.wanted, 3);
    assert_int_equal(b->counts.noexec, 1);
    b->opts.dry = false;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 ");
    b->keys[W].b[1] = b->bases[W].b[1] = 1;
    b->opts.dry = true;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "C1 w3 ");
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = 2;
    b->bases[X].b[1] = 2;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "w0 u1 u3 ");
    assert_int_equal(b->counts.unless, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(tasks_run_in_order_and_then_not_at_all),
        TEST(a_key_that_changed_runs_but_equal_output_stops_there),
        TEST(what_is_gone_from_the_store_is_made_again),
        TEST(a_target_whose_tree_makes_no_sense_is_made_again),
        TEST(a_nostamp_task_and_what_waits_for_it_run_every_time),
        TEST(without_results_all_that_is_needed_waits),
        TEST(what_is_not_needed_is_told_with_what_it_took),
        TEST(a_tree_is_lost_once_and_not_to_a_full_disk),
        TEST(the_user_need_not_wait_for_a_plan),
        TEST(a_dry_run_tells_and_does_nothing),
        TEST(targets_are_shown_and_made_again_if_they_are_gone),
        TEST(nothing_starts_while_it_is_held_but_time_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
