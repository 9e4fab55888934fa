#include "cache/gc.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "cache/expanded.h"
#include "cache/trash.h"
#include "os/clock.h"
#include "os/fs_list.h"
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

static void nothing_goes_where_leases_cannot_be_read(void **state)
{
    struct store *s = *state;
    struct bz_gc_opts opts = {.policy = {.max_size = 1}, .grace = BZ_CLOCK_MS};
    struct bz_gc_stats stats;

    fill(s, 3);
    assert_ok(bz_fs_remove(s->dir, "s/leases", &s->err), &s->err);
    put(s->dir, "s/leases", "in the way");
    for (int i = 0; i < 2; i++) {
        opts.dry_run = i == 0;
        assert_int_equal(bz_gc_run(s->cas, &opts, &stats, &s->err), BZ_E_IO);
        assert_int_equal(stats.results_gone + stats.blobs_gone, 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        struct bz_digest key = key_of(i);

        assert_true(bz_action_has(s->cas, &key));
    }
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

/* As a web server files it: nobody claims the blobs. */
static void file_without_claim(struct store *s, unsigned n, unsigned of)
{
    struct bz_reapi_outfile file = {.path = BZ_STR("own")};
    struct bz_reapi_result r = {.files = &file, .nfiles = 1};
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    struct bz_digest key = key_of(n);
    char text[32], path[128];
    struct bz_err err;

    snprintf(text, sizeof(text), "of %u", of);
    file.digest.size = strlen(text);
    bz_digest_bytes(s->h, text, strlen(text), &file.digest.hash);
    assert_ok(bz_reapi_result_encode(&r, s->h, &bytes, &err), &err);
    store_path("ac", &key, path);
    *strrchr(path, '/') = '\0';
    make_dirs(s->dir, path);
    store_path("ac", &key, path);
    assert_ok(
        bz_fs_write(s->dir, path, bytes.data, bytes.len, 0644, BZ_FS_NOSYNC, &err),
        &err);
}

static void come_by_web(void *ctx, const struct bz_inventory *v,
                        const struct bz_inventory_result *r, enum bz_gc_reason why)
{
    struct newcomer *c = ctx;
    struct bz_digest first = key_of(0);

    (void)v;
    (void)why;
    if (c->calls++ == 0)
        file_without_claim(c->s, 100, 5);
    if (bz_digest_eq(&r->key, &first))
        file_without_claim(c->s, 0, 7); /* under a key that has just gone */
}

static void a_result_that_a_web_server_files_meanwhile_keeps_its_blobs(void **state)
{
    struct newcomer c = {.s = *state};
    struct bz_gc_stats stats;

    fill(c.s, 10);
    stats =
        collect(c.s, (struct bz_gc_opts){
                         .policy = {.max_size = 1}, .dropped = come_by_web, .ctx = &c});
    assert_int_equal(stats.results_gone, 10);
    assert_int_equal(stats.blobs_gone, 9); /* of 11 */
    assert_int_equal(assert_whole(c.s), 2);
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

static void make_tree(struct store *s, const struct bz_reapi_digest *file,
                      struct bz_reapi_digest *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf dir = {0}, all = {0};
    struct bz_reapi_file f = {.name = BZ_STR("f"), .digest = *file};
    struct bz_str one;

    assert_ok(bz_reapi_dir_encode(&(struct bz_reapi_dir){.files = &f, .nfiles = 1},
                                  &dir, &s->err),
              &s->err);
    one = bz_buf_str(&dir);
    bz_reapi_tree_encode(&(struct bz_reapi_tree){.dirs = &one, .ndirs = 1}, &all);
    assert_ok(bz_cas_put(s->cas, s->h, bz_buf_text(&all), all.len, out, &s->err),
              &s->err);
}

/* A directory below trees/ with a hard link to the blob, last wanted long ago. */
static void link_out(struct store *s, const char *prefix, const struct bz_digest *name,
                     const struct bz_digest *file)
{
    static const struct timespec long_ago[2] = {
        {1000000000, 0},
        {1000000000, 0}
    };
    char hex[BZ_DIGEST_HEX_LEN + 1], dir[128], to[160], blob[128];

    bz_digest_hex(name, hex);
    snprintf(dir, sizeof(dir), "s/trees/%s%s", prefix, hex);
    snprintf(to, sizeof(to), "%s/f", dir);
    assert_ok(bz_fs_mkdirs(s->dir, dir, 0755, &s->err), &s->err);
    assert_int_equal(linkat(s->dir, store_path("cas", file, blob), s->dir, to, 0), 0);
    assert_int_equal(utimensat(s->dir, dir, long_ago, 0), 0);
}

#define LAID_OUT (UINT64_C(1) << 20)

/* A result of a tree of one file, laid out as builds do. */
static void lay_out(struct store *s, unsigned n)
{
    BZ_CLEANUP(bz_mem_freep) char *bytes = bz_mem_alloc(LAID_OUT);
    struct bz_reapi_outdir dir = {.path = BZ_STR("d")};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
    struct bz_digest key = key_of(1000 + n);
    struct bz_reapi_digest file;
    enum bz_action_put how;

    memset(bytes, (int)('a' + n), LAID_OUT);
    assert_ok(bz_cas_put(s->cas, s->h, bytes, LAID_OUT, &file, &s->err), &s->err);
    make_tree(s, &file, &dir.tree);
    assert_ok(bz_action_put(s->cas, s->h, &key, &r, &how, &s->err), &s->err);
    link_out(s, "", &dir.tree.hash, &file.hash);
    link_out(s, "merged-", &dir.tree.hash, &file.hash);
}

static size_t count_trees(struct store *s)
{
    char path[320];

    snprintf(path, sizeof(path), "%s/trees", s->root);
    return count_names(path);
}

/* What du(1) would say: every file once, whatever its names. */
struct disk {
    uint64_t bytes;
    struct BZ_VEC(ino_t) seen;
};

static int add_disk(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct disk *d = ctx;

    (void)err;
    for (size_t i = 0; i < d->seen.len; i++)
        if (d->seen.at[i] == e->st->st_ino)
            return BZ_FS_WALK_ON;
    BZ_VEC_PUSH(&d->seen, e->st->st_ino);
    if (S_ISREG(e->st->st_mode))
        d->bytes += (uint64_t)e->st->st_blocks * 512;
    return BZ_FS_WALK_ON;
}

static uint64_t disk_use(struct store *s)
{
    struct disk d = {0};

    assert_ok(bz_fs_walk(s->dir, "s", add_disk, &d, &s->err), &s->err);
    bz_vec_release(&d.seen);
    return d.bytes;
}

static void trees_that_were_laid_out_do_not_keep_what_goes(void **state)
{
    struct bz_gc_opts opts = {.policy = {.max_size = 5 * LAID_OUT / 2}};
    struct store *s = *state;
    struct bz_gc_stats stats;

    for (unsigned i = 0; i < 6; i++)
        lay_out(s, i);
    grow_old(s);
    assert_true(disk_use(s) > 6 * LAID_OUT);
    opts.dry_run = true;
    stats = collect(s, opts);
    assert_int_equal(stats.trees, 12);
    assert_true(stats.trees_gone > 0);
    assert_int_equal(count_trees(s), 12);
    opts.dry_run = false;
    stats = collect(s, opts);
    assert_true(stats.enough);
    assert_true(stats.bytes_freed >= 3 * LAID_OUT);
    assert_true(disk_use(s) <= opts.policy.max_size);
    assert_int_equal(assert_whole(s), 2);
}

static void only_trees_of_results_that_are_gone_go_without_a_policy(void **state)
{
    struct store *s = *state;
    const struct bz_digest gone = key_of(1001);
    struct bz_gc_stats stats;
    char path[128];

    lay_out(s, 0);
    lay_out(s, 1);
    assert_int_equal(unlinkat(s->dir, store_path("ac", &gone, path), 0), 0);
    grow_old(s);
    stats = collect(s, (struct bz_gc_opts){0});
    assert_int_equal(stats.trees_gone, 1);
    assert_int_equal(stats.blobs_gone, 2); /* the tree and its file */
    assert_int_equal(count_trees(s), 3);
    /* What held it as well is gone with the next result, or with its age. */
    stats = collect(s, (struct bz_gc_opts){.policy = {.max_age = BZ_CLOCK_S * 3600}});
    assert_int_equal(stats.trees_gone, 3);
    assert_int_equal(assert_whole(s), 1);
}

static void a_tree_that_somebody_wants_stays(void **state)
{
    struct bz_gc_opts opts = {.policy = {.max_size = 1}};
    struct store *s = *state;
    struct bz_fs_list list;
    char path[512];

    lay_out(s, 0);
    grow_old(s);
    assert_ok(bz_fs_list_dir(s->dir, "s/trees", &list, &s->err), &s->err);
    snprintf(path, sizeof(path), "%s/trees/%s", s->root, list.names[0]);
    usleep(20000);
    assert_true(bz_expanded_claim(&s->cas->root, path));
    assert_false(collect(s, opts).enough);
    assert_true(bz_fs_exists(AT_FDCWD, path));
    assert_int_equal(count_trees(s), 1);
    bz_fs_list_release(&list);
}

static void what_was_damaged_goes_after_its_time(void **state)
{
    struct store *s = *state;
    struct bz_reapi_digest d = store_text(s, "good");
    char path[128], *out;

    damage(s->dir, store_path("cas", &d.hash, path), 0, false);
    assert_int_equal(bz_cas_read(s->cas, s->h, &d, 99, &out, &s->err), BZ_E_NOENT);
    assert_int_equal(store_bad(s), 1);
    usleep(20000);
    assert_int_equal(collect(s, (struct bz_gc_opts){0}).bad, 0); /* a week to look */
    assert_int_equal(
        collect(s, (struct bz_gc_opts){.bad_kept = BZ_CLOCK_MS, .dry_run = true}).bad,
        1);
    assert_int_equal(store_bad(s), 1);
    assert_int_equal(collect(s, (struct bz_gc_opts){.bad_kept = BZ_CLOCK_MS}).bad, 1);
    assert_int_equal(store_bad(s), 0);
}

static void leave_failed(struct store *s, const char *task, int days)
{
    const struct timespec then = {time(NULL) - (time_t)days * 86400, 0};
    const struct timespec times[2] = {then, then};
    char path[64];

    snprintf(path, sizeof(path), "s/failed/%s", task);
    assert_ok(bz_fs_mkdirs(s->dir, path, 0755, &s->err), &s->err);
    assert_int_equal(utimensat(s->dir, path, times, 0), 0);
}

static void what_failed_tasks_left_goes_after_a_week_or_if_room_is_needed(void **state)
{
    struct store *s = *state;
    struct bz_gc_stats stats;

    fill(s, 1);
    leave_failed(s, "a:do_x", 6);
    leave_failed(s, "b:do_x", 8);
    stats = collect(s, (struct bz_gc_opts){0});
    assert_int_equal(stats.failed, 2);
    assert_int_equal(stats.failed_gone, 1);
    assert_true(bz_fs_exists(s->dir, "s/failed/a:do_x"));
    assert_false(bz_fs_exists(s->dir, "s/failed/b:do_x"));
    leave_failed(s, "c:do_x", -1); /* somebody looks at it */
    stats = collect(s, (struct bz_gc_opts){.policy.max_size = 1});
    assert_int_equal(stats.failed_gone, 1);
    assert_false(bz_fs_exists(s->dir, "s/failed/a:do_x"));
    assert_true(bz_fs_exists(s->dir, "s/failed/c:do_x"));
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
        store_test(nothing_goes_where_leases_cannot_be_read),
        store_test(a_dry_run_tells_the_same_and_changes_nothing),
        store_test(what_a_running_process_may_use_stays),
        store_test(a_result_stored_meanwhile_keeps_the_old_blob_it_names),
        store_test(a_result_that_a_web_server_files_meanwhile_keeps_its_blobs),
        store_test(a_result_got_meanwhile_stays_with_its_blobs),
        store_test(a_collector_may_be_killed_at_any_moment),
        store_test(the_index_is_told),
        store_test(trees_that_were_laid_out_do_not_keep_what_goes),
        store_test(only_trees_of_results_that_are_gone_go_without_a_policy),
        store_test(a_tree_that_somebody_wants_stays),
        store_test(what_was_damaged_goes_after_its_time),
        store_test(what_failed_tasks_left_goes_after_a_week_or_if_room_is_needed),
        store_test(a_store_that_is_only_read_is_not_collected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
