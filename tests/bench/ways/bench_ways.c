/* Jobs through a service's socket and through memory shared with it, in the same run.
 *
 *     bench_ways --jobs 200000 --window 64 --rounds 5 --batch 1 --only memory --raw
 *
 * The service is a process of its own. A client asks for one job after the other, keeps
 * so many under way, and waits for the oldest. On the socket each request is a call of
 * send(), unless --batch has several go together; results are read as many as there
 * are, and taken apart as JSON unless --raw says that nobody wants to know: so in both
 * ways the client has id, status and data. Prints a line of JSON for each round and
 * way.
 */
#include <bitzel/jobs.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "codec/json.h"
#include "os/clock.h"

enum { LINE = 256, READ = 65536, WAIT_MS = 10000 };

struct load {
    unsigned long jobs, window, rounds, batch;
    const char *only; /* a way */
    bool raw;
    char dir[64], socket[96];
    clockid_t server; /* the CPU time of the service's process */
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int echo(bitzel_call *call, void *user_data)
{
    size_t n;
    const char *args = bitzel_call_args(call, &n);

    (void)user_data;
    return bitzel_call_reply(call, args, n);
}

/* Until the other end of `end` is closed. */
static void serve(const struct load *l, int ready, int end)
{
    char error[200] = "", byte;
    bitzel_jobs *jobs = bitzel_jobs_new();

    if (bitzel_jobs_register(jobs, "echo", echo, NULL, 0) < 0 ||
        bitzel_jobs_start(jobs, NULL, error, sizeof(error)) < 0 ||
        bitzel_jobs_listen(jobs, l->socket, error, sizeof(error)) < 0) {
        fprintf(stderr, "bench_ways: %s\n", error);
        _exit(1);
    }
    if (write(ready, "", 1) != 1 || read(end, &byte, 1) < 0)
        _exit(1);
    bitzel_jobs_shutdown(jobs);
    _exit(0);
}

/* On the socket a client has to name the job to know its result again. */
static int make_line(char *line, unsigned long i, bool named)
{
    char id[40] = "";

    if (named)
        snprintf(id, sizeof(id), "\"task_id\":%lu,", i + 1);
    return snprintf(line, LINE, "{\"opcode\":\"echo\",%s\"args\":{\"number\":%lu}}", id,
                    i);
}

static void check(const char *data, size_t n, unsigned long i)
{
    char want[64];
    int m = snprintf(want, sizeof(want), "{\"number\":%lu}", i);

    if (n != (size_t)m || memcmp(data, want, n) != 0) {
        fprintf(stderr, "bench_ways: %.*s is no answer to %s\n", (int)n, data, want);
        exit(1);
    }
}

/* ---- shared memory ---- */

static void run_memory(const struct load *l)
{
    char error[200] = "", line[LINE];
    bitzel_jobs *jobs = bitzel_attach(l->socket, error, sizeof(error));
    uint64_t *ids = calloc(l->window, sizeof(*ids));
    unsigned long asked = 0;

    if (!jobs || !ids) {
        fprintf(stderr, "bench_ways: %s\n", error);
        exit(1);
    }
    for (unsigned long done = 0; done < l->jobs; done++) {
        bitzel_result *r;

        while (asked < l->jobs && asked - done < l->window) {
            make_line(line, asked, false);
            ids[asked % l->window] = bitzel_jobs_submit(jobs, line);
            if (ids[asked % l->window] == 0)
                break;
            asked++;
        }
        r = bitzel_jobs_wait(jobs, ids[done % l->window], WAIT_MS);
        if (!r || r->status != 0)
            die("a result did not come");
        check(r->data, r->data_size, done);
        bitzel_result_free(r);
    }
    free(ids);
    bitzel_jobs_shutdown(jobs);
}

/* ---- socket ---- */

static int dial(const struct load *l)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", l->socket);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
        die("connect");
    return fd;
}

static void send_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t m = send(fd, p, n, MSG_NOSIGNAL);

        if (m < 0 && errno != EINTR)
            die("send");
        if (m > 0) {
            p += m;
            n -= (size_t)m;
        }
    }
}

/* Which job it was, and its data. */
static void take_line(struct bz_arena *arena, struct bz_str line)
{
    struct bz_arena_mark mark = bz_arena_mark(arena);
    const struct bz_doc *doc;
    int64_t id = 0, status = 0;
    struct bz_str data = {0};
    struct bz_err err;

    if (bz_json_parse(arena, line, NULL, &doc, &err) < 0 ||
        bz_doc_get_int(doc, "task_id", 1, INT64_MAX, &id, &err) < 0 ||
        bz_doc_get_int(doc, "status", INT64_MIN, 0, &status, &err) < 0 ||
        bz_doc_get_str(doc, "data", &data, &err) < 0 || status != 0)
        die("a result is wrong");
    check(data.p, data.n, (unsigned long)id - 1);
    bz_arena_rewind(arena, mark);
}

/* Whole lines in what was read; the rest is moved to the front. With --raw nobody
 * reads what they say. */
static unsigned long take_lines(const struct load *l, struct bz_arena *arena, char *in,
                                size_t *n)
{
    unsigned long lines = 0;
    char *p = in, *end;

    while ((end = memchr(p, '\n', *n - (size_t)(p - in)))) {
        if (!l->raw)
            take_line(arena, bz_str_of(p, (size_t)(end - p)));
        lines++;
        p = end + 1;
    }
    *n -= (size_t)(p - in);
    memmove(in, p, *n);
    return lines;
}

static void run_socket(const struct load *l)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    static char in[READ], out[READ];
    unsigned long asked = 0, done = 0;
    size_t have = 0;
    int fd = dial(l);

    while (done < l->jobs) {
        ssize_t n;

        while (asked < l->jobs && asked - done < l->window) {
            size_t size = 0;

            for (unsigned long i = 0; i < l->batch && asked < l->jobs &&
                                      asked - done < l->window && size < READ - LINE;
                 i++) {
                size += (size_t)make_line(out + size, asked, true);
                asked++;
                out[size++] = '\n';
            }
            send_all(fd, out, size);
        }
        n = recv(fd, in + have, sizeof(in) - have, 0);
        if (n <= 0 && errno != EINTR)
            die("recv");
        have += n > 0 ? (size_t)n : 0;
        done += take_lines(l, &arena, in, &have);
    }
    close(fd);
}

/* ---- */

/* Of both processes. */
static int64_t cpu_now(const struct load *l)
{
    struct timespec t = {0};

    clock_gettime(l->server, &t);
    return t.tv_sec * BZ_CLOCK_S + t.tv_nsec + bz_clock_cpu();
}

static void measure(const struct load *l, const char *way,
                    void (*run)(const struct load *l))
{
    int64_t begin = bz_clock_now(), cpu = cpu_now(l), ns;

    run(l);
    ns = bz_clock_now() - begin;
    printf("{\"way\": \"%s\", \"jobs\": %lu, \"ns\": %lld, \"cpu_ns\": %lld, "
           "\"per_second\": %.0f}\n",
           way, l->jobs, (long long)ns, (long long)(cpu_now(l) - cpu),
           (double)l->jobs * 1e9 / (double)ns);
    fflush(stdout);
}

static unsigned long number(const char *text)
{
    unsigned long n = strtoul(text, NULL, 10);

    return n > 0 ? n : 1;
}

static void read_options(struct load *l, int argc, char **argv)
{
    static const struct option options[] = {
        {"jobs",   required_argument, NULL, 'j'},
        {"window", required_argument, NULL, 'w'},
        {"rounds", required_argument, NULL, 'r'},
        {"batch",  required_argument, NULL, 'b'},
        {"only",   required_argument, NULL, 'o'},
        {"raw",    no_argument,       NULL, 'x'},
        {NULL,     0,                 NULL, 0  },
    };
    int o;

    while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0) {
        if (o == '?')
            exit(2);
        if (o == 'x')
            l->raw = true;
        else if (o == 'o')
            l->only = optarg;
        else
            *(o == 'j'   ? &l->jobs
              : o == 'w' ? &l->window
              : o == 'r' ? &l->rounds
                         : &l->batch) = number(optarg);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const struct load *l);
    } ways[] = {
        {"memory", run_memory},
        {"socket", run_socket},
    };
    struct load l = {.jobs = 200000, .window = 64, .rounds = 5, .batch = 1};
    int ready[2], end[2], status = 0;
    const char *tmp = getenv("TMPDIR");
    char byte;
    pid_t server;

    read_options(&l, argc, argv);
    snprintf(l.dir, sizeof(l.dir), "%.40s/bz-ways-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(l.dir) || pipe(ready) < 0 || pipe(end) < 0)
        die("begin");
    snprintf(l.socket, sizeof(l.socket), "%s/socket", l.dir);
    server = fork();
    if (server < 0)
        die("fork");
    if (server == 0) {
        close(end[1]);
        serve(&l, ready[1], end[0]);
    }
    close(ready[1]);
    if (clock_getcpuclockid(server, &l.server) != 0)
        die("clock");
    if (read(ready[0], &byte, 1) != 1)
        return 1;
    for (unsigned long i = 0; i < l.rounds; i++) {
        for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++)
            if (!l.only || strcmp(l.only, ways[k].name) == 0)
                measure(&l, ways[k].name, ways[k].run);
    }
    close(end[1]);
    waitpid(server, &status, 0);
    rmdir(l.dir);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
