#include "jobs/attach.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "jobs/server.h"
#include "tests/unit/jobs/office.h"
#include "tests/unit/os/scratch.h"

struct post {
    struct office *o;
    struct scratch *scratch;
    struct bz_server *server;
    struct bz_attach *a;
    char path[100];
};

static void post_open(void **state, struct post *p, unsigned results)
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
                                                     .results = results},
                            &p->server, &p->o->err),
              &p->o->err);
    assert_ok(bz_attach_new(p->path, &p->a, &p->o->err), &p->o->err);
}

static void post_close(struct post *p)
{
    void *scratch = p->scratch;

    bz_attach_free(p->a);
    bz_server_free(p->server);
    assert_int_equal(scratch_teardown(&scratch), 0);
}

/* The ring may be full for a moment after a long request. */
static uint64_t ask_of(struct post *p, struct bz_attach *a, const char *text)
{
    int64_t end = bz_clock_in(60 * BZ_CLOCK_S);
    uint64_t id = 0;
    int rc;

    while ((rc = bz_attach_submit(a, bz_str_from(text), &id, &p->o->err)) ==
               BZ_E_BUSY &&
           bz_clock_now() < end)
        usleep(1000);
    assert_ok(rc, &p->o->err);
    return id;
}

static uint64_t ask(struct post *p, const char *text)
{
    return ask_of(p, p->a, text);
}

static struct bz_result *wait_for(struct post *p, uint64_t id)
{
    struct bz_result *r = bz_attach_wait(p->a, id, bz_clock_in(60 * BZ_CLOCK_S));

    assert_non_null(r);
    assert_int_equal(r->id, id);
    return r;
}

static void results_are_waited_and_polled_for(void **state)
{
    struct bz_result *r = NULL;
    struct post p;
    uint64_t id;

    post_open(state, &p, 0);
    id = ask(&p, "{\"opcode\":3,\"args\":{\"a\":1}}");
    assert_true(id > BZ_CLIENT_IDS);
    r = wait_for(&p, id);
    assert_true(r->final);
    assert_int_equal(r->status, 0);
    assert_string_equal(r->data, "{\"a\":1}");
    free(r);
    id = ask(&p, "{\"opcode\":\"nobody\",\"task_id\":5}");
    assert_int_equal(id, 5);
    for (int i = 0; i < 60000 && !(r = bz_attach_poll(p.a, id)); i++)
        usleep(1000);
    assert_non_null(r);
    assert_int_equal(r->status, BZ_TASK_UNKNOWN_OPCODE);
    assert_string_equal(r->error, "unknown opcode");
    assert_null(r->data);
    free(r);
    assert_null(bz_attach_wait(p.a, 12345, bz_clock_in(BZ_CLOCK_MS)));
    assert_null(bz_attach_poll(p.a, 12345));
    post_close(&p);
}

static void parts_come_in_order(void **state)
{
    struct post p;
    uint64_t id;

    post_open(state, &p, 0);
    id = ask(&p, "{\"opcode\":\"stream\"}");
    for (int i = 0; i < 6; i++) {
        struct bz_result *r = wait_for(&p, id);

        assert_int_equal(r->final, i == 5);
        assert_int_equal(r->data[0], i == 5 ? 'e' : '0' + i);
        free(r);
    }
    post_close(&p);
}

static void a_task_is_canceled_once(void **state)
{
    struct bz_result *r;
    struct post p;
    uint64_t id;

    post_open(state, &p, 0);
    id = ask(&p, "{\"opcode\":\"wait\"}");
    assert_false(bz_attach_cancel(p.a, id + 1));
    assert_true(bz_attach_cancel(p.a, id));
    r = wait_for(&p, id);
    assert_int_equal(r->status, BZ_TASK_CANCELED);
    free(r);
    assert_false(bz_attach_cancel(p.a, id));
    post_close(&p);
}

static void refused_here_what_the_service_would_refuse(void **state)
{
    struct post p;
    uint64_t id, other;

    post_open(state, &p, 4); /* two may be open */
    id = ask(&p, "{\"opcode\":\"wait\",\"task_id\":5}");
    assert_int_equal(bz_attach_submit(p.a, BZ_STR("{\"opcode\":3,\"task_id\":5}"),
                                      &other, &p.o->err),
                     BZ_E_EXISTS);
    ask(&p, "{\"opcode\":\"wait\"}");
    assert_int_equal(bz_attach_submit(p.a, BZ_STR("{\"opcode\":3}"), &other, &p.o->err),
                     BZ_E_BUSY);
    atomic_store(&p.o->gate, 1);
    free(wait_for(&p, id));
    other = ask(&p, "{\"opcode\":3}");
    free(wait_for(&p, other));
    post_close(&p);
}

static void requests_and_results_may_be_longer_than_the_memory(void **state)
{
    size_t n = 2000000;
    char *text = malloc(n + 100);
    struct bz_result *r;
    uint64_t ids[3];
    struct post p;

    post_open(state, &p, 0);
    snprintf(text, n + 100, "{\"opcode\":3,\"args\":{\"a\":\"%0*d\"}}", (int)n, 7);
    for (int i = 0; i < 3; i++)
        ids[i] = ask(&p, text);
    for (int i = 0; i < 3; i++) {
        r = wait_for(&p, ids[i]);
        assert_int_equal(r->status, 0);
        assert_int_equal(r->size, n + 8);
        assert_memory_equal(r->data, text + 19, n + 8);
        free(r);
    }
    free(text);
    post_close(&p);
}

static void what_is_open_ends_when_the_service_does(void **state)
{
    struct bz_result *r;
    struct post p;
    uint64_t id;

    post_open(state, &p, 0);
    id = ask(&p, "{\"opcode\":\"wait\"}");
    bz_server_free(p.server);
    p.server = NULL;
    r = wait_for(&p, id);
    assert_int_equal(r->status, BZ_TASK_CANCELED);
    assert_string_equal(r->error, "the service is gone");
    free(r);
    assert_int_equal(bz_attach_submit(p.a, BZ_STR("{\"opcode\":3}"), &id, &p.o->err),
                     BZ_E_CANCELED);
    assert_null(bz_attach_wait(p.a, id, BZ_CLOCK_NEVER));
    post_close(&p);
}

static void no_service_is_told_from_one_that_is_not_ours(void **state)
{
    struct bz_attach *other;
    struct post p;

    post_open(state, &p, 0);
    assert_int_equal(bz_attach_new("/nowhere/at/all", &other, &p.o->err), BZ_E_NOENT);
    assert_string_equal(p.o->err.msg, "no service is at /nowhere/at/all");
    post_close(&p);
}

/* Listens at a path as another user until it is killed. */
static pid_t listen_as(uid_t user, const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int ends[2], fd;
    pid_t child;
    char byte;

    assert_true(strlen(path) < sizeof(at.sun_path));
    memcpy(at.sun_path, path, strlen(path) + 1);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (setresuid(user, user, user) < 0 ||
            bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
            listen(fd, 1) < 0 || write(ends[1], "x", 1) != 1)
            _exit(1);
        pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

static void a_service_of_another_user_is_not_used(void **state)
{
    struct bz_attach *a = NULL;
    struct scratch *s;
    void *scratch = NULL;
    struct bz_err err;
    char path[300];
    pid_t child;

    (void)state;
    if (geteuid() != 0) /* who can be somebody else */
        skip();
    assert_int_equal(scratch_setup(&scratch), 0);
    s = scratch;
    if (!s)
        return;
    assert_int_equal(fchmod(s->fd, 0777), 0);
    snprintf(path, sizeof(path), "%s/socket", s->path);
    child = listen_as(65534, path);
    assert_int_equal(bz_attach_new(path, &a, &err), BZ_E_NOSUP);
    assert_non_null(strstr(err.msg, "is another user's"));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(scratch_teardown(&scratch), 0);
}

static void a_hello_comes_first_or_not_at_all(void **state)
{
    static const char lines[] =
        "{\"opcode\":\"wait\",\"task_id\":1}\n" BZ_ATTACH_HELLO "\n";
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char line[200] = "";
    struct post p;

    post_open(state, &p, 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", p.path);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(write(fd, lines, sizeof(lines) - 1), sizeof(lines) - 1);
    assert_true(read(fd, line, sizeof(line) - 1) > 0);
    assert_non_null(strstr(line, "too late to attach"));
    close(fd);
    post_close(&p);
}

static void who_takes_no_results_waits_alone(void **state)
{
    size_t n = 400000;
    char *text = malloc(n + 100);
    struct bz_attach *lazy;
    uint64_t ids[4];
    struct post p;

    post_open(state, &p, 0);
    assert_ok(bz_attach_new(p.path, &lazy, &p.o->err), &p.o->err);
    snprintf(text, n + 100, "{\"opcode\":3,\"args\":{\"a\":\"%0*d\"}}", (int)n, 7);
    /* The second result finds no room; from then on nothing is read from it. */
    for (int i = 0; i < 4; i++)
        ids[i] = ask_of(&p, lazy, i < 2 ? text : "{\"opcode\":\"count\"}");
    for (int i = 0; i < 200; i++)
        free(wait_for(&p, ask(&p, "{\"opcode\":3}")));
    for (int i = 0; i < 4; i++) {
        struct bz_result *r =
            bz_attach_wait(lazy, ids[i], bz_clock_in(60 * BZ_CLOCK_S));

        assert_non_null(r);
        assert_int_equal(r->status, 0);
        assert_int_equal(r->size, i < 2 ? n + 8 : 0);
        free(r);
    }
    bz_attach_free(lazy);
    free(text);
    post_close(&p);
}

enum { THREADS = 4, EACH = 500 };

struct crowd {
    struct post *p;
    atomic_uint good;
};

static void *work(void *arg)
{
    struct crowd *c = arg;

    for (int i = 0; i < EACH; i++) {
        char text[140], want[100];
        struct bz_result *r;
        struct bz_err err;
        uint64_t id;

        snprintf(want, sizeof(want), "{\"thread\":\"%p\",\"i\":%d}", (void *)&r, i);
        snprintf(text, sizeof(text), "{\"opcode\":3,\"args\":%s}", want);
        if (bz_attach_submit(c->p->a, bz_str_from(text), &id, &err) < 0)
            continue;
        r = bz_attach_wait(c->p->a, id, bz_clock_in(60 * BZ_CLOCK_S));
        if (r && r->id == id && r->status == 0 && strcmp(r->data, want) == 0)
            atomic_fetch_add(&c->good, 1);
        free(r);
    }
    return NULL;
}

static void threads_share_what_is_attached(void **state)
{
    pthread_t threads[THREADS];
    struct post p;
    struct crowd c = {.p = &p};

    post_open(state, &p, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &c), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&c.good), THREADS * EACH);
    post_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, office_setup, office_teardown)
        TEST(results_are_waited_and_polled_for),
        TEST(parts_come_in_order),
        TEST(a_task_is_canceled_once),
        TEST(refused_here_what_the_service_would_refuse),
        TEST(requests_and_results_may_be_longer_than_the_memory),
        TEST(what_is_open_ends_when_the_service_does),
        TEST(no_service_is_told_from_one_that_is_not_ours),
        TEST(a_service_of_another_user_is_not_used),
        TEST(a_hello_comes_first_or_not_at_all),
        TEST(who_takes_no_results_waits_alone),
        TEST(threads_share_what_is_attached),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
