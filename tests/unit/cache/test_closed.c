#include "cache/closed.h"

#include <sys/wait.h>

#include "tests/unit/cache/forest.h"

#define NOBODY 65534

/* Root opens everything, so the tests are an ordinary user's. Returns its exit code. */
static int as_user(const char *home, int (*fn)(const char *home))
{
    pid_t pid;
    int status;

    if (geteuid() == 0)
        assert_int_equal(chown(home, NOBODY, NOBODY), 0);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
            _exit(99);
        _exit(chdir(home) < 0 ? 98 : fn(home));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static mode_t mode_of(const char *path)
{
    struct stat st;

    return lstat(path, &st) < 0 ? 0xffff : st.st_mode & 07777;
}

static int open_each(const char *home)
{
    char byte = 0;
    mode_t mode = 0;
    int fd;

    (void)home;
    put(AT_FDCWD, "f", "x");
    if (chmod("f", 04111) < 0 || mkdir("d", 0755) < 0 || mkdir("r", 0755) < 0)
        return 1;
    put(AT_FDCWD, "d/f", "x");
    put(AT_FDCWD, "r/f", "x");
    if (chmod("d", 0) < 0 || chmod("r", 0444) < 0 || symlink("f", "l") < 0)
        return 2;
    fd = bz_closed_file(AT_FDCWD, "f", &mode);
    if (fd < 0 || mode != 04111 || mode_of("f") != 04111 || read(fd, &byte, 1) != 1)
        return 3;
    close(fd);
    fd = bz_closed_dir(AT_FDCWD, "d", &mode);
    if (fd < 0 || mode != 0 || mode_of("d") != 0500 || access("d/f", R_OK) < 0)
        return 4;
    bz_closed_again(fd, mode);
    if (mode_of("d") != 0)
        return 5;
    close(fd);
    fd = open("r", O_RDONLY | O_DIRECTORY);
    if (access("r/f", R_OK) == 0 || !bz_closed_enter(fd, 0444) ||
        access("r/f", R_OK) < 0)
        return 6;
    bz_closed_again(fd, 0444);
    if (mode_of("r") != 0444 || bz_closed_enter(fd, 0555))
        return 7;
    close(fd);
    /* Neither links nor what is of another kind, and nothing of others. */
    if (bz_closed_file(AT_FDCWD, "l", &mode) >= 0 ||
        bz_closed_file(AT_FDCWD, "d", &mode) >= 0 ||
        bz_closed_dir(AT_FDCWD, "f", &mode) >= 0 ||
        bz_closed_dir(AT_FDCWD, "/", &mode) >= 0 ||
        bz_closed_file(AT_FDCWD, "nowhere", &mode) >= 0)
        return 8;
    return 0;
}

static void what_is_closed_to_its_owner_is_opened(void **state)
{
    struct scratch *s = *state;

    assert_int_equal(as_user(s->path, open_each), 0);
}

struct closing {
    struct bz_arena arena;
    struct BZ_VEC(const char *) paths;
};

static int note_path(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct closing *c = ctx;

    (void)err;
    if (S_ISDIR(e->st->st_mode) || S_ISREG(e->st->st_mode))
        BZ_VEC_PUSH(&c->paths, bz_arena_dup(&c->arena, bz_str_from(e->path)).p);
    return BZ_FS_WALK_ON;
}

/* Closes some files and directories, the innermost first. */
static int close_some(const char *tree, unsigned seed)
{
    static const mode_t modes[] = {04111, 0311, 0444, 0222, 0};
    struct closing c = {0};
    struct bz_err err;
    int fd = open(tree, O_RDONLY | O_DIRECTORY);
    int rc = bz_fs_walk(AT_FDCWD, tree, note_path, &c, &err);

    while (rc == 0 && c.paths.len > 0) {
        size_t n = c.paths.len + seed;
        const char *path = BZ_VEC_POP(&c.paths);

        if (n % 3 == 0)
            rc = fchmodat(fd, path, modes[n / 3 % BZ_COUNTOF(modes)], 0);
    }
    close(fd);
    bz_vec_release(&c.paths);
    bz_arena_release(&c.arena);
    return rc;
}

/* Equal trees have equal names: so what comes back is what went in. */
static int pass(struct bz_cas *cas, struct bz_pool *pool, unsigned seed)
{
    const struct bz_tree_in in = {.threads = {.pool = pool},
                                  .how =
                                      seed % 2 ? BZ_CAS_FILE_COPY : BZ_CAS_FILE_ADOPT};
    const struct bz_tree_out out = {.threads = {.pool = pool},
                                    .check = BZ_CAS_FILE_CHANGED};
    const struct bz_tree_out hash = {.threads = {.pool = pool}};
    struct bz_reapi_digest a, b, c;
    struct bz_tree_stats stats;
    struct bz_err err;
    char from[16], to[16];

    snprintf(from, sizeof(from), "from%u", seed);
    snprintf(to, sizeof(to), "to%u", seed);
    forest_make(AT_FDCWD, from, seed, 30 + 10 * seed);
    if (close_some(from, seed) < 0)
        return 3;
    if (bz_tree_store(cas, AT_FDCWD, from, &in, &a, &stats, &err) < 0 ||
        bz_tree_store(cas, AT_FDCWD, from, &in, &b, &stats, &err) < 0 ||
        bz_tree_restore(cas, &a, AT_FDCWD, to, &out, &stats, &err) < 0 ||
        bz_tree_check(cas, &a, AT_FDCWD, to, &out, &err) < 0 ||
        bz_tree_check(cas, &a, AT_FDCWD, to, &hash, &err) < 0 ||
        bz_tree_store(cas, AT_FDCWD, to, &in, &c, &stats, &err) < 0) {
        print_error("%u: %s\n", seed, err.msg);
        return 1;
    }
    return bz_digest_eq(&a.hash, &b.hash) && bz_digest_eq(&a.hash, &c.hash) ? 0 : 2;
}

static int pass_all(const char *home)
{
    const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    const struct bz_pool_opts threads = {.compute = 2};
    struct bz_pool *pool;
    struct bz_cas *cas;
    struct bz_err err;
    int rc = 0;

    (void)home;
    if (bz_pool_new(&threads, &pool, &err) < 0 ||
        bz_cas_open("s", &opts, &cas, &err) < 0)
        return 10;
    for (unsigned seed = 0; seed < 20 && rc == 0; seed++)
        rc = pass(cas, pool, seed);
    bz_cas_close(cas);
    bz_pool_free(pool);
    return rc;
}

static void random_trees_of_an_ordinary_user_come_back(void **state)
{
    struct scratch *s = *state;

    assert_int_equal(as_user(s->path, pass_all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_closed_to_its_owner_is_opened,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(random_trees_of_an_ordinary_user_come_back,
                                        scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
