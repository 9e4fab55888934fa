#include "cache/gc.h"

#include <signal.h>
#include <sys/wait.h>

#include "cache/trash.h"
#include "os/clock.h"
#include "tests/unit/cache/forest.h"

static const struct bz_cas_opts writing = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};

static struct bz_digest key_of(unsigned n)
{
    return (struct bz_digest){
        {(uint8_t)n, (uint8_t)(n >> 8), 1}
    };
}

/* A result of one file of its own and one that all share. */
static void file_result(struct bz_cas *cas, struct bz_digest_hasher *h, unsigned n)
{
    struct bz_reapi_outfile files[] = {{.path = BZ_STR("own")},
                                       {.path = BZ_STR("shared")}};
    struct bz_reapi_aux aux = {BZ_STR(BZ_ACTION_RECIPE), BZ_STR("zlib")};
    struct bz_reapi_result r = {.files = files, .nfiles = 2, .aux = &aux, .naux = 1};
    struct bz_digest key = key_of(n);
    enum bz_action_put how;
    struct bz_err err;
    char text[32];

    snprintf(text, sizeof(text), "of %u", n);
    assert_ok(bz_cas_put(cas, h, text, strlen(text), &files[0].digest, &err), &err);
    assert_ok(bz_cas_put(cas, h, "shared", 6, &files[1].digest, &err), &err);
    assert_ok(bz_action_put(cas, h, &key, &r, &how, &err), &err);
}

/* Closes the store and opens it anew, so that no lease protects what was made. */
static void grow_old(struct store *s)
{
    bz_cas_close(s->cas);
    usleep(20000);
    assert_ok(bz_cas_open(s->root, &writing, &s->cas, &s->err), &s->err);
    s->cas->root.touch = 0;
}

static void fill(struct store *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        file_result(s->cas, s->h, i);
    grow_old(s);
}

static struct bz_gc_stats collect(struct store *s, struct bz_gc_opts opts)
{
    struct bz_gc_stats stats;

    opts.grace = BZ_CLOCK_MS;
    assert_ok(bz_gc_run(s->cas, &opts, &stats, &s->err), &s->err);
    return stats;
}

/* How many results there are; all of them have their blobs. */
static size_t assert_whole(struct store *s)
{
    struct bz_inventory v;
    size_t n;

    assert_ok(bz_inventory_take(s->cas, NULL, NULL, &v, &s->err), &s->err);
    for (size_t i = 0; i < v.results.len; i++)
        assert_false(v.results.at[i].broken || v.results.at[i].damaged);
    n = v.results.len;
    bz_inventory_release(&v);
    return n;
}

static void without_a_policy_nothing_that_a_result_names_goes(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest lone = store_text(s, "lone");
    struct bz_gc_stats stats;

    fill(s, 10);
    stats = collect(s, (struct bz_gc_opts){0});
    assert_int_equal(stats.results, 10);
    assert_int_equal(stats.blobs, 12);
    assert_int_equal(stats.blobs_gone, 1);
    assert_int_equal(stats.results_gone, 0);
    assert_false(bz_cas_has(s->cas, &lone));
    assert_int_equal(assert_whole(s), 10);
}

static void results_go_with_what_only_they_name(void **state)
{
    struct store *s = *state;
    struct bz_gc_stats all, stats;

    fill(s, 10);
    all = collect(s, (struct bz_gc_opts){.dry_run = true});
    stats = collect(s, (struct bz_gc_opts){.policy = {.max_size = all.bytes / 2}});
    assert_true(stats.enough);
    assert_true(stats.bytes_left <= all.bytes / 2);
    assert_int_equal(stats.bytes_gone + stats.bytes_left, all.bytes);
    assert_int_equal(stats.blobs_gone, stats.results_gone);
    assert_int_equal(assert_whole(s), 10 - stats.results_gone);
    assert_in_range(stats.results_gone, 4, 7);
    stats = collect(s, (struct bz_gc_opts){.policy = {.max_age = 1}});
    assert_int_equal(stats.bytes_left, 0);
    assert_int_equal(assert_whole(s), 0);
}

static void a_dry_run_tells_the_same_and_changes_nothing(void **state)
{
    struct store *s = *state;
    struct bz_gc_policy policy = {.keep_last = 3};
    struct bz_gc_stats dry, wet;

    fill(s, 10);
    put(s->dir, "s/tmp/junk", "x");
    dry = collect(s, (struct bz_gc_opts){.policy = policy, .dry_run = true});
    assert_int_equal(assert_whole(s), 10);
    assert_int_equal(dry.results_gone, 7);
    wet = collect(s, (struct bz_gc_opts){.policy = policy});
    assert_memory_equal(&dry, &wet, sizeof(dry));
    assert_int_equal(assert_whole(s), 3);
}

static void what_a_running_process_may_use_stays(void **state)
{
    struct store *s = *state;
    struct bz_gc_stats stats;

    for (unsigned i = 0; i < 5; i++)
        file_result(s->cas, s->h, i);
    usleep(20000); /* longer than the grace: only the lease protects */
    stats = collect(s, (struct bz_gc_opts){.policy = {.max_size = 1}});
    assert_int_equal(stats.results_gone + stats.blobs_gone, 0);
    assert_false(stats.enough);
    assert_true(stats.bytes_recent > 0);
    grow_old(s);
    stats = collect(s, (struct bz_gc_opts){.policy = {.max_size = 1}});
    assert_int_equal(stats.results_gone, 5);
}

/* Somebody who comes while results go. */
struct newcomer {
    struct store *s;
    struct bz_cas *cas;
    unsigned calls;
    enum { GETS, STORES } does;
};

static void come(void *ctx, const struct bz_inventory *v,
                 const struct bz_inventory_result *r, enum bz_gc_reason why)
{
    struct newcomer *c = ctx;
    struct bz_arena a = {0};
    struct bz_reapi_result got;
    struct bz_digest last = key_of(9);
    struct bz_err err;

    (void)v;
    (void)r;
    (void)why;
    if (c->calls++ > 0)
        return;
    assert_ok(bz_cas_open(c->s->root, &writing, &c->cas, &err), &err);
    c->cas->root.touch = 0;
    if (c->does == STORES)
        file_result(c->cas, c->s->h, 100); /* names the old shared blob */
    else
        assert_ok(bz_action_get(c->cas, c->s->h, &last, BZ_ACTION_OURS, &a, &got, &err),
                  &err);
    bz_arena_release(&a);
}

static void a_result_stored_meanwhile_keeps_the_old_blob_it_names(void **state)
{
    struct newcomer c = {.s = *state, .does = STORES};
    struct bz_gc_stats stats;

    fill(c.s, 10);
    stats = collect(c.s, (struct bz_gc_opts){
                             .policy = {.max_size = 1}, .dropped = come, .ctx = &c});
    assert_int_equal(stats.results_gone, 10);
    assert_int_equal(assert_whole(c.s), 1);
    bz_cas_close(c.cas);
}

static void a_result_got_meanwhile_stays_with_its_blobs(void **state)
{
    struct newcomer c = {.s = *state, .does = GETS};
    struct bz_gc_stats stats;

    fill(c.s, 10);
    stats = collect(c.s, (struct bz_gc_opts){
                             .policy = {.max_size = 1}, .dropped = come, .ctx = &c});
    assert_int_equal(stats.results_gone, 9);
    assert_int_equal(stats.blobs_gone, 9);
    assert_int_equal(assert_whole(c.s), 1);
    bz_cas_close(c.cas);
}

/* Collectors are killed after ever longer times, from before they begin to when they
 * are done; each time every result that is left is whole. */
static void a_collector_may_be_killed_at_any_moment(void **state)
{
    struct store *s = *state;
    bool done = false;

    fill(s, 60);
    for (useconds_t wait = 500; !done; wait += wait / 8 + 100) {
        pid_t pid = fork();
        int status;

        if (pid == 0) {
            struct bz_gc_opts opts = {.grace = BZ_CLOCK_MS, .policy.max_size = 1};
            struct bz_gc_stats stats;
            struct bz_cas *own; /* for names of its own */
            struct bz_err err;

            _exit(bz_cas_open(s->root, &writing, &own, &err) < 0 ||
                  bz_gc_run(own, &opts, &stats, &err) < 0);
        }
        usleep(wait);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(assert_whole(s) <= 60);
        done = WIFEXITED(status);
    }
    grow_old(s); /* what came back out of the trash is young */
    collect(s, (struct bz_gc_opts){.policy = {.max_size = 1}});
    assert_int_equal(assert_whole(s), 0);
    assert_int_equal(store_temps(s), 0);
}

static void the_index_is_told(void **state)
{
    struct store *s = *state;
    struct bz_digest key = key_of(1);
    struct bz_index_totals totals;
    struct bz_index_action note = {.key = key};
    struct bz_reapi_digest blob = store_text(s, "lone");
    struct bz_index_blob b;
    struct bz_arena a = {0};
    enum bz_index_state how;
    struct bz_index *x;

    fill(s, 3);
    assert_ok(bz_index_open(NULL, NULL, &x, &how, &s->err), &s->err);
    bz_index_note_action(x, &note, &blob, 1);
    assert_ok(bz_index_flush(x, &s->err), &s->err);
    collect(s, (struct bz_gc_opts){.policy = {.max_size = 1}, .index = x});
    assert_false(bz_index_get_action(x, &key, &a, &note));
    assert_false(bz_index_get_blob(x, &blob.hash, &b));
    bz_index_get_totals(x, &totals);
    assert_int_equal(totals.blobs + totals.actions, 0);
    bz_index_close(x);
    bz_arena_release(&a);
}

static void a_store_that_is_only_read_is_not_collected(void **state)
{
    static const struct bz_cas_opts reading = {BZ_SHELF_READ, BZ_FS_NOSYNC};
    struct bz_gc_opts opts = {.dry_run = true};
    struct store *s = *state;
    struct bz_gc_stats stats;
    struct bz_cas *cas;

    fill(s, 3);
    assert_ok(bz_cas_open(s->root, &reading, &cas, &s->err), &s->err);
    assert_ok(bz_gc_run(cas, &opts, &stats, &s->err), &s->err);
    assert_int_equal(stats.results, 3);
    opts.dry_run = false;
    assert_int_equal(bz_gc_run(cas, &opts, &stats, &s->err), BZ_E_NOSUP);
    bz_cas_close(cas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(without_a_policy_nothing_that_a_result_names_goes),
        store_test(results_go_with_what_only_they_name),
        store_test(a_dry_run_tells_the_same_and_changes_nothing),
        store_test(what_a_running_process_may_use_stays),
        store_test(a_result_stored_meanwhile_keeps_the_old_blob_it_names),
        store_test(a_result_got_meanwhile_stays_with_its_blobs),
        store_test(a_collector_may_be_killed_at_any_moment),
        store_test(the_index_is_told),
        store_test(a_store_that_is_only_read_is_not_collected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
