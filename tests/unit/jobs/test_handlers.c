#include "jobs/handlers.h"

#include <sys/stat.h>

#include "tests/unit/jobs/office.h"
#include "tests/unit/os/scratch.h"

struct shelf {
    struct office *o;
    struct scratch *scratch;
    struct bz_jobconf_texts roots;
    struct bz_handlers handlers;
    char root[300], memory[8];
};

static void shelf_open(void **state, struct shelf *s)
{
    void *scratch = NULL;

    *s = (struct shelf){.memory = "abcdefg"};
    assert_int_equal(scratch_setup(&scratch), 0);
    s->scratch = scratch;
    s->o = office_open(state);
    snprintf(s->root, sizeof(s->root), "%s/root", s->scratch->path);
    assert_int_equal(mkdirat(s->scratch->fd, "root", 0755), 0);
    BZ_VEC_PUSH(&s->roots, bz_str_from(s->root));
    s->handlers.roots = &s->roots;
    assert_ok(bz_handlers_offer(&s->handlers, s->o->dispatch, &s->o->err), &s->o->err);
    assert_ok(bz_symbols_add(&s->o->symbols, "memory", s->memory, 7,
                             BZ_SYMBOLS_READ | BZ_SYMBOLS_WRITE, &s->o->err),
              &s->o->err);
    assert_ok(bz_symbols_add(&s->o->symbols, "fixed", s->memory, 7, BZ_SYMBOLS_READ,
                             &s->o->err),
              &s->o->err);
}

static void shelf_close(struct shelf *s)
{
    void *scratch = s->scratch;

    bz_vec_release(&s->roots);
    assert_int_equal(scratch_teardown(&scratch), 0);
}

/* Asks, and compares: with the data, or with the beginning of the error. */
static void ask(struct shelf *s, const char *opcode, const char *args, int status,
                const char *want)
{
    char text[1000];
    struct bz_result *r;

    snprintf(text, sizeof(text), "{\"opcode\":\"%s\",\"args\":%s}", opcode, args);
    office_ask(s->o, text);
    r = office_next(s->o);
    assert_int_equal(r->status, status);
    if (status == 0) {
        assert_string_equal(r->data, want);
    } else {
        r->error[strlen(want)] = '\0';
        assert_string_equal(r->error, want);
    }
    free(r);
}

static void memory_is_read_and_written_within_its_bounds(void **state)
{
    struct shelf s;

    shelf_open(state, &s);
    ask(&s, "memory_read", "{\"read_from\":\"memory\"}", 0, "abcdefg");
    ask(&s, "memory_read", "{\"read_from\":\"memory\",\"offset\":2,\"size\":3}", 0,
        "cde");
    ask(&s, "memory_write", "{\"write_to\":\"memory\",\"offset\":5,\"data\":\"XY\"}", 0,
        "2");
    assert_memory_equal(s.memory, "abcdeXY", 8);
    ask(&s, "memory_write", "{\"write_to\":\"memory\",\"offset\":6,\"data\":\"XY\"}",
        BZ_TASK_FAILED, "symbol memory has 7 bytes");
    ask(&s, "memory_read", "{\"read_from\":\"memory\",\"size\":8}", BZ_TASK_FAILED,
        "symbol memory has 7 bytes");
    ask(&s, "memory_read", "{\"read_from\":\"none\"}", BZ_TASK_UNKNOWN_SYMBOL,
        "unknown symbol: none");
    ask(&s, "memory_write", "{\"write_to\":\"fixed\",\"data\":\"\"}", BZ_TASK_FAILED,
        "symbol fixed may not be written");
    ask(&s, "memory_read", "{}", BZ_TASK_INVALID_JSON, "read_from: ");
    ask(&s, "memory_read", "{\"read_from\":\"memory\",\"offset\":-1}",
        BZ_TASK_INVALID_JSON, "offset: ");
    shelf_close(&s);
}

static void memory_cannot_be_written_from_a_process_of_its_own(void **state)
{
    struct shelf s;

    shelf_open(state, &s);
    s.handlers.rows[0].isolate = s.handlers.rows[1].isolate = true;
    ask(&s, "memory_read", "{\"read_from\":\"memory\"}", 0, "abcdefg");
    ask(&s, "memory_write", "{\"write_to\":\"memory\",\"data\":\"XY\"}", BZ_TASK_FAILED,
        "symbol memory cannot be written in a process of its own");
    assert_memory_equal(s.memory, "abcdefg", 8);
    shelf_close(&s);
}

static void files_below_the_roots_are_read_and_written(void **state)
{
    struct shelf s;
    char args[600];

    shelf_open(state, &s);
    snprintf(args, sizeof(args), "{\"path\":\"%s/f\",\"data\":\"hello\"}", s.root);
    ask(&s, "file_write", args, 0, "5");
    snprintf(args, sizeof(args),
             "{\"path\":\"%s/f\",\"data\":\" you\",\"append\":true}", s.root);
    ask(&s, "file_write", args, 0, "4");
    snprintf(args, sizeof(args), "{\"path\":\"%s/f\",\"offset\":6,\"size\":100}",
             s.root);
    ask(&s, "file_read", args, 0, "you");
    snprintf(args, sizeof(args), "{\"path\":\"%s/f\",\"offset\":100}", s.root);
    ask(&s, "file_read", args, 0, "");
    shelf_close(&s);
}

static void nothing_leads_out_of_the_roots(void **state)
{
    struct shelf s;
    char args[600];

    shelf_open(state, &s);
    put(s.scratch->fd, "secret", "no");
    assert_int_equal(symlinkat("../secret", s.scratch->fd, "root/link"), 0);
    assert_int_equal(symlinkat("/etc", s.scratch->fd, "root/etc"), 0);
    ask(&s, "file_read", "{\"path\":\"/etc/passwd\"}", BZ_TASK_FAILED,
        "/etc/passwd is not below a root");
    snprintf(args, sizeof(args), "{\"path\":\"%s/../secret\"}", s.root);
    ask(&s, "file_read", args, BZ_TASK_FAILED, "/");
    snprintf(args, sizeof(args), "{\"path\":\"%s/link\"}", s.root);
    ask(&s, "file_read", args, BZ_TASK_FAILED, "/");
    snprintf(args, sizeof(args), "{\"path\":\"%s/etc/passwd\"}", s.root);
    ask(&s, "file_read", args, BZ_TASK_FAILED, "/");
    snprintf(args, sizeof(args), "{\"path\":\"%sx/f\"}", s.root);
    ask(&s, "file_read", args, BZ_TASK_FAILED, "/");
    snprintf(args, sizeof(args), "{\"path\":\"%s/link\",\"data\":\"\"}", s.root);
    ask(&s, "file_write", args, BZ_TASK_FAILED, "/");
    shelf_close(&s);
}

static void *small_only(size_t n)
{
    return n > 100000 ? NULL : malloc(n);
}

static void a_file_that_there_is_no_memory_for_fails_alone(void **state)
{
    struct office *o = *state;
    struct shelf s;
    char args[600];

    o->opts.alloc = small_only;
    shelf_open(state, &s);
    put(s.scratch->fd, "root/file", "inside");
    snprintf(args, sizeof(args), "%s/file", s.root);
    assert_int_equal(truncate(args, 200000), 0);
    snprintf(args, sizeof(args), "{\"path\":\"%s/file\"}", s.root);
    ask(&s, "file_read", args, BZ_TASK_NO_MEMORY, "no memory for 200000 bytes");
    snprintf(args, sizeof(args), "{\"path\":\"%s/file\",\"size\":6}", s.root);
    ask(&s, "file_read", args, 0, "inside");
    shelf_close(&s);
}

static void a_root_may_be_the_root_of_all(void **state)
{
    struct shelf s;
    char args[600];

    shelf_open(state, &s);
    s.roots.at[0] = BZ_STR("/");
    put(s.scratch->fd, "root/file", "inside");
    snprintf(args, sizeof(args), "{\"path\":\"%s/file\"}", s.root);
    ask(&s, "file_read", args, 0, "inside");
    shelf_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, office_setup, office_teardown)
        TEST(memory_is_read_and_written_within_its_bounds),
        TEST(memory_cannot_be_written_from_a_process_of_its_own),
        TEST(a_file_that_there_is_no_memory_for_fails_alone),
        TEST(a_root_may_be_the_root_of_all),
        TEST(files_below_the_roots_are_read_and_written),
        TEST(nothing_leads_out_of_the_roots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
