/* Replays calls that were recorded from BitBake's own tests on our variable store.
 *
 * A line of a .jsonl file is one test: {"test": name, "ops": [{"op": "setVar", "args":
 * [...], "store": 0, "ret": ...}, ...]}. Each op is called with the same arguments and
 * its result compared. One that needs an interpreter, or something that does not exist
 * yet, is counted as such, and so is every later op on a store it would have changed.
 * The exit code says whether any of them failed.
 */
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "codec/json.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/path.h"
#include "run.h"

enum { FILE_MAX_BYTES = 64 << 20 };

/* How many calls, and how many tests, ended how. */
struct tally {
    unsigned calls[REPLAY_VERDICTS], lines[REPLAY_VERDICTS];
};

/* A test is worth what the worst of its ops is; the verdicts are in that order. */
static void run_test(const struct bz_doc *test, struct tally *tally)
{
    const struct bz_doc *name = bz_doc_find(test, "test");
    const struct bz_doc *list = bz_doc_find(test, "ops");
    struct replay_run r = {.test = name ? name->text.p : "?"};
    enum replay_verdict worst = REPLAY_PASSED;

    for (size_t i = 0; list && i < list->count; i++) {
        enum replay_verdict verdict = replay_run_op(&r, &list->items[i]);

        tally->calls[verdict]++;
        if (verdict > worst)
            worst = verdict;
        if (verdict == REPLAY_FAILED)
            fprintf(stderr, "%s: op %zu, %.*s: %s\n", r.test, i,
                    BZ_STR_ARG(bz_doc_find(&list->items[i], "op")->text), r.why);
    }
    tally->lines[worst]++;
    replay_run_release(&r);
}

static int run_lines(struct bz_str rest, struct tally *tally, struct bz_err *err)
{
    struct bz_str line;

    while (bz_str_next_part(&rest, '\n', &line)) {
        struct bz_arena arena = {0};
        const struct bz_doc *test = NULL;
        int rc;

        if (bz_str_trim(line).n == 0)
            continue;
        rc = bz_json_parse(&arena, line, NULL, &test, err);
        if (rc == 0)
            run_test(test, tally);
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

static int run_file(const char *dir, const char *name, struct tally *total,
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
        rc = run_lines(bz_str_of(text, n), &tally, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s", name);
    show_both(name, &tally);
    for (int i = 0; i < REPLAY_VERDICTS; i++) {
        total->calls[i] += tally.calls[i];
        total->lines[i] += tally.lines[i];
    }
    return 0;
}

static int run_dir(const char *dir, struct tally *total, struct bz_err *err)
{
    struct bz_fs_list list = {0};
    int rc = bz_fs_list_dir(AT_FDCWD, dir, &list, err);

    for (size_t i = 0; rc == 0 && i < list.n; i++)
        if (bz_str_ends(bz_str_from(list.names[i]), BZ_STR(".jsonl")))
            rc = run_file(dir, list.names[i], total, err);
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

int main(int argc, char **argv)
{
    static const struct bz_log_sink quiet = {drop_line, NULL};
    struct tally total = {0};
    struct bz_err err;

    if (argc != 2) {
        fprintf(stderr, "usage: conformance_replay DIRECTORY-OF-JSONL\n");
        return 2;
    }
    bz_log_set_sink(&quiet); /* the recorded tests provoke warnings */
    if (run_dir(argv[1], &total, &err) < 0) {
        fprintf(stderr, "%s: %s\n", argv[1], err.msg);
        return 1;
    }
    show_both("total", &total);
    return total.calls[REPLAY_FAILED] > 0 || total.calls[REPLAY_PASSED] == 0;
}
