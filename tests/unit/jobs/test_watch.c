#include "jobs/watch.h"

#include <sys/file.h>

#include "tests/unit/jobs/office.h"
#include "tests/unit/os/scratch.h"

struct mail {
    void *office;
    struct office *o;
    struct scratch *scratch;
    struct bz_watch *watch;
    char dir[280];
    size_t limit;
};

static void mail_watch(struct mail *m)
{
    assert_ok(bz_watch_new(&(struct bz_watch_opts){.service = m->o->service,
                                                   .dir = m->dir,
                                                   .results = 8,
                                                   .limit = m->limit},
                           &m->watch, &m->o->err),
              &m->o->err);
}

static int mail_setup(void **state)
{
    struct mail *m = calloc(1, sizeof(*m));
    void *scratch = NULL;

    *state = m;
    if (office_setup(&m->office) < 0 || scratch_setup(&scratch) < 0)
        return -1;
    m->o = m->office;
    m->scratch = scratch;
    snprintf(m->dir, sizeof(m->dir), "%s/mail", m->scratch->path);
    return 0;
}

static int mail_teardown(void **state)
{
    struct mail *m = *state;
    void *scratch = m->scratch;

    bz_watch_free(m->watch);
    office_teardown(&m->office);
    scratch_teardown(&scratch);
    free(m);
    return 0;
}

static struct mail *mail_open(void **state, size_t limit)
{
    struct mail *m = *state;

    office_open(&m->office);
    m->limit = limit;
    mail_watch(m);
    return m;
}

static void path_of(const struct mail *m, const char *name, char path[320])
{
    snprintf(path, 320, "%s/%s", m->dir, name);
}

static void add(const struct mail *m, const char *name, const char *text)
{
    char path[320];
    FILE *f;

    path_of(m, name, path);
    f = fopen(path, "a");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* All of a file, of which the caller owns a copy; "" if there is none. */
static char *get(const struct mail *m, const char *name)
{
    char path[320], *text = NULL;
    struct bz_err err;
    size_t n;

    path_of(m, name, path);
    return bz_fs_read(AT_FDCWD, path, 1 << 20, &text, &n, &err) < 0 ? calloc(1, 1)
                                                                    : text;
}

static unsigned count_lines(const char *text)
{
    unsigned n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Waits until the file has so many lines, and returns it. */
static char *await(const struct mail *m, const char *name, unsigned lines)
{
    int64_t end = bz_clock_in(60 * BZ_CLOCK_S);
    char *text = get(m, name);

    while (count_lines(text) < lines && bz_clock_now() < end) {
        usleep(1000);
        free(text);
        text = get(m, name);
    }
    if (count_lines(text) != lines)
        fail_msg("%u lines wanted, not:\n%s", lines, text);
    return text;
}

static void expect(const struct mail *m, const char *name, const char *want)
{
    char *text = await(m, name, count_lines(want));

    assert_string_equal(text, want);
    free(text);
}

static void await_gone(const struct mail *m, const char *name)
{
    int64_t end = bz_clock_in(60 * BZ_CLOCK_S);
    char path[320];

    path_of(m, name, path);
    while (access(path, F_OK) == 0 && bz_clock_now() < end)
        usleep(1000);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void lines_become_results_with_their_place(void **state)
{
    struct mail *m = mail_open(state, 0);
    struct stat st;

    add(m, "mailbox-1.json", "{\"opcode\":3,\"task_id\":7,\"args\":{}}\n{\"opc");
    expect(m, "results-1.json",
           "{\"task_id\":7,\"status\":0,\"final\":true,\"at\":0,\"data\":\"{}\"}\n");
    add(m, "mailbox-1.json", "ode\":3,\"task_id\":8}\n\n");
    expect(m, "results-1.json",
           "{\"task_id\":7,\"status\":0,\"final\":true,\"at\":0,\"data\":\"{}\"}\n"
           "{\"task_id\":8,\"status\":0,\"final\":true,\"at\":35,\"data\":\"\"}\n");
    add(m, "mailbox-20.json", "nonsense\n");
    expect(m, "results-20.json",
           "{\"task_id\":4503599627370497,\"status\":-2,\"final\":true,\"at\":0,"
           "\"error\":\"column 1: expected an object\"}\n");
    assert_int_equal(stat(m->dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void a_result_that_was_cut_short_is_removed(void **state)
{
    struct mail *m = mail_open(state, 0);
    char text[9001];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    add(m, "results-1.json", "{\"task_id\":6}\n{\"tas");
    add(m, "results-2.json", text); /* nothing but that */
    add(m, "mailbox-1.json", "{\"opcode\":3,\"task_id\":7}\n");
    add(m, "mailbox-2.json", "{\"opcode\":3,\"task_id\":8}\n");
    expect(m, "results-1.json",
           "{\"task_id\":6}\n"
           "{\"task_id\":7,\"status\":0,\"final\":true,\"at\":0,\"data\":\"\"}\n");
    expect(m, "results-2.json",
           "{\"task_id\":8,\"status\":0,\"final\":true,\"at\":0,\"data\":\"\"}\n");
}

static void other_names_are_left_alone(void **state)
{
    static const char *const names[] = {"mailbox-01.json", "mailbox-.json",
                                        "mailbox-x.json",  "mailbox-1234567.json",
                                        "mailbox-1.json~", "mail"};
    char path[320];
    struct mail *m = mail_open(state, 0);

    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        add(m, names[i], "{\"opcode\":\"count\"}\n");
    path_of(m, "mailbox-9.json", path);
    assert_int_equal(symlink("mail", path), 0);
    add(m, "mailbox-0.json", "{\"opcode\":\"count\",\"task_id\":1}\n");
    expect(m, "results-0.json",
           "{\"task_id\":1,\"status\":0,\"final\":true,\"at\":0,\"data\":\"\"}\n");
    assert_int_equal(atomic_load(&m->o->ran), 1);
}

static void a_line_is_done_once_also_after_a_restart(void **state)
{
    struct mail *m = mail_open(state, 0);

    add(m, "mailbox-1.json",
        "{\"opcode\":\"count\",\"task_id\":1}\n"
        "{\"opcode\":\"wait\",\"task_id\":2}\n"
        "{\"opcode\":\"count\",\"task_id\":3}\n");
    free(await(m, "results-1.json", 2));
    bz_watch_free(m->watch);
    assert_int_equal(atomic_load(&m->o->ran), 2);
    add(m, "mailbox-1.json", "{\"opcode\":\"count\",\"task_id\":4}\n");
    atomic_store(&m->o->gate, 1);
    mail_watch(m);
    free(await(m, "results-1.json", 4)); /* the second and the fourth */
    assert_int_equal(atomic_load(&m->o->ran), 3);
}

static void a_mailbox_may_be_cut_removed_and_replaced(void **state)
{
    char path[320], old[320];
    struct mail *m = mail_open(state, 0);

    path_of(m, "mailbox-1.json", path);
    path_of(m, "old", old);
    add(m, "mailbox-1.json", "{\"opcode\":\"count\"}\n");
    free(await(m, "results-1.json", 1));
    assert_int_equal(truncate(path, 0), 0);
    add(m, "mailbox-1.json", "{\"opcode\":\"count\",\"task_id\":5}\n");
    free(await(m, "results-1.json", 2));
    assert_int_equal(unlink(path), 0);
    await_gone(m, ".bitzel/answered-1");
    add(m, "mailbox-1.json", "{\"opcode\":\"count\"}\n");
    free(await(m, "results-1.json", 3));
    assert_int_equal(rename(path, old), 0);
    add(m, "mailbox-1.json", "{\"opcode\":\"count\"}\n{\"opcode\":\"count\"}\n");
    free(await(m, "results-1.json", 5));
    assert_int_equal(atomic_load(&m->o->ran), 5);
}

static void who_takes_no_results_is_not_read_and_others_are(void **state)
{
    char path[320], *text;
    struct mail *m = mail_open(state, 200); /* four lines */
    int64_t end = bz_clock_in(60 * BZ_CLOCK_S);
    unsigned all = 0;

    for (int i = 0; i < 100; i++)
        add(m, "mailbox-1.json", "{\"opcode\":\"count\"}\n");
    add(m, "mailbox-2.json", "{\"opcode\":3,\"task_id\":1}\n");
    free(await(m, "results-2.json", 1));
    usleep(50000);
    text = get(m, "results-1.json");
    assert_in_range(count_lines(text), 0, 20);
    free(text);
    assert_in_range(atomic_load(&m->o->ran), 0, 40);
    path_of(m, "results-1.json", path);
    while (all < 100 && bz_clock_now() < end) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

        assert_int_equal(flock(fd, LOCK_EX), 0);
        text = get(m, "results-1.json");
        all += count_lines(text);
        free(text);
        assert_int_equal(ftruncate(fd, 0), 0);
        close(fd);
        usleep(1000);
    }
    assert_int_equal(all, 100);
    assert_int_equal(atomic_load(&m->o->ran), 100);
}

static void a_directory_is_ours_alone(void **state)
{
    struct bz_watch *second;
    struct mail *m = mail_open(state, 0);
    struct bz_watch_opts opts;

    opts = (struct bz_watch_opts){.service = m->o->service, .dir = m->dir};
    assert_int_equal(bz_watch_new(&opts, &second, &m->o->err), BZ_E_BUSY);
    assert_non_null(strstr(m->o->err.msg, "another service reads the mailboxes in"));
    bz_watch_free(m->watch);
    m->watch = NULL;
    assert_int_equal(chmod(m->dir, 0750), 0);
    assert_int_equal(bz_watch_new(&opts, &second, &m->o->err), BZ_E_INVAL);
    assert_int_equal(chmod(m->dir, 0700), 0);
}

static void parts_of_results_are_lines_too(void **state)
{
    struct mail *m = mail_open(state, 0);
    char *text;

    add(m, "mailbox-1.json", "{\"opcode\":\"stream\",\"task_id\":1}\n");
    text = await(m, "results-1.json", 6);
    assert_non_null(strstr(text,
                           "\"final\":false,\"at\":0,\"data\":\"4\"}\n{\"task_id\":1,"
                           "\"status\":0,\"final\":true,\"at\":0,\"data\":\"end\"}"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, mail_setup, mail_teardown)
        TEST(lines_become_results_with_their_place),
        TEST(a_result_that_was_cut_short_is_removed),
        TEST(other_names_are_left_alone),
        TEST(a_line_is_done_once_also_after_a_restart),
        TEST(a_mailbox_may_be_cut_removed_and_replaced),
        TEST(who_takes_no_results_is_not_read_and_others_are),
        TEST(a_directory_is_ours_alone),
        TEST(parts_of_results_are_lines_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
