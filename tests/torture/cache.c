/* Processes store trees in one directory and restore what others stored, while some are
 * killed and files of the store are cut, flipped and removed. Whatever is restored must
 * be right, and nothing may be left that a sweep does not remove. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "cache/action.h"
#include "os/clock.h"
#include "tests/unit/cache/forest.h"

#define SEEDS 6
#define ENTRIES 40
#define MAX_PROCESSES 256

/* Exit codes of a worker that found something wrong. */
enum {
    BAD_START = 10,
    BAD_STORE,
    BAD_PUT,
    BAD_GET,
    BAD_RESTORE,
    BAD_BYTES,
    BAD_CLEANUP
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

static void store_one(struct worker *w, unsigned seed)
{
    struct bz_digest key = key_of(seed);
    struct bz_reapi_outdir dir = {.path = BZ_STR(""), .sorted = true};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
    enum bz_action_put how;

    w->g.in.how = forest_below(&w->dice, 2) ? BZ_CAS_FILE_ADOPT : BZ_CAS_FILE_COPY;
    check(bz_tree_store(w->s.cas, w->s.dir, w->from, &w->g.in, &dir.tree, &w->g.stats,
                        &w->s.err) == 0,
          BAD_STORE, &w->s.err);
    check(bz_action_put(w->s.cas, w->s.h, &key, &r, &how, &w->s.err) == 0 &&
              how != BZ_ACTION_DIFFERENT,
          BAD_PUT, &w->s.err);
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
        rc = bz_tree_restore(w->s.cas, &r.dirs[0].tree, w->s.dir, w->to, &w->g.out,
                             &w->g.stats, &w->s.err);
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

static void work(struct store *parent, unsigned number)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct worker w = {.s.dir = parent->dir, .dice.random = number * 31 + 7};
    struct bz_pool *pool = NULL;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    check(bz_digest_hasher_new(&w.s.h, &w.s.err) == 0 &&
              bz_cas_open(parent->root, &opts, &w.s.cas, &w.s.err) == 0 &&
              bz_pool_new(&(struct bz_pool_opts){.compute = 1}, &pool, &w.s.err) == 0,
          BAD_START, &w.s.err);
    w.g.in.threads.pool = w.g.out.threads.pool = pool;
    w.g.out.check = BZ_CAS_FILE_CHECK;
    for (unsigned i = 0;; i++) {
        unsigned seed = forest_below(&w.dice, SEEDS);

        snprintf(w.from, sizeof(w.from), "from-%u-%u", number, i);
        snprintf(w.to, sizeof(w.to), "to-%u-%u", number, i);
        forest_make(w.s.dir, w.from, seed, ENTRIES);
        if (forest_below(&w.dice, 3) == 0)
            store_one(&w, seed);
        if (restore_one(&w, seed)) {
            compare(&w);
            clear(&w, w.to);
        }
        clear(&w, w.from);
    }
}

struct vandal {
    struct forest dice;
    unsigned skip;
};

/* Puts a damaged copy in the place of a file, with the right time on it: as a disk
 * would, and without touching what others have linked. */
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
    if (fd >= 0 && write(fd, bytes, n) == (ssize_t)n && futimens(fd, times) == 0)
        renameat(e->dir, "vandal", e->dir, e->name);
    close(fd);
    free(bytes);
    return BZ_FS_WALK_STOP;
}

static pid_t start(struct store *s, unsigned number)
{
    pid_t pid = fork();

    if (pid == 0)
        work(s, number);
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

static void processes_on_one_store_never_restore_wrong_bytes(void **state)
{
    struct store *s = *state;
    long n = from_env("BITZEL_TORTURE_PROCESSES", 6);
    int64_t end = bz_clock_in(from_env("BITZEL_TORTURE_SECONDS", 6) * BZ_CLOCK_S);
    struct vandal v = {.dice.random = 99};
    pid_t pids[MAX_PROCESSES];
    unsigned number = 0;

    assert_true(n > 0 && n <= MAX_PROCESSES);
    for (long i = 0; i < n; i++)
        pids[i] = start(s, number++);
    while (bz_clock_now() < end) {
        unsigned victim = forest_below(&v.dice, (unsigned)n);
        struct bz_err err;

        usleep(50000);
        v.skip = forest_below(&v.dice, 60);
        (void)!bz_fs_walk(s->dir, forest_below(&v.dice, 5) ? "s/cas" : "s/ac",
                          vandalise, &v, &err);
        bz_shelf_sweep(&s->cas->root);
        if (forest_below(&v.dice, 4) == 0) {
            stop(pids[victim]);
            pids[victim] = start(s, number++);
        }
    }
    for (long i = 0; i < n; i++)
        stop(pids[i]);
    bz_shelf_sweep(&s->cas->root);
    assert_int_equal(store_temps(s), 0);
    assert_true(store_bad(s) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(processes_on_one_store_never_restore_wrong_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
