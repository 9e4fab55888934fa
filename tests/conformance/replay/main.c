/* main.c - replays calls that were recorded from BitBake's own tests.
 *
 * usage: conformance_replay [-v] [-t] DIRECTORY
 *
 * A line of a .jsonl file is one test: {"test": name, "ops": [{"op": "setVar", "args":
 * [...], "store": 0, "ret": ...}, ...]}. Each op is called with the same arguments and
 * its result compared. One that needs an interpreter, or something that does not exist
 * yet, is counted as such, and so is every later op on a store it would have changed.
 * "@TMP@" stands for a folder of the test's own. The exit code says whether any op
 * failed; with -v every test that did not pass is named. With -t the store of each op
 * is first written as a table and read again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "codec/json.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/fs_remove.h"
#include "os/path.h"
#include "run.h"

enum { FILE_MAX_BYTES = 64 << 20 };

/* How many calls, and how many tests, ended how. */
struct tally {
    unsigned calls[REPLAY_VERDICTS], lines[REPLAY_VERDICTS];
};

struct session {
    struct bz_path folder; /* for the files of the test under way */
    bool verbose, tables;
    struct tally total;
};

static const char *const verdict_names[] = {
    [REPLAY_PASSED] = "passed",
    [REPLAY_PYTHON] = "needs Python",
    [REPLAY_NOT_YET] = "not yet",
    [REPLAY_FAILED] = "failed",
};

/* A test is worth what the worst of its ops is; the verdicts are in that order. */
static void run_test(const struct session *session, const struct bz_doc *test,
                     struct tally *tally)
{
    const struct bz_doc *name = bz_doc_find(test, "test");
    const struct bz_doc *list = bz_doc_find(test, "ops");
    struct replay_run r = {.test = name ? name->text.p : "?",
                           .dir = session->folder.s,
                           .tables = session->tables};
    enum replay_verdict worst = REPLAY_PASSED;
    char why[sizeof(r.why)] = "";

    for (size_t i = 0; list && i < list->count; i++) {
        enum replay_verdict verdict = replay_run_op(&r, &list->items[i]);

        tally->calls[verdict]++;
        if (verdict > worst) {
            worst = verdict;
            snprintf(why, sizeof(why), "%s", r.why);
        }
        if (verdict == REPLAY_FAILED && r.why[0])
            fprintf(stderr, "%s: op %zu, %.*s: %s\n", r.test, i,
                    BZ_STR_ARG(bz_doc_find(&list->items[i], "op")->text), r.why);
    }
    tally->lines[worst]++;
    if (session->verbose && worst != REPLAY_PASSED)
        printf("%s: %s: %s\n", r.test, verdict_names[worst], why);
    replay_run_release(&r);
}

/* The line with the real folder in it. */
static struct bz_str settle(const struct session *session, struct bz_arena *arena,
                            struct bz_str line)
{
    const struct bz_str mark = BZ_STR("@TMP@");
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    for (size_t at; (at = bz_str_find(line, mark)) != BZ_STR_NONE;) {
        bz_buf_add(&out, line.p, at);
        bz_buf_add_str(&out, bz_path_str(&session->folder));
        line = bz_str_sub(line, at + mark.n, line.n);
    }
    bz_buf_add_str(&out, line);
    return bz_arena_dup(arena, bz_buf_str(&out));
}

static int run_lines(const struct session *session, struct bz_str rest,
                     struct tally *tally, struct bz_err *err)
{
    struct bz_str line;

    while (bz_str_next_part(&rest, '\n', &line)) {
        struct bz_arena arena = {0};
        const struct bz_doc *test = NULL;
        int rc;

        if (bz_str_trim(line).n == 0)
            continue;
        rc = bz_json_parse(&arena, settle(session, &arena, line), NULL, &test, err);
        if (rc == 0)
            run_test(session, test, tally);
        bz_arena_release(&arena);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void show(const char *file, const char *what, const unsigned n[REPLAY_VERDICTS])
{
    printf("%-20s %-5s %5u passed %5u need Python %5u not yet %5u failed\n", file, what,
           n[REPLAY_PASSED], n[REPLAY_PYTHON], n[REPLAY_NOT_YET], n[REPLAY_FAILED]);
}

static void show_both(const char *file, const struct tally *t)
{
    show(file, "calls", t->calls);
    show(file, "lines", t->lines);
}

static int run_file(struct session *session, const char *dir, const char *name,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct tally tally = {0};
    struct bz_path path;
    size_t n;
    int rc = bz_path_join(bz_str_from(dir), bz_str_from(name), &path, err);

    if (rc == 0)
        rc = bz_fs_read(AT_FDCWD, path.s, FILE_MAX_BYTES, &text, &n, err);
    if (rc == 0)
        rc = run_lines(session, bz_str_of(text, n), &tally, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s", name);
    show_both(name, &tally);
    for (int i = 0; i < REPLAY_VERDICTS; i++) {
        session->total.calls[i] += tally.calls[i];
        session->total.lines[i] += tally.lines[i];
    }
    return 0;
}

static int run_dir(struct session *session, const char *dir, struct bz_err *err)
{
    struct bz_fs_list list = {0};
    int rc = bz_fs_list_dir(AT_FDCWD, dir, &list, err);

    for (size_t i = 0; rc == 0 && i < list.n; i++)
        if (bz_str_ends(bz_str_from(list.names[i]), BZ_STR(".jsonl")))
            rc = run_file(session, dir, list.names[i], err);
    bz_fs_list_release(&list);
    return rc;
}

static void drop_line(void *ctx, enum bz_log_level level, const char *line, size_t n)
{
    (void)ctx;
    (void)level;
    (void)line;
    (void)n;
}

/* Tests run in folders of their own, so the directory is made absolute first. */
static int replay(struct session *session, const char *dir, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *where = realpath(dir, NULL);
    char scratch[] = "/tmp/bz-replay-XXXXXX";
    int rc;

    if (!where || !mkdtemp(scratch))
        return bz_fail_sys(err, "open it");
    rc = bz_path_join(bz_str_from(scratch), BZ_STR("test"), &session->folder, err);
    if (rc == 0)
        rc = run_dir(session, where, err);
    return bz_fs_remove(AT_FDCWD, scratch, err) < 0 ? -1 : rc;
}

int main(int argc, char **argv)
{
    static const struct bz_log_sink quiet = {drop_line, NULL};
    struct session session = {0};
    struct bz_err err;

    for (int i = 1; i + 1 < argc; i++) {
        session.verbose |= strcmp(argv[i], "-v") == 0;
        session.tables |= strcmp(argv[i], "-t") == 0;
    }
    if (argc != 2 + session.verbose + session.tables) {
        fprintf(stderr, "usage: conformance_replay [-v] [-t] DIRECTORY-OF-JSONL\n");
        return 2;
    }
    bz_log_set_sink(&quiet); /* the recorded tests provoke warnings */
    if (replay(&session, argv[argc - 1], &err) < 0) {
        fprintf(stderr, "%s: %s\n", argv[argc - 1], err.msg);
        return 1;
    }
    show_both("total", &session.total);
    return session.total.calls[REPLAY_FAILED] > 0 ||
           session.total.calls[REPLAY_PASSED] == 0;
}
