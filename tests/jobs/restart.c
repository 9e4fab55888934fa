/* A service that is killed again and again while it reads a mailbox.
 *
 * Whatever the moment was: no line that has its result is ever run again, or answered a
 * second time, and no line is left out.
 */
#include <bitzel/jobs.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_remove.h"

enum { LINES = 3000, KILLS = 6, PATIENCE_S = 120 };

struct place {
    char dir[64], mail[80], mailbox[112], results[112];
    atomic_uint *ran;      /* how often a line was run; of all processes */
    unsigned known[LINES]; /* how often those had been that were answered, else 0 */
};

static void die(const char *what)
{
    fprintf(stderr, "restart: %s (%s)\n", what, strerror(errno));
    _exit(1);
}

static int count(bitzel_call *call, void *user_data)
{
    struct place *p = user_data;
    uint64_t id = bitzel_call_id(call);

    if (id <= LINES)
        atomic_fetch_add(&p->ran[id - 1], 1);
    return bitzel_call_reply(call, "done", 4);
}

static pid_t start(struct place *p)
{
    char error[300] = "";
    bitzel_jobs *jobs;
    pid_t pid = fork();

    if (pid < 0)
        die("fork");
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
    jobs = bitzel_jobs_new();
    if (bitzel_jobs_register(jobs, "count", count, p, 0) < 0 ||
        bitzel_jobs_start(jobs, NULL, error, sizeof(error)) < 0 ||
        bitzel_jobs_watch(jobs, p->mail, error, sizeof(error)) < 0)
        die(error);
    for (;;)
        pause();
}

static void stop(pid_t pid)
{
    int status;

    kill(pid, SIGKILL);
    if (waitpid(pid, &status, 0) < 0 || !WIFSIGNALED(status))
        die("the service has ended by itself");
}

static void add(const struct place *p, unsigned from, unsigned to)
{
    FILE *f = fopen(p->mailbox, "ae");

    for (unsigned i = from; f && i < to; i++)
        fprintf(f, "{\"opcode\":\"count\",\"task_id\":%u}\n", i + 1);
    if (!f || fclose(f) != 0)
        die(p->mailbox);
}

/* Looks at all results; returns how many there are. With `note` it is written down how
 * often the lines were run that have one. */
static unsigned look(struct place *p, bool note)
{
    bool seen[LINES + 1] = {0};
    char *text = NULL, *line, *end;
    struct bz_err err;
    unsigned n = 0;
    size_t size;

    if (bz_fs_read(AT_FDCWD, p->results, (size_t)1 << 24, &text, &size, &err) < 0)
        return 0;
    for (line = text; (end = strchr(line, '\n')); line = end + 1, n++) {
        unsigned id = 0;

        if (sscanf(line, "{\"task_id\":%u,\"status\":0,", &id) != 1 || id == 0 ||
            id > LINES + 1)
            die(line);
        if (seen[id - 1])
            die("a line was answered twice");
        seen[id - 1] = true;
        if (id <= LINES && p->known[id - 1] > 0 &&
            p->known[id - 1] != atomic_load(&p->ran[id - 1]))
            die("a line was run after it was answered");
        if (id <= LINES && note)
            p->known[id - 1] = atomic_load(&p->ran[id - 1]);
    }
    free(text);
    return n;
}

static unsigned count_left(const struct place *p)
{
    unsigned left = 0;

    for (unsigned i = 0; i < LINES; i++)
        left += atomic_load(&p->ran[i]) == 0;
    return left;
}

static void make_place(struct place *p)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(p->dir, sizeof(p->dir), "%.40s/bz-restart-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(p->dir))
        die("a directory");
    snprintf(p->mail, sizeof(p->mail), "%s/mail", p->dir);
    snprintf(p->mailbox, sizeof(p->mailbox), "%s/mailbox-1.json", p->mail);
    snprintf(p->results, sizeof(p->results), "%s/results-1.json", p->mail);
    p->ran = mmap(NULL, LINES * sizeof(*p->ran), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p->ran == MAP_FAILED || mkdir(p->mail, 0700) < 0)
        die("a place");
}

int main(void)
{
    int64_t end = bz_clock_in(PATIENCE_S * BZ_CLOCK_S);
    static struct place p;
    struct bz_err err;
    unsigned n = 0;
    pid_t pid;

    make_place(&p);
    for (unsigned i = 0; i < KILLS; i++) {
        pid = start(&p);
        add(&p, LINES / KILLS * i, LINES / KILLS * (i + 1));
        while (look(&p, false) <= n && bz_clock_now() < end)
            usleep(200);
        stop(pid);
        n = look(&p, true);
    }
    pid = start(&p);
    while (count_left(&p) > 0 && bz_clock_now() < end)
        usleep(1000);
    stop(pid);
    n = look(&p, true);
    printf("%u results of %d lines after %d kills, %u lines not run\n", n, LINES, KILLS,
           count_left(&p));
    if (count_left(&p) > 0)
        return 1;
    return bz_fs_remove(AT_FDCWD, p.dir, &err) < 0;
}
