/* The clients of a crowd: what they do is the same, how they ask is not. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "jobs/attach.h"
#include "jobs/channel.h"
#include "os/clock.h"
#include "tests/jobs/crowd.h"

enum { BUFFER = 1 << 16, WINDOW = 8 * CROWD_WINDOW, ROTATE = 1000 };

size_t crowd_request(char *line, unsigned client, unsigned number)
{
    return (size_t)snprintf(
        line, CROWD_LINE,
        "{\"opcode\":\"count\",\"task_id\":%u,\"args\":{\"client\":%u,"
        "\"number\":%u}}",
        number + 1, client, number);
}

size_t crowd_reply(char *text, unsigned client, unsigned number)
{
    return (size_t)snprintf(text, CROWD_LINE, "%u*%u=%llu", client, number,
                            (unsigned long long)client * number);
}

size_t crowd_wrong(char *line, unsigned i)
{
    static const char *const kinds[] = {
        "nonsense",
        "{\"opcode\":",
        "{\"opcode\":4095}",
        "{\"opcode\":\"nobody\"}",
        "{\"opcode\":-1}",
        "{\"opcode\":\"count\",\"args\":[]}",
        "{\"opcode\":\"count\",\"args\":{\"client\":\"x\"}}",
        "{\"opcode\":\"count\",\"colour\":1}",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "{\"opcode\":\"count\",\"task_id\":1e999}",
        "\xff\xfe\x80 \x01\x02",
        "{\"opcode\":\"count\"}}",
        "{\"opcode\":\"memory_read\",\"args\":{\"read_from\":\"nothing\"}}",
        "{\"opcode\":\"file_read\",\"args\":{\"path\":\"/etc/passwd\"}}",
        "{\"opcode\":\"count\",\"timeout_ms\":99999999999}",
    };

    return (size_t)snprintf(line, CROWD_LINE, "%s",
                            kinds[i % (sizeof(kinds) / sizeof(kinds[0]))]);
}

/* ---- results as lines: of the socket and of files ---- */

/* Which jobs of a client have their answers. A victim's are not remembered. */
struct answers {
    unsigned client, jobs, done;
    bool *seen; /* NULL: for a victim */
};

static void open_answers(struct answers *a, unsigned client, unsigned jobs)
{
    *a = (struct answers){.client = client, .jobs = jobs};
    if (jobs < UINT_MAX)
        a->seen = calloc(jobs, sizeof(*a->seen));
    if (jobs < UINT_MAX && !a->seen)
        crowd_die("memory");
}

static void take_answer(struct answers *a, const char *line)
{
    char want[CROWD_LINE + 16] = "\"data\":\"";
    unsigned long long id;
    const char *at = strstr(line, "\"status\":0,");

    if (!a->seen) { /* what came before it was killed may be there, and half a line */
        a->done++;
        return;
    }
    if (sscanf(line, "{\"task_id\":%llu,", &id) != 1 || id == 0 || id > a->jobs || !at)
        crowd_die(line);
    crowd_reply(want + 8, a->client, (unsigned)id - 1);
    strcat(want, "\"}");
    if (!strstr(at, want) || a->seen[id - 1])
        crowd_die(line);
    a->seen[id - 1] = true;
    a->done++;
}

static void take_wrong(struct answers *a, const char *line)
{
    if (!strstr(line, "\"status\":-") || !strstr(line, "\"error\":"))
        crowd_die(line);
    a->done++;
}

/* All whole lines of the n bytes; returns how many bytes these have. */
static size_t take_lines(struct answers *a, char *text, size_t n,
                         void (*take)(struct answers *a, const char *line))
{
    size_t at = 0;
    char *end;

    while ((end = memchr(text + at, '\n', n - at))) {
        *end = '\0';
        take(a, text + at);
        at = (size_t)(end - text) + 1;
    }
    return at;
}

/* ---- the socket ---- */

static int dial(const struct crowd *c)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = CROWD_PATIENCE_MS / 1000};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", c->socket);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    while (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
        if (errno != EAGAIN && errno != EINTR)
            crowd_die("connect");
    return fd;
}

static void send_line(int fd, char *line, size_t n)
{
    line[n++] = '\n';
    while (n > 0) {
        ssize_t m = send(fd, line, n, MSG_NOSIGNAL);

        if (m < 0 && errno != EINTR)
            crowd_die("send");
        line += m > 0 ? m : 0;
        n -= m > 0 ? (size_t)m : 0;
    }
}

static void receive(int fd, struct answers *a, char *in, size_t *have,
                    void (*take)(struct answers *a, const char *line))
{
    ssize_t n = recv(fd, in + *have, BUFFER - *have, 0);
    size_t used;

    if (n <= 0)
        crowd_die("no result");
    *have += (size_t)n;
    used = take_lines(a, in, *have, take);
    *have -= used;
    memmove(in, in + used, *have);
}

static void socket_client(const struct crowd *c, unsigned number, unsigned jobs)
{
    static char in[BUFFER];
    unsigned asked = 0;
    struct answers a;
    size_t have = 0;
    int fd = dial(c);

    open_answers(&a, number, jobs);
    while (a.done < jobs) {
        for (; asked < jobs && asked - a.done < CROWD_WINDOW; asked++) {
            char line[CROWD_LINE + 1];

            send_line(fd, line, crowd_request(line, number, asked));
        }
        receive(fd, &a, in, &have, take_answer);
    }
    free(a.seen);
    close(fd);
}

static void socket_vandal(const struct crowd *c)
{
    static char in[BUFFER];
    struct answers a = {0};
    size_t have = 0;
    int fd = dial(c);

    for (unsigned asked = 0; a.done < CROWD_WRONG;) {
        for (; asked < CROWD_WRONG && asked - a.done < CROWD_WINDOW; asked++) {
            char line[CROWD_LINE + 1];

            send_line(fd, line, crowd_wrong(line, asked));
        }
        receive(fd, &a, in, &have, take_wrong);
    }
    if (send(fd, "{\"opco", 6, MSG_NOSIGNAL) != 6)
        crowd_die("send");
    close(fd);
}

const struct crowd_way crowd_socket = {"socket", socket_client, socket_vandal};

/* ---- shared memory ---- */

static bitzel_jobs *attach(const struct crowd *c)
{
    char error[300] = "";
    bitzel_jobs *jobs = bitzel_attach(c->socket, error, sizeof(error));

    if (!jobs)
        crowd_die(error);
    return jobs;
}

static uint64_t submit(bitzel_jobs *jobs, const char *line)
{
    uint64_t id;

    while ((id = bitzel_jobs_submit(jobs, line)) == 0)
        usleep(1000); /* there was no room */
    return id;
}

static void memory_client(const struct crowd *c, unsigned number, unsigned jobs)
{
    bitzel_jobs *there = attach(c);
    unsigned asked = 0;

    for (unsigned done = 0; done < jobs; done++) {
        char text[CROWD_LINE];
        bitzel_result *r;

        for (; asked < jobs && asked - done < CROWD_WINDOW; asked++) {
            crowd_request(text, number, asked);
            if (submit(there, text) != asked + 1)
                crowd_die("an id");
        }
        r = bitzel_jobs_wait(there, done + 1, CROWD_PATIENCE_MS);
        crowd_reply(text, number, done);
        if (!r || r->status != 0 || strcmp(r->data, text) != 0)
            crowd_die(r ? r->error_msg : "no result");
        bitzel_result_free(r);
    }
    bitzel_jobs_shutdown(there);
}

/* What the service sends when it is asked for memory. */
static int receive_memory(int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char line[200];
    struct iovec io = {line, sizeof(line)};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};
    const struct cmsghdr *h;
    int memory;

    if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) <= 0 || !(h = CMSG_FIRSTHDR(&m)) ||
        h->cmsg_type != SCM_RIGHTS)
        crowd_die("no memory");
    memcpy(&memory, CMSG_DATA(h), sizeof(memory));
    return memory;
}

/* Writes what it likes where it likes, and rings. */
static void scribble(const struct crowd *c, unsigned *seed)
{
    char hello[] = BZ_ATTACH_HELLO " ";
    struct bz_channel channel = {0};
    struct bz_channel_writer w;
    struct bz_err err;
    int fd = dial(c), memory;

    send_line(fd, hello, sizeof(hello) - 2);
    memory = receive_memory(fd);
    if (bz_channel_map(&channel, memory, &err) < 0)
        crowd_die(err.msg);
    bz_channel_write_requests(&channel, &w);
    for (unsigned i = 0; i < 64; i++)
        w.bytes[(unsigned)rand_r(seed) % 256] = (char)rand_r(seed);
    atomic_store(&w.words->head, (unsigned)rand_r(seed));
    atomic_store(&w.words->asleep, (unsigned)rand_r(seed));
    atomic_store(&w.words->full, (unsigned)rand_r(seed));
    atomic_store(&w.words->tail, rand_r(seed) % 2 ? (unsigned)rand_r(seed)
                                                  : (unsigned)rand_r(seed) % 512 * 8);
    if (send(fd, "\n\n", 2, MSG_NOSIGNAL) < 0 && errno != EPIPE)
        crowd_die("ring");
    bz_channel_release(&channel);
    close(memory);
    close(fd);
}

static void memory_vandal(const struct crowd *c)
{
    bitzel_jobs *there = attach(c);
    unsigned seed = 7;

    for (unsigned i = 0; i < CROWD_WRONG; i++) {
        char line[CROWD_LINE];
        bitzel_result *r;

        if (i % 2) {
            scribble(c, &seed);
            continue;
        }
        crowd_wrong(line, i / 2);
        r = bitzel_jobs_wait(there, submit(there, line), CROWD_PATIENCE_MS);
        if (!r || r->status >= 0 || !r->error_msg[0])
            crowd_die(line);
        bitzel_result_free(r);
    }
    bitzel_jobs_shutdown(there);
}

const struct crowd_way crowd_memory = {"memory", memory_client, memory_vandal};

/* ---- files ---- */

struct files {
    char mailbox[128], results[128], old[128];
    int fd; /* of the mailbox */
};

static void open_mailbox(struct files *f)
{
    f->fd = open(f->mailbox, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (f->fd < 0)
        crowd_die(f->mailbox);
}

static void open_files(const struct crowd *c, unsigned number, struct files *f)
{
    snprintf(f->mailbox, sizeof(f->mailbox), "%s/mailbox-%u.json", c->mail, number);
    snprintf(f->results, sizeof(f->results), "%s/results-%u.json", c->mail, number);
    snprintf(f->old, sizeof(f->old), "%s/old-%u", c->mail, number);
    open_mailbox(f);
}

/* Often in two pieces: a line is one when it has an end. */
static void append(const struct files *f, char *line, size_t n)
{
    size_t first = n % 3 ? n : n / 2;

    line[n++] = '\n';
    first = first == n - 1 ? n : first;
    if (write(f->fd, line, first) != (ssize_t)first ||
        write(f->fd, line + first, n - first) != (ssize_t)(n - first))
        crowd_die(f->mailbox);
}

/* What there is, which is then removed. False if there is nothing. */
static bool take_results(const struct files *f, struct answers *a,
                         void (*take)(struct answers *a, const char *line))
{
    int fd = open(f->results, O_RDWR | O_CLOEXEC);
    struct stat st = {0};
    char *text;

    if (fd < 0)
        return false;
    if (flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0 ||
        !(text = malloc((size_t)st.st_size + 1)))
        crowd_die(f->results);
    if (pread(fd, text, (size_t)st.st_size, 0) != st.st_size ||
        take_lines(a, text, (size_t)st.st_size, take) != (size_t)st.st_size ||
        ftruncate(fd, 0) < 0)
        crowd_die(f->results);
    free(text);
    close(fd);
    return st.st_size > 0;
}

static void await_results(const struct files *f, struct answers *a,
                          void (*take)(struct answers *a, const char *line))
{
    int64_t end = bz_clock_in(CROWD_PATIENCE_MS * BZ_CLOCK_MS);

    while (!take_results(f, a, take)) {
        if (bz_clock_now() > end)
            crowd_die("no result");
        usleep(2000);
    }
}

/* A new mailbox; what the old one still has is read. */
static void rotate(struct files *f)
{
    if (rename(f->mailbox, f->old) < 0 || unlink(f->old) < 0)
        crowd_die(f->mailbox);
    close(f->fd);
    open_mailbox(f);
}

static void directory_client(const struct crowd *c, unsigned number, unsigned jobs)
{
    unsigned asked = 0, rotated = 0;
    struct answers a;
    struct files f;

    open_files(c, number, &f);
    open_answers(&a, number, jobs);
    /* What the one before did not get answered is not wanted any more. */
    if (!a.seen && ftruncate(f.fd, 0) < 0)
        crowd_die(f.mailbox);
    while (a.done < jobs) {
        for (; asked < jobs && (int)(asked - a.done) < WINDOW; asked++) {
            char line[CROWD_LINE + 1];

            append(&f, line, crowd_request(line, number, asked));
        }
        await_results(&f, &a, take_answer);
        /* One that was not seen before it is renamed would not be read at all. */
        if (a.done > rotated + ROTATE && a.seen) {
            rotated = asked;
            rotate(&f);
        }
    }
    free(a.seen);
    close(f.fd);
}

static void directory_vandal(const struct crowd *c)
{
    struct answers a = {0};
    struct files f;

    open_files(c, CROWD_VANDAL, &f);
    for (unsigned i = 0; i < CROWD_WRONG; i++) {
        char line[CROWD_LINE + 1];

        append(&f, line, crowd_wrong(line, i));
    }
    while (a.done < CROWD_WRONG)
        await_results(&f, &a, take_wrong);
    close(f.fd);
}

const struct crowd_way crowd_directory = {"directory", directory_client,
                                          directory_vandal};
