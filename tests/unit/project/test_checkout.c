#include "project/checkout.h"

#include "os/proc_run.h"
#include "project/repo.h"
#include "tests/unit/project/project_test.h"

/* Runs git in a directory below the scratch directory; what it prints is dropped. */
static void git(const struct scratch *s, const char *dir, const char *const *words)
{
    static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                      "HOME=/nonexistent",
                                      "GIT_CONFIG_NOSYSTEM=1",
                                      "GIT_AUTHOR_NAME=a",
                                      "GIT_AUTHOR_EMAIL=a@example.com",
                                      "GIT_COMMITTER_NAME=a",
                                      "GIT_COMMITTER_EMAIL=a@example.com",
                                      NULL};
    const char *argv[12] = {"git"};
    struct bz_buf cwd = {0};
    struct bz_proc_spec spec = {.argv = argv, .env = env};
    struct bz_proc_result result = {0};
    struct bz_err err;

    for (size_t i = 0; words[i]; i++)
        argv[i + 1] = words[i];
    bz_buf_addf(&cwd, "%s/%s", s->path, dir);
    spec.cwd = bz_buf_text(&cwd);
    assert_ok(bz_proc_run(&spec, &result, &err), &err);
    assert_int_equal(result.exit_code, 0);
    bz_proc_pump_release_result(&result);
    bz_buf_release(&cwd);
}

#define GIT(s, dir, ...) git(s, dir, (const char *const[]){__VA_ARGS__, NULL})

/* A repository with one commit on branch `main`. */
static void make_repo(const struct scratch *s, const char *dir)
{
    struct bz_buf file = {0};

    make_dirs(s->fd, dir);
    bz_buf_addf(&file, "%s/file", dir);
    put(s->fd, bz_buf_text(&file), "text");
    bz_buf_release(&file);
    GIT(s, dir, "init", "-q", "-b", "main");
    GIT(s, dir, "add", "file");
    GIT(s, dir, "commit", "-q", "-m", "first");
}

struct fixture {
    struct bz_arena arena;
    struct bz_repo repo;
    struct bz_checkout c;
    struct bz_err err;
};

static int read_in(const struct scratch *s, const char *dir, struct fixture *f)
{
    f->repo.id = BZ_STR("r");
    f->repo.path = bz_arena_printf(&f->arena, "%s/%s", s->path, dir).p;
    return bz_checkout_read(&f->arena, &f->repo, &f->c, &f->err);
}

static void branch_commit_and_changes_are_known(void **state)
{
    struct scratch *s = *state;
    struct fixture f = {0};
    struct bz_str upstream;

    make_repo(s, "r");
    assert_ok(read_in(s, "r", &f), &f.err);
    assert_true(bz_repo_is_hash(f.c.commit));
    assert_slice(f.c.branch, "main");
    assert_false(f.c.changed);
    assert_ok(bz_checkout_upstream(&f.c, &f.repo, &upstream, &f.err), &f.err);
    assert_true(bz_str_eq(upstream, f.c.commit));
    put(s->fd, "r/untracked", "");
    assert_ok(read_in(s, "r", &f), &f.err);
    assert_false(f.c.changed);
    put(s->fd, "r/file", "other");
    GIT(s, "r", "checkout", "-q", "--detach");
    assert_ok(read_in(s, "r", &f), &f.err);
    assert_null(f.c.branch.p);
    assert_true(f.c.changed);
    bz_arena_release(&f.arena);
}

static void a_linked_work_tree_is_a_checkout_too(void **state)
{
    struct scratch *s = *state;
    struct fixture f = {0};

    make_repo(s, "r");
    GIT(s, "r", "worktree", "add", "-q", "-b", "other", "../w");
    assert_ok(read_in(s, "w", &f), &f.err);
    assert_slice(f.c.branch, "other");
    assert_false(f.c.changed);
    bz_arena_release(&f.arena);
}

static void a_repository_around_it_does_not_count(void **state)
{
    struct scratch *s = *state;
    struct fixture f = {0};

    make_repo(s, "r");
    make_dirs(s->fd, "r/inner");
    assert_int_equal(read_in(s, "r/inner", &f), BZ_E_NOENT);
    assert_non_null(strstr(f.err.msg, "r/inner is no git repository"));
    assert_int_equal(read_in(s, "nowhere", &f), BZ_E_NOENT);
    bz_arena_release(&f.arena);
}

static void without_a_commit_there_is_none(void **state)
{
    struct scratch *s = *state;
    struct fixture f = {0};
    struct bz_str upstream;

    make_dirs(s->fd, "r");
    GIT(s, "r", "init", "-q", "-b", "main");
    assert_ok(read_in(s, "r", &f), &f.err);
    assert_null(f.c.commit.p);
    assert_int_equal(bz_checkout_upstream(&f.c, &f.repo, &upstream, &f.err),
                     BZ_E_INVAL);
    bz_arena_release(&f.arena);
}

static void a_broken_repository_is_an_error_with_gits_words(void **state)
{
    struct scratch *s = *state;
    struct fixture f = {0};

    put_file(s, "r/.git", "nonsense");
    assert_int_equal(read_in(s, "r", &f), BZ_E_IO);
    assert_non_null(strstr(f.err.msg, "git status in "));
    bz_arena_release(&f.arena);
}

#define HASH "0123456789012345678901234567890123456789"

static void patches_of_kas_are_not_upstream(void **state)
{
    struct bz_checkout c = {.commit =
                                BZ_STR("ffffffffffffffffffffffffffffffffffffffff"),
                            .branch = BZ_STR("patched-" HASH)};
    struct bz_repo repo = {.id = BZ_STR("r"), .path = "/r", .npatches = 1};
    struct bz_str upstream;
    struct bz_err err;

    (void)state;
    assert_ok(bz_checkout_upstream(&c, &repo, &upstream, &err), &err);
    assert_slice(upstream, HASH);
    c.branch = BZ_STR("patched-main");
    assert_int_equal(bz_checkout_upstream(&c, &repo, &upstream, &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "patched-main"));
    repo.npatches = 0;
    assert_ok(bz_checkout_upstream(&c, &repo, &upstream, &err), &err);
    assert_true(bz_str_eq(upstream, c.commit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(branch_commit_and_changes_are_known),
        scratch_test(a_linked_work_tree_is_a_checkout_too),
        scratch_test(a_repository_around_it_does_not_count),
        scratch_test(without_a_commit_there_is_none),
        scratch_test(a_broken_repository_is_an_error_with_gits_words),
        cmocka_unit_test(patches_of_kas_are_not_upstream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
