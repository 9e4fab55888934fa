#include "report/eventlog.h"

#include <fcntl.h>
#include <unistd.h>

#include "codec/json.h"
#include "os/clock.h"
#include "tests/unit/os/scratch.h"

/* Two tasks, the second after the first by way of one that is noexec. */
enum { A, PASS, B, TASKS };

struct desk {
    struct scratch *scratch;
    struct bz_facts_task facts[TASKS];
    struct bz_tgraph_task tasks[TASKS];
    struct bz_tgraph graph;
    struct bz_str names[TASKS];
    struct bz_digest key;
    unsigned opened;
    struct bz_eventlog *log;
    struct bz_arena arena;
    struct bz_err err;
};

static int open_file(void *ctx, int *fd, struct bz_err *err)
{
    struct desk *d = ctx;

    d->opened++;
    *fd = openat(d->scratch->fd, "log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return *fd < 0 ? bz_fail_sys(err, "open log") : 0;
}

static int setup(void **state)
{
    static const struct bz_dag_edge edges[] = {
        {PASS, A   },
        {B,    PASS}
    };
    static const char *const names[] = {"a:do_x", "b:do_pass", "b:do_y"};
    struct desk *d = calloc(1, sizeof(*d));
    void *scratch;

    if (scratch_setup(&scratch) < 0)
        return -1;
    d->scratch = scratch;
    d->facts[PASS].noexec = true;
    for (uint32_t t = 0; t < TASKS; t++) {
        d->tasks[t].facts = &d->facts[t];
        d->names[t] = bz_str_from(names[t]);
    }
    d->graph.tasks = d->tasks;
    bz_dag_build(&d->graph.dag, TASKS, edges, BZ_COUNTOF(edges));
    *state = d;
    return 0;
}

static int teardown(void **state)
{
    struct desk *d = *state;
    void *scratch = d->scratch;

    bz_dag_release(&d->graph.dag);
    bz_arena_release(&d->arena);
    free(d);
    return scratch_teardown(&scratch);
}

static void begin(struct desk *d, bool lazy)
{
    static const char *const targets[] = {"b"};

    d->log = bz_eventlog_new(&(struct bz_eventlog_opts){.version = "1.2.3",
                                                        .graph = &d->graph,
                                                        .names = d->names,
                                                        .targets = targets,
                                                        .ntargets = 1,
                                                        .jobs = 4,
                                                        .open = open_file,
                                                        .open_ctx = d,
                                                        .lazy = lazy});
}

static void tell(struct desk *d, struct bz_event e)
{
    e.key = &d->key;
    bz_eventlog_write(d->log, &e);
}

/* The lines of the log as JSON; their number. */
static size_t read_lines(struct desk *d, const struct bz_doc *lines[20])
{
    char *text = bz_arena_alloc(&d->arena, 10000, 1);
    int fd = openat(d->scratch->fd, "log", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, 10000);
    struct bz_str rest = bz_str_of(text, (size_t)n), line;
    size_t count = 0;

    assert_true(n > 0);
    close(fd);
    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line)) {
        if (line.n == 0)
            continue;
        assert_true(count < 20);
        assert_ok(bz_json_parse(&d->arena, line, NULL, &lines[count++], &d->err),
                  &d->err);
    }
    return count;
}

static void assert_text(const struct bz_doc *line, const char *key, const char *want)
{
    const struct bz_doc *value = bz_doc_find(line, key);

    assert_non_null(value);
    assert_string_equal(value->text.p, want);
}

static void every_event_is_a_line_when_it_happens(void **state)
{
    struct desk *d = *state;
    const struct bz_doc *lines[20];

    begin(d, false);
    tell(d, (struct bz_event){.kind = BZ_EVENT_CACHED,
                              .task = A,
                              .same = true,
                              .saved = 250 * BZ_CLOCK_MS});
    assert_int_equal(read_lines(d, lines), 2);
    tell(d, (struct bz_event){.kind = BZ_EVENT_PLANNED, .counts.tasks = 3});
    tell(d, (struct bz_event){.kind = BZ_EVENT_STARTED, .task = B});
    tell(d, (struct bz_event){.kind = BZ_EVENT_PROGRESS, .task = B, .what = "x"});
    tell(d, (struct bz_event){.kind = BZ_EVENT_FAILED,
                              .task = B,
                              .ns = 1500 * BZ_CLOCK_MS,
                              .exit_code = 3,
                              .oom_kills = 2,
                              .log = "/l"});
    tell(d, (struct bz_event){.kind = BZ_EVENT_ENDED, .counts.failed = 1});
    assert_int_equal(read_lines(d, lines), 8);
    assert_text(lines[0], "event", "begin");
    assert_text(lines[0], "bitzel", "1.2.3");
    assert_int_equal(bz_doc_find(lines[0], "version")->i, BZ_EVENTLOG_VERSION);
    assert_true(bz_doc_find(lines[1], "same")->b);
    assert_true(bz_doc_find(lines[1], "saved")->r == 0.25);
    assert_text(lines[3], "event", "passed");
    assert_text(lines[3], "task", "b:do_pass");
    assert_string_equal(bz_doc_find(lines[3], "after")->items[0].text.p, "a:do_x");
    assert_text(lines[4], "event", "started");
    assert_int_equal(bz_doc_find(lines[6], "exit_code")->i, 3);
    assert_true(bz_doc_find(lines[6], "took")->r == 1.5);
    assert_null(bz_doc_find(lines[6], "signal"));
    assert_int_equal(bz_doc_find(lines[6], "oom_kills")->i, 2);
    assert_int_equal(bz_doc_find(lines[7], "failed")->i, 1);
    assert_ok(bz_eventlog_close(d->log, &d->err), &d->err);
}

static void an_overlap_names_both_tasks(void **state)
{
    struct desk *d = *state;
    const struct bz_doc *lines[20];

    begin(d, false);
    tell(d,
         (struct bz_event){
             .kind = BZ_EVENT_OVERLAP, .task = A, .other = B, .what = "f", .more = 2});
    assert_int_equal(read_lines(d, lines), 2);
    assert_text(lines[1], "event", "overlap");
    assert_text(lines[1], "task", "a:do_x");
    assert_text(lines[1], "other", "b:do_y");
    assert_text(lines[1], "path", "f");
    assert_int_equal(bz_doc_find(lines[1], "more")->i, 2);
    assert_ok(bz_eventlog_close(d->log, &d->err), &d->err);
}

static void a_task_that_made_something_else_is_named(void **state)
{
    struct desk *d = *state;
    const struct bz_doc *lines[20];

    begin(d, false);
    tell(d, (struct bz_event){.kind = BZ_EVENT_DIFFERS, .task = B});
    assert_int_equal(read_lines(d, lines), 2);
    assert_text(lines[1], "event", "differs");
    assert_text(lines[1], "task", "b:do_y");
    assert_null(bz_doc_find(lines[1], "after"));
    assert_ok(bz_eventlog_close(d->log, &d->err), &d->err);
}

static void traffic_is_told_with_its_place(void **state)
{
    struct desk *d = *state;
    const struct bz_doc *lines[20];

    begin(d, false);
    tell(d, (struct bz_event){.kind = BZ_EVENT_FETCHED,
                              .task = B,
                              .what = "http://x/y",
                              .bytes = 7,
                              .ns = 500 * BZ_CLOCK_MS});
    tell(d, (struct bz_event){
                .kind = BZ_EVENT_TRAFFIC,
                .place = {.name = "dir:/x",
                          .kind = "directory",
                          .hits = 2,
                          .bytes_read = 5,
                          .blobs_written = 6}
    });
    assert_int_equal(read_lines(d, lines), 3);
    assert_text(lines[1], "event", "fetched");
    assert_text(lines[1], "task", "b:do_y");
    assert_text(lines[1], "what", "http://x/y");
    assert_int_equal(bz_doc_find(lines[1], "bytes")->i, 7);
    assert_true(bz_doc_find(lines[1], "took")->r == 0.5);
    assert_text(lines[2], "event", "traffic");
    assert_text(lines[2], "place", "dir:/x");
    assert_text(lines[2], "kind", "directory");
    assert_int_equal(bz_doc_find(lines[2], "hits")->i, 2);
    assert_int_equal(bz_doc_find(lines[2], "bytes_read")->i, 5);
    assert_int_equal(bz_doc_find(lines[2], "blobs_written")->i, 6);
    assert_null(bz_doc_find(lines[2], "task"));
    assert_ok(bz_eventlog_close(d->log, &d->err), &d->err);
}

static void a_lazy_log_begins_when_a_task_does(void **state)
{
    struct desk *d = *state;
    const struct bz_doc *lines[20];

    begin(d, true);
    tell(d, (struct bz_event){.kind = BZ_EVENT_CACHED, .task = A});
    assert_int_equal(d->opened, 0);
    tell(d, (struct bz_event){.kind = BZ_EVENT_STARTED, .task = B});
    assert_int_equal(d->opened, 1);
    assert_int_equal(read_lines(d, lines), 4);
    tell(d, (struct bz_event){.kind = BZ_EVENT_DONE, .task = B});
    assert_int_equal(read_lines(d, lines), 5);
    assert_ok(bz_eventlog_close(d->log, &d->err), &d->err);
    begin(d, true);
    tell(d, (struct bz_event){.kind = BZ_EVENT_CACHED, .task = A});
    assert_ok(bz_eventlog_close(d->log, &d->err), &d->err);
    assert_int_equal(d->opened, 1);
}

static void a_lazy_log_of_a_build_that_ran_nothing_is_written_at_its_end(void **state)
{
    struct desk *d = *state;
    const struct bz_doc *lines[20];

    begin(d, true);
    tell(d, (struct bz_event){.kind = BZ_EVENT_CACHED, .task = A});
    tell(d, (struct bz_event){.kind = BZ_EVENT_PLANNED});
    assert_int_equal(d->opened, 0);
    tell(d, (struct bz_event){.kind = BZ_EVENT_ENDED});
    assert_int_equal(d->opened, 1);
    assert_int_equal(read_lines(d, lines), 4);
    assert_ok(bz_eventlog_close(d->log, &d->err), &d->err);
}

static void what_is_not_needed_goes_out_with_the_next_event(void **state)
{
    struct desk *d = *state;
    const struct bz_doc *lines[20];

    begin(d, false);
    tell(d, (struct bz_event){
                .kind = BZ_EVENT_UNNEEDED, .task = A, .saved = 3 * BZ_CLOCK_S});
    tell(d, (struct bz_event){.kind = BZ_EVENT_UNNEEDED, .task = B});
    assert_int_equal(d->opened, 0);
    tell(d, (struct bz_event){.kind = BZ_EVENT_PLANNED, .saved = 3 * BZ_CLOCK_S});
    assert_int_equal(read_lines(d, lines), 4);
    assert_text(lines[1], "event", "unneeded");
    assert_true(bz_doc_find(lines[1], "saved")->r == 3);
    assert_null(bz_doc_find(lines[2], "saved"));
    assert_true(bz_doc_find(lines[3], "saved")->r == 3);
    assert_ok(bz_eventlog_close(d->log, &d->err), &d->err);
}

static int open_full(void *ctx, int *fd, struct bz_err *err)
{
    (void)ctx;
    *fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    return *fd < 0 ? bz_fail_sys(err, "open /dev/full") : 0;
}

static void what_cannot_be_written_is_told_at_the_end(void **state)
{
    struct desk *d = *state;

    d->log = bz_eventlog_new(&(struct bz_eventlog_opts){
        .version = "1", .graph = &d->graph, .names = d->names, .open = open_full});
    tell(d, (struct bz_event){.kind = BZ_EVENT_PLANNED});
    tell(d, (struct bz_event){.kind = BZ_EVENT_ENDED});
    assert_true(bz_eventlog_close(d->log, &d->err) < 0);
    assert_non_null(strstr(d->err.msg, "event log"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(every_event_is_a_line_when_it_happens),
        TEST(an_overlap_names_both_tasks),
        TEST(a_task_that_made_something_else_is_named),
        TEST(traffic_is_told_with_its_place),
        TEST(a_lazy_log_begins_when_a_task_does),
        TEST(what_is_not_needed_goes_out_with_the_next_event),
        TEST(a_lazy_log_of_a_build_that_ran_nothing_is_written_at_its_end),
        TEST(what_cannot_be_written_is_told_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
