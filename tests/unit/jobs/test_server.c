#include "jobs/server.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "tests/unit/jobs/office.h"
#include "tests/unit/os/scratch.h"

struct post {
    struct office *o;
    struct scratch *scratch;
    struct bz_server *server;
    char path[100];
};

static void post_open(void **state, struct post *p)
{
    void *scratch = NULL;

    assert_int_equal(scratch_setup(&scratch), 0);
    p->o = office_open(state);
    p->scratch = scratch;
    assert_true(snprintf(p->path, sizeof(p->path), "%s/run/socket", p->scratch->path) <
                (int)sizeof(p->path));
    assert_ok(bz_server_new(&(struct bz_server_opts){.service = p->o->service,
                                                     .path = p->path,
                                                     .fd = -1,
                                                     .results = 4},
                            &p->server, &p->o->err),
              &p->o->err);
}

static void post_close(struct post *p)
{
    void *scratch = p->scratch;

    bz_server_free(p->server);
    assert_int_not_equal(access(p->path, F_OK), 0);
    assert_int_equal(scratch_teardown(&scratch), 0);
}

static FILE *dial_by(struct post *p, int fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = 10};
    FILE *f;

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", p->path);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    f = fdopen(fd, "r+");
    setvbuf(f, NULL, _IOLBF, 0);
    return f;
}

static FILE *dial(struct post *p)
{
    return dial_by(p, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static void say(FILE *f, const char *text)
{
    fseek(f, 0, SEEK_CUR);
    assert_true(fputs(text, f) >= 0);
    fflush(f);
}

static void expect(FILE *f, const char *want)
{
    char line[1000] = "";

    assert_non_null(fgets(line, sizeof(line), f));
    assert_string_equal(line, want);
}

static void a_line_in_is_a_line_out(void **state)
{
    struct post p;
    struct stat st;
    FILE *f;

    post_open(state, &p);
    f = dial(&p);
    say(f, "{\"opcode\":3,\"task_id\":7,\"args\":{\"a\": 1}}\n");
    expect(f,
           "{\"task_id\":7,\"status\":0,\"final\":true,\"data\":\"{\\\"a\\\": 1}\"}\n");
    say(f, "\nnonsense\n");
    expect(f, "{\"task_id\":4503599627370498,\"status\":-2,\"final\":true,\"error\":"
              "\"column 1: expected an object\"}\n");
    fclose(f);
    assert_int_equal(fstatat(p.scratch->fd, "run", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    post_close(&p);
}

static void who_does_not_read_is_not_read_from_and_others_are(void **state)
{
    struct post p;
    FILE *lazy, *busy;

    post_open(state, &p);
    lazy = dial(&p);
    busy = dial(&p);
    atomic_store(&p.o->gate, 1);
    for (int i = 1; i <= 40; i++) { /* room for 4 results */
        char line[100];

        snprintf(line, sizeof(line), "{\"opcode\":\"wait\",\"task_id\":%d}\n", i);
        say(lazy, line);
    }
    say(busy, "{\"opcode\":3,\"task_id\":1}\n");
    expect(busy, "{\"task_id\":1,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    for (int i = 0; i < 40; i++) {
        char line[1000];

        assert_non_null(fgets(line, sizeof(line), lazy));
        assert_non_null(strstr(line, "\"status\":0"));
    }
    fclose(lazy);
    fclose(busy);
    post_close(&p);
}

/* Zeros are six bytes each as JSON: a few parts fill what may wait to be sent. */
static void what_is_not_read_is_not_made(void **state)
{
    struct post p;
    unsigned n = 0, before = 1;
    FILE *f;

    post_open(state, &p);
    f = dial(&p);
    say(f, "{\"opcode\":\"flood\",\"task_id\":1}\n");
    while (n == 0 || n != before) { /* until it stands still */
        before = n;
        usleep(50000);
        n = atomic_load(&p.o->emitted);
    }
    assert_true(n < OFFICE_FLOOD / 2);
    for (int lines = 0; lines <= OFFICE_FLOOD;) {
        int c = fgetc(f);

        assert_int_not_equal(c, EOF);
        lines += c == '\n';
    }
    fclose(f);
    post_close(&p);
}

static void who_waits_gets_all_results_before_the_end(void **state)
{
    struct post p;
    FILE *f;

    post_open(state, &p);
    f = dial(&p);
    say(f, "{\"opcode\":\"wait\",\"task_id\":5}\n{\"opcode\":3,\"task_id\":6}\n");
    expect(f, "{\"task_id\":6,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    bz_service_stop(p.o->service);
    atomic_store(&p.o->gate, 1);
    bz_server_finish(p.server, bz_clock_in(10 * BZ_CLOCK_S));
    expect(f, "{\"task_id\":5,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    post_close(&p);
}

static void the_end_does_not_wait_for_ever(void **state)
{
    struct post p;
    FILE *f;

    post_open(state, &p);
    f = dial(&p);
    say(f, "{\"opcode\":\"wait\",\"task_id\":5}\n{\"opcode\":3,\"task_id\":6}\n");
    expect(f, "{\"task_id\":6,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    bz_server_finish(p.server, bz_clock_in(20 * BZ_CLOCK_MS));
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    post_close(&p);
}

static void a_client_that_dies_leaves_nothing(void **state)
{
    struct post p;
    int64_t last;

    post_open(state, &p);
    for (int i = 0; i < 20; i++) {
        FILE *f = dial(&p);

        say(f, "{\"opcode\":\"wait\"}\n{\"opcode\":\"wait\"}\n{\"opco");
        fclose(f);
    }
    for (int i = 0; i < 5000 && bz_server_clients(p.server, &last) > 0; i++)
        usleep(1000);
    assert_int_equal(bz_server_clients(p.server, &last), 0);
    post_close(&p);
}

static void a_half_closed_client_still_gets_its_results(void **state)
{
    struct post p;
    FILE *f;

    post_open(state, &p);
    f = dial(&p);
    say(f, "{\"opcode\":\"stream\",\"task_id\":2}\n");
    shutdown(fileno(f), SHUT_WR);
    for (int i = 0; i < 6; i++) {
        char line[1000];

        assert_non_null(fgets(line, sizeof(line), f));
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    post_close(&p);
}

static void the_last_line_needs_no_newline(void **state)
{
    struct post p;
    char line[1000];
    FILE *f;

    post_open(state, &p);
    f = dial(&p);
    say(f, "{\"opcode\":3,\"task_id\":1}\n{\"opcode\":3,\"task_id\":2}");
    expect(f, "{\"task_id\":1,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    shutdown(fileno(f), SHUT_WR);
    expect(f, "{\"task_id\":2,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    f = dial(&p);
    say(f, "{\"opcode\":3,\"task_");
    shutdown(fileno(f), SHUT_WR);
    assert_non_null(fgets(line, sizeof(line), f));
    assert_non_null(strstr(line, "\"status\":-2,\"final\":true"));
    fclose(f);
    post_close(&p);
}

static void a_long_line_may_come_in_pieces(void **state)
{
    struct post p;
    char spaces[9999], line[1000];
    FILE *f;

    post_open(state, &p);
    f = dial(&p);
    memset(spaces, ' ', sizeof(spaces));
    spaces[sizeof(spaces) - 1] = '\0';
    for (int k = 0; k < 2; k++) {
        say(f, "{\"opcode\":3,");
        for (int i = 0; i < 200; i++)
            say(f, spaces);
        say(f, "\"task_id\":1}\n{\"opcode\":3,\"task_id\":2}\n{\"opcode\"");
        for (int i = 0; i < 2; i++) { /* in any order */
            assert_non_null(fgets(line, sizeof(line), f));
            assert_non_null(strstr(line, "\"status\":0,\"final\":true"));
        }
        say(f, ":3,\"task_id\":3}\n");
        expect(f, "{\"task_id\":3,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    }
    fclose(f);
    post_close(&p);
}

static void *small_only(size_t n)
{
    return n > 100000 ? NULL : malloc(n);
}

static void a_request_without_memory_is_answered_and_the_next_too(void **state)
{
    struct office *o = *state;
    char spaces[9999];
    struct post p;
    FILE *f;

    o->opts.alloc = small_only;
    post_open(state, &p);
    f = dial(&p);
    memset(spaces, ' ', sizeof(spaces));
    spaces[sizeof(spaces) - 1] = '\0';
    say(f, "{\"opcode\":3,\"task_id\":1");
    for (int i = 0; i < 20; i++)
        say(f, spaces);
    say(f, "}\n");
    expect(f, "{\"task_id\":1,\"status\":-4,\"final\":true,"
              "\"error\":\"no memory for the request\"}\n");
    say(f, "{\"opcode\":3,\"task_id\":2}\n");
    expect(f, "{\"task_id\":2,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    fclose(f);
    post_close(&p);
}

static void an_id_that_is_in_use_is_refused_under_none(void **state)
{
    struct post p;
    FILE *f;

    post_open(state, &p);
    f = dial(&p);
    say(f, "{\"opcode\":\"wait\",\"task_id\":7}\n{\"opcode\":3,\"task_id\":7}\n");
    expect(f, "{\"task_id\":0,\"status\":-2,\"final\":true,"
              "\"error\":\"task_id 7 is in use\"}\n");
    atomic_store(&p.o->gate, 1);
    expect(f, "{\"task_id\":7,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    fclose(f);
    post_close(&p);
}

static void who_is_done_is_let_go_whatever_processes_live(void **state)
{
    struct post p;
    FILE *f, *other;

    post_open(state, &p);
    f = dial(&p);
    say(f, "{\"opcode\":3,\"task_id\":1}\n");
    expect(f, "{\"task_id\":1,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    other = dial(&p);
    say(other, "{\"opcode\":\"hang_told\"}\n");
    assert_int_equal(fgetc(other), '{'); /* there is a process that has the socket */
    shutdown(fileno(f), SHUT_WR);
    assert_int_equal(fgetc(f), EOF);
    assert_true(feof(f));
    fclose(f);
    fclose(other);
    post_close(&p);
}

static void who_cannot_be_let_in_for_want_of_descriptors_waits(void **state)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), next;
    struct rlimit before, none;
    struct timespec t;
    int64_t began;
    struct post p;
    FILE *f;

    post_open(state, &p);
    next = dup(fd);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    f = dial_by(&p, fd);
    say(f, "{\"opcode\":3,\"task_id\":1}\n");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    began = t.tv_sec * BZ_CLOCK_S + t.tv_nsec;
    usleep(300000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    assert_true(t.tv_sec * BZ_CLOCK_S + t.tv_nsec - began < 100 * BZ_CLOCK_MS);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    expect(f, "{\"task_id\":1,\"status\":0,\"final\":true,\"data\":\"\"}\n");
    fclose(f);
    post_close(&p);
}

static void a_place_has_one_server(void **state)
{
    struct bz_server *second;
    struct post p;

    post_open(state, &p);
    assert_int_equal(
        bz_server_new(
            &(struct bz_server_opts){.service = p.o->service, .path = p.path, .fd = -1},
            &second, &p.o->err),
        BZ_E_EXISTS);
    assert_int_equal(fchmodat(p.scratch->fd, "run", 0777, 0), 0);
    assert_int_equal(
        bz_server_new(
            &(struct bz_server_opts){.service = p.o->service, .path = p.path, .fd = -1},
            &second, &p.o->err),
        BZ_E_INVAL);
    post_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, office_setup, office_teardown)
        TEST(a_line_in_is_a_line_out),
        TEST(who_does_not_read_is_not_read_from_and_others_are),
        TEST(what_is_not_read_is_not_made),
        TEST(who_waits_gets_all_results_before_the_end),
        TEST(the_end_does_not_wait_for_ever),
        TEST(a_client_that_dies_leaves_nothing),
        TEST(a_half_closed_client_still_gets_its_results),
        TEST(the_last_line_needs_no_newline),
        TEST(a_long_line_may_come_in_pieces),
        TEST(a_request_without_memory_is_answered_and_the_next_too),
        TEST(an_id_that_is_in_use_is_refused_under_none),
        TEST(who_is_done_is_let_go_whatever_processes_live),
        TEST(who_cannot_be_let_in_for_want_of_descriptors_waits),
        TEST(a_place_has_one_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
