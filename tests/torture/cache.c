/* Processes store trees in one directory, restore what others stored and collect what
 * seems old, while some are killed and files of the store are cut, flipped and removed.
 * Whatever is restored must be right, and nothing may be left that a later collection
 * does not remove. Without the vandalism, every result has its blobs at every moment.
 *
 * What is restored is hashed each time, or else, through a cache with one index for
 * all, as the default policy has it: at first use, and then if a file shows that it was
 * written to. So the vandal of that run leaves the time of its writing on files, as
 * programs do.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/log.h"
#include "cache/cache.h"
#include "cache/gc.h"
#include "os/clock.h"
#include "tests/unit/cache/forest.h"

#define SEEDS 6
#define ENTRIES 40
#define MAX_PROCESSES 256
#define ROUNDS 6                 /* with one opening of the store, that is, one lease */
#define GRACE (20 * BZ_CLOCK_MS) /* more than the clock of a file system is coarse */
#define PATIENCE (60 * BZ_CLOCK_S)

/* Exit codes of a worker that found something wrong. */
enum {
    BAD_START = 10,
    BAD_STORE,
    BAD_PUT,
    BAD_GET,
    BAD_RESTORE,
    BAD_BYTES,
    BAD_CLEANUP,
    BAD_COLLECT
};

static long from_env(const char *name, long usual)
{
    const char *text = getenv(name);

    return text ? strtol(text, NULL, 10) : usual;
}

static struct bz_digest key_of(unsigned seed)
{
    return (struct bz_digest){
        {(uint8_t)(seed + 1), 7}
    };
}

struct worker {
    struct grove g;
    struct store s;
    struct forest dice;
    struct bz_cache *cache; /* or NULL */
    char from[64], to[64];
};

static void check(bool ok, int code, const struct bz_err *err)
{
    if (ok)
        return;
    fprintf(stderr, "torture: %d: %s\n", code, err->msg);
    _exit(code);
}

static void clear(struct worker *w, const char *path)
{
    check(bz_fs_remove(w->s.dir, path, &w->s.err) == 0, BAD_CLEANUP, &w->s.err);
}

static int store_tree(struct worker *w, struct bz_reapi_digest *out)
{
    if (w->cache)
        return bz_cache_store(w->cache, w->s.dir, w->from, &w->g.in, out, &w->g.stats,
                              &w->s.err);
    return bz_tree_store(w->s.cas, w->s.dir, w->from, &w->g.in, out, &w->g.stats,
                         &w->s.err);
}

static int put_result(struct worker *w, const struct bz_digest *key,
                      const struct bz_reapi_result *r, enum bz_action_put *how)
{
    static const struct bz_cache_labels labels = {BZ_STR("zlib"), BZ_STR("do_torture")};

    return w->cache ? bz_cache_put(w->cache, w->s.h, key, r, &labels, how, &w->s.err)
                    : bz_action_put(w->s.cas, w->s.h, key, r, how, &w->s.err);
}

static void store_one(struct worker *w, unsigned seed)
{
    struct bz_digest key = key_of(seed);
    struct bz_reapi_outdir dir = {.path = BZ_STR(""), .sorted = true};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
    enum bz_action_put how;

    w->g.in.how = forest_below(&w->dice, 2) ? BZ_CAS_FILE_ADOPT : BZ_CAS_FILE_COPY;
    check(store_tree(w, &dir.tree) == 0, BAD_STORE, &w->s.err);
    if (forest_below(&w->dice, 2)) /* the lease has to do, not the grace period */
        usleep(4 * GRACE / 1000);
    check(put_result(w, &key, &r, &how) == 0 && how != BZ_ACTION_DIFFERENT, BAD_PUT,
          &w->s.err);
}

static int restore_tree(struct worker *w, const struct bz_reapi_digest *tree)
{
    if (w->cache)
        return bz_cache_restore(w->cache, tree, w->s.dir, w->to, &w->g.out, &w->g.stats,
                                &w->s.err);
    return bz_tree_restore(w->s.cas, tree, w->s.dir, w->to, &w->g.out, &w->g.stats,
                           &w->s.err);
}

/* True if there was something to restore, and it was. */
static bool restore_one(struct worker *w, unsigned seed)
{
    struct bz_digest key = key_of(seed);
    struct bz_arena a = {0};
    struct bz_reapi_result r;
    int rc = bz_action_get(w->s.cas, w->s.h, &key, BZ_ACTION_OURS, &a, &r, &w->s.err);

    check(rc == 0 || rc == BZ_E_NOENT, BAD_GET, &w->s.err);
    if (rc == 0) {
        check(r.ndirs == 1, BAD_GET, &w->s.err);
        w->g.out.how =
            forest_below(&w->dice, 3) ? BZ_CAS_FILE_LINK : BZ_CAS_FILE_PRIVATE;
        rc = restore_tree(w, &r.dirs[0].tree);
        check(rc == 0 || rc == BZ_E_NOENT, BAD_RESTORE, &w->s.err);
    }
    bz_arena_release(&a);
    return rc == 0;
}

static void compare(struct worker *w)
{
    char *a = forest_describe(w->s.h, w->s.dir, w->from);
    char *b = forest_describe(w->s.h, w->s.dir, w->to);

    w->s.err.msg[0] = '\0';
    check(strcmp(a, b) == 0, BAD_BYTES, &w->s.err);
    free(a);
    free(b);
}

/* By one of the rules, so that some of what is not in use goes. */
static void collect(struct worker *w)
{
    struct bz_gc_opts opts = {.grace = GRACE};
    struct bz_gc_stats stats;

    switch (forest_below(&w->dice, 3)) {
    case 0:
        opts.policy.max_size = 100000;
        break;
    case 1:
        opts.policy.max_age = 1;
        break;
    default:
        break; /* only what nobody names */
    }
    check(bz_gc_run(w->s.cas, &opts, &stats, &w->s.err) == 0, BAD_COLLECT, &w->s.err);
}

static void one_round(struct worker *w, unsigned number, unsigned i)
{
    unsigned seed = forest_below(&w->dice, SEEDS);

    snprintf(w->from, sizeof(w->from), "from-%u-%u", number, i);
    snprintf(w->to, sizeof(w->to), "to-%u-%u", number, i);
    forest_make(w->s.dir, w->from, seed, ENTRIES);
    if (forest_below(&w->dice, 3) == 0)
        store_one(w, seed);
    if (restore_one(w, seed)) {
        compare(w);
        clear(w, w->to);
    }
    clear(w, w->from);
    if (forest_below(&w->dice, 4) == 0)
        collect(w);
}

/* The store anew, with a new lease; `index` may be NULL. */
static void open_store(struct worker *w, const char *root, const char *index)
{
    const struct bz_cache_opts opts = {
        .root = root, .index = index, .store = {BZ_SHELF_WRITE, BZ_FS_NOSYNC}
    };
    int rc;

    if (index) {
        bz_cache_close(w->cache);
        rc = bz_cache_open(&opts, &w->cache, &w->s.err);
        w->s.cas = rc == 0 ? bz_cache_cas(w->cache) : NULL;
    } else {
        bz_cas_close(w->s.cas);
        rc = bz_cas_open(root, &opts.store, &w->s.cas, &w->s.err);
    }
    check(rc == 0, BAD_START, &w->s.err);
    w->s.cas->root.touch = 0; /* a use counts at once */
}

static void work(struct store *parent, unsigned number, const char *index)
{
    struct worker w = {.s.dir = parent->dir, .dice.random = number * 31 + 7};
    struct bz_pool *pool = NULL;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    check(bz_digest_hasher_new(&w.s.h, &w.s.err) == 0 &&
              bz_pool_new(&(struct bz_pool_opts){.compute = 1}, &pool, &w.s.err) == 0,
          BAD_START, &w.s.err);
    w.g.in.threads.pool = w.g.out.threads.pool = pool;
    w.g.out.check = BZ_CAS_FILE_CHECK;
    for (unsigned i = 0;; i++) {
        if (i % ROUNDS == 0)
            open_store(&w, parent->root, index);
        one_round(&w, number, i);
    }
}

struct vandal {
    struct forest dice;
    unsigned skip;
    bool writes; /* as a program, which cannot help leaving the time; else as a disk */
};

/* Puts a damaged copy in the place of a file, without touching what others have linked.
 */
static int vandalise(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    const struct timespec times[2] = {
        {0,              UTIME_NOW},
        {BZ_SHELF_MTIME, 0        }
    };
    struct vandal *v = ctx;
    unsigned how = forest_below(&v->dice, 3);
    char *bytes;
    size_t n;
    int fd;

    if (!S_ISREG(e->st->st_mode) || e->st->st_size == 0 || v->skip-- > 0)
        return BZ_FS_WALK_ON;
    if (how == 0 || bz_fs_read(e->dir, e->name, 1 << 20, &bytes, &n, err) < 0) {
        unlinkat(e->dir, e->name, 0);
        return BZ_FS_WALK_STOP;
    }
    fd = openat(e->dir, "vandal", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (how == 1)
        n = forest_below(&v->dice, (unsigned)n);
    else
        bytes[forest_below(&v->dice, (unsigned)n)] ^= 1;
    if (fd >= 0 && write(fd, bytes, n) == (ssize_t)n &&
        (v->writes || futimens(fd, times) == 0))
        renameat(e->dir, "vandal", e->dir, e->name);
    close(fd);
    free(bytes);
    return BZ_FS_WALK_STOP;
}

static pid_t start(struct store *s, unsigned number, const char *index)
{
    pid_t pid = fork();

    if (pid == 0)
        work(s, number, index);
    assert_true(pid > 0);
    return pid;
}

/* A worker ends only if it is killed. */
static void stop(pid_t pid)
{
    int status;

    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status))
        fail_msg("a worker found something wrong: %d", WEXITSTATUS(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

struct crowd {
    struct store *s;
    struct forest dice;
    pid_t pids[MAX_PROCESSES];
    unsigned n, number;
    const char *index; /* or NULL */
    int64_t end;
};

static void gather(struct crowd *c, struct store *s, unsigned first, const char *index)
{
    long n = from_env("BITZEL_TORTURE_PROCESSES", 6);
    long seconds = from_env("BITZEL_TORTURE_SECONDS", 3);

    assert_true(n > 0 && n <= MAX_PROCESSES);
    *c = (struct crowd){
        .s = s, .dice.random = 99, .n = (unsigned)n, .number = first, .index = index};
    c->end = bz_clock_in(seconds * BZ_CLOCK_S);
    /* Our own lease would keep everything. */
    bz_lease_close(&s->cas->root.lease);
    for (unsigned i = 0; i < c->n; i++)
        c->pids[i] = start(s, c->number++, index);
}

static void kill_one(struct crowd *c)
{
    unsigned victim = forest_below(&c->dice, c->n);

    if (forest_below(&c->dice, 4) > 0)
        return;
    stop(c->pids[victim]);
    c->pids[victim] = start(c->s, c->number++, c->index);
}

static size_t count_in(struct store *s, const char *name)
{
    char path[320];

    snprintf(path, sizeof(path), "%s/%s", s->root, name);
    return bz_fs_exists(AT_FDCWD, path) ? count_names(path) : 0;
}

/* All stop, and a collection leaves neither results nor blobs nor anything of those who
 * were killed. What it finds in the trash it takes for new: hence twice. */
static void assert_clean_end(struct crowd *c)
{
    struct bz_gc_opts opts = {.grace = GRACE, .policy.max_age = 1};
    struct bz_gc_stats stats;
    struct bz_err err;

    for (unsigned i = 0; i < c->n; i++)
        stop(c->pids[i]);
    for (int i = 0; i < 2; i++) {
        usleep(3 * GRACE / 1000);
        assert_ok(bz_gc_run(c->s->cas, &opts, &stats, &err), &err);
    }
    assert_int_equal(stats.bytes_left, 0);
    assert_int_equal(store_temps(c->s), 0);
    assert_int_equal(count_in(c->s, "trash"), 0);
    assert_int_equal(count_in(c->s, "leases"), 0);
}

/* On a busy machine it takes longer until somebody runs into the damage. */
static void torment(struct crowd *c, struct vandal *v)
{
    int64_t last = c->end + PATIENCE;
    struct bz_err err;

    while (bz_clock_now() < c->end || (store_bad(c->s) == 0 && bz_clock_now() < last)) {
        usleep(50000);
        v->skip = forest_below(&v->dice, 60);
        (void)!bz_fs_walk(c->s->dir, forest_below(&v->dice, 5) ? "s/cas" : "s/ac",
                          vandalise, v, &err);
        kill_one(c);
    }
    assert_clean_end(c);
    assert_true(store_bad(c->s) > 0);
}

static void processes_on_one_store_never_restore_wrong_bytes(void **state)
{
    struct vandal v = {.dice.random = 99};
    struct crowd c;

    gather(&c, *state, 0, NULL);
    torment(&c, &v);
}

static void what_was_used_before_is_right_unless_it_hides_that_it_changed(void **state)
{
    struct vandal v = {.dice.random = 77, .writes = true};
    struct store *s = *state;
    char index[320];
    struct crowd c;

    snprintf(index, sizeof(index), "%s/state/index.db", s->scratch->path);
    bz_log_set_level(BZ_LOG_ERROR); /* damage is no news here */
    gather(&c, s, 2000, index);
    torment(&c, &v);
    bz_log_set_level(BZ_LOG_WARN);
}

/* The file of a result, to tell whether it is still the same one. */
static ino_t inode_of(struct store *s, const struct bz_digest *key)
{
    char path[128];
    struct stat st;

    return fstatat(s->dir, store_path("ac", key, path), &st, 0) == 0 ? st.st_ino : 0;
}

/* A result may go between two looks, and its blobs after it. But one that lacks a blob
 * and is then still there, and lacks it still, breaks the promise. */
static size_t count_broken(struct store *s)
{
    struct bz_inventory first, again;
    size_t broken = 0;
    struct bz_err err;

    assert_ok(bz_inventory_take(s->cas, NULL, NULL, &first, &err), &err);
    for (size_t i = 0; i < first.results.len; i++) {
        const struct bz_digest *key = &first.results.at[i].key;
        ino_t inode = inode_of(s, key);

        if (!first.results.at[i].broken || inode == 0)
            continue;
        usleep(20000);
        assert_ok(bz_inventory_take(s->cas, NULL, NULL, &again, &err), &err);
        for (size_t k = 0; k < again.results.len; k++)
            broken += bz_digest_eq(&again.results.at[k].key, key) &&
                      again.results.at[k].broken && inode_of(s, key) == inode;
        bz_inventory_release(&again);
    }
    bz_inventory_release(&first);
    return broken;
}

static void no_result_ever_lacks_a_blob(void **state)
{
    struct crowd c;
    unsigned looks = 0;

    gather(&c, *state, 1000, NULL);
    while (bz_clock_now() < c.end) {
        usleep(20000);
        assert_int_equal(count_broken(c.s), 0);
        looks++;
        kill_one(&c);
    }
    assert_true(looks > 3);
    assert_clean_end(&c);
    assert_int_equal(store_bad(c.s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(processes_on_one_store_never_restore_wrong_bytes),
        store_test(what_was_used_before_is_right_unless_it_hides_that_it_changed),
        store_test(no_result_ever_lacks_a_blob),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
