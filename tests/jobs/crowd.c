/* A crowd of clients at one service, through one of its ways in.
 *
 *     crowd socket|memory|directory [--jobs N] [--clients N] [--victims N]
 *
 * The service is a process; so is every client. Clients do N jobs together and look at
 * every result; the service counts how often each job was run. Meanwhile victims do
 * the same and are killed at random, and a vandal sends 1,000 requests that are wrong
 * in all ways it knows. In the end every job of the clients was run exactly once, the
 * vandal has an answer to each, and the service has not grown.
 *
 * Nothing depends on time but how long it takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "os/clock.h"
#include "os/fs_remove.h"
#include "tests/jobs/crowd.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { WATCHED = 1 };
#else
enum { WATCHED = 0 };
#endif

enum { GROWTH_KB = 48 * 1024, VICTIM_MS = 40 };

void crowd_die(const char *what)
{
    fprintf(stderr, "crowd: %s (%s)\n", what, strerror(errno));
    _exit(1);
}

/* ---- the service ---- */

/* {"client":C,"number":N}: counts that, and replies with what crowd_reply says. */
static int count(bitzel_call *call, void *user_data)
{
    struct crowd *c = user_data;
    unsigned client, number;
    char reply[CROWD_LINE];

    if (sscanf(bitzel_call_args(call, NULL), "{\"client\":%u,\"number\":%u}", &client,
               &number) != 2)
        return bitzel_call_fail(call, BITZEL_FAILED, "what?");
    if (client < c->clients && number < c->each)
        atomic_fetch_add(&c->ran[(size_t)client * c->each + number], 1);
    return bitzel_call_reply(call, reply, crowd_reply(reply, client, number));
}

/* Kilobytes in memory, without what was freed. */
static int size(bitzel_call *call, void *user_data)
{
    unsigned long pages = 0, resident = 0;
    char reply[CROWD_LINE];
    FILE *f = fopen("/proc/self/statm", "re");

    (void)user_data;
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
    if (!f || fscanf(f, "%lu %lu", &pages, &resident) != 2)
        crowd_die("statm");
    fclose(f);
    return bitzel_call_reply(
        call, reply,
        (size_t)snprintf(reply, sizeof(reply), "%lu",
                         resident * (unsigned long)sysconf(_SC_PAGESIZE) / 1024));
}

static void serve(struct crowd *c, int ready, int end)
{
    char error[300] = "", byte;
    bitzel_jobs *jobs = bitzel_jobs_new();

    if (bitzel_jobs_register(jobs, "count", count, c, 0) < 0 ||
        bitzel_jobs_register(jobs, "size", size, c, 0) < 0 ||
        bitzel_jobs_start(jobs, NULL, error, sizeof(error)) < 0 ||
        bitzel_jobs_listen(jobs, c->socket, error, sizeof(error)) < 0 ||
        bitzel_jobs_watch(jobs, c->mail, error, sizeof(error)) < 0)
        crowd_die(error);
    if (write(ready, "", 1) != 1 || read(end, &byte, 1) < 0)
        crowd_die("pipe");
    bitzel_jobs_shutdown(jobs);
    exit(0); /* so that leaks are looked for */
}

static pid_t start_service(struct crowd *c, int *end)
{
    int ready[2], ends[2];
    char byte;
    pid_t pid;

    if (pipe(ready) < 0 || pipe(ends) < 0)
        crowd_die("pipe");
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
        close(ends[1]);
        serve(c, ready[1], ends[0]);
    }
    close(ready[1]);
    close(ends[0]);
    if (pid < 0 || read(ready[0], &byte, 1) != 1)
        crowd_die("the service did not start");
    close(ready[0]);
    *end = ends[1];
    return pid;
}

static unsigned long service_size(const struct crowd *c)
{
    char error[300] = "";
    bitzel_jobs *jobs = bitzel_attach(c->socket, error, sizeof(error));
    bitzel_result *r;
    unsigned long kb;

    if (!jobs)
        crowd_die(error);
    r = bitzel_jobs_wait(jobs, bitzel_jobs_submit(jobs, "{\"opcode\":\"size\"}"),
                         CROWD_PATIENCE_MS);
    if (!r || r->status != 0)
        crowd_die("size");
    kb = strtoul(r->data, NULL, 10);
    bitzel_result_free(r);
    bitzel_jobs_shutdown(jobs);
    return kb;
}

/* ---- clients ---- */

static const struct crowd_way *const ways[] = {&crowd_socket, &crowd_memory,
                                               &crowd_directory};

static pid_t start_client(struct crowd *c, unsigned number)
{
    pid_t pid = fork();

    if (pid < 0)
        crowd_die("fork");
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (number == CROWD_VANDAL)
        c->way->vandal(c);
    else
        c->way->client(c, number, number < c->clients ? c->each : UINT_MAX);
    exit(0);
}

/* True if it has ended; if not well, that is told. */
static bool has_ended(pid_t pid, unsigned number, int flags, unsigned *failed)
{
    int status;
    pid_t rc = waitpid(pid, &status, flags);

    if (rc < 0)
        crowd_die("wait");
    if (rc == 0)
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "crowd: client %u failed\n", number);
        ++*failed;
    }
    return true;
}

static void kill_victim(pid_t pid, unsigned *failed)
{
    int status;

    kill(pid, SIGKILL);
    if (waitpid(pid, &status, 0) < 0 || !WIFSIGNALED(status)) {
        fprintf(stderr, "crowd: a victim has ended by itself\n");
        ++*failed;
    }
}

/* Kills victims and begins new ones until all clients are done. Returns how many have
 * failed. */
static unsigned run(struct crowd *c, unsigned *killed)
{
    unsigned n = c->clients + c->victims, left = c->clients, failed = 0, seed = 1;
    pid_t *pids = calloc(n, sizeof(*pids)), vandal;

    if (!pids)
        crowd_die("memory");
    for (unsigned i = 0; i < n; i++)
        pids[i] = start_client(c, i);
    vandal = start_client(c, CROWD_VANDAL);
    while (left > 0) {
        usleep((useconds_t)(rand_r(&seed) % VICTIM_MS) * 1000);
        if (c->victims > 0) {
            unsigned v = c->clients + *killed % c->victims;

            kill_victim(pids[v], &failed);
            pids[v] = start_client(c, v);
            ++*killed;
        }
        for (unsigned i = 0; i < c->clients; i++)
            if (pids[i] > 0 && has_ended(pids[i], i, WNOHANG, &failed)) {
                pids[i] = 0;
                left--;
            }
    }
    for (unsigned i = c->clients; i < n; i++)
        kill_victim(pids[i], &failed);
    has_ended(vandal, CROWD_VANDAL, 0, &failed);
    free(pids);
    return failed;
}

/* ---- */

static unsigned count_wrong(const struct crowd *c)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < (size_t)c->clients * c->each; i++)
        wrong += atomic_load(&c->ran[i]) != 1;
    return wrong;
}

static void read_options(struct crowd *c, int argc, char **argv)
{
    static const struct option options[] = {
        {"jobs",    required_argument, NULL, 'j'},
        {"clients", required_argument, NULL, 'c'},
        {"victims", required_argument, NULL, 'v'},
        {NULL,      0,                 NULL, 0  },
    };
    unsigned jobs = 2000;
    int o;

    while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0) {
        unsigned n = o == '?' ? 0 : (unsigned)strtoul(optarg, NULL, 10);

        *(o == 'j' ? &jobs : o == 'c' ? &c->clients : &c->victims) = n;
    }
    for (size_t i = 0; i < 3 && optind < argc; i++)
        if (strcmp(argv[optind], ways[i]->name) == 0)
            c->way = ways[i];
    if (!c->way || c->clients == 0)
        crowd_die("usage: crowd socket|memory|directory [--jobs N] [--clients N] "
                  "[--victims N]");
    c->each = (jobs + c->clients - 1) / c->clients;
}

static void make_place(struct crowd *c)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(c->dir, sizeof(c->dir), "%.40s/bz-crowd-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(c->dir))
        crowd_die("a directory");
    snprintf(c->socket, sizeof(c->socket), "%s/socket", c->dir);
    snprintf(c->mail, sizeof(c->mail), "%s/mail", c->dir);
    c->ran = mmap(NULL, (size_t)c->clients * c->each, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->ran == MAP_FAILED)
        crowd_die("memory");
}

int main(int argc, char **argv)
{
    struct crowd c = {.clients = 64, .victims = 4};
    unsigned failed, killed = 0, wrong;
    unsigned long before, after;
    int64_t begin;
    struct bz_err err;
    pid_t service;
    int end;

    read_options(&c, argc, argv);
    make_place(&c);
    service = start_service(&c, &end);
    before = service_size(&c);
    begin = bz_clock_now();
    failed = run(&c, &killed);
    begin = bz_clock_now() - begin;
    after = service_size(&c);
    close(end);
    has_ended(service, 0, 0, &failed);
    wrong = count_wrong(&c);
    printf(
        "%s: %u jobs of %u clients in %.2f s, %u not run exactly once; %u killed, %d "
        "wrong requests, %u failed; %lu KiB before and %lu after\n",
        c.way->name, c.clients * c.each, c.clients, (double)begin / 1e9, wrong, killed,
        CROWD_WRONG, failed, before, after);
    if (bz_fs_remove(AT_FDCWD, c.dir, &err) < 0)
        crowd_die(err.msg);
    return wrong > 0 || failed > 0 || (!WATCHED && after > before + GROWTH_KB);
}
