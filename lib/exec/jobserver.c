#include "exec/jobserver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"
#include "os/proc_run.h"

#define ASK_TIMEOUT (5 * BZ_CLOCK_S)

/* A pipe that is full has more tokens than there are: none is missed. */
static void put_tokens(const struct bz_jobserver *j, unsigned n)
{
    while (n > 0) {
        ssize_t put = write(j->fd, "+", 1);

        if (put < 0 && errno != EINTR)
            return;
        n -= put > 0;
    }
}

static bool get_token(const struct bz_jobserver *j)
{
    char token;
    ssize_t got;

    do
        got = read(j->fd, &token, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

static void count_anew(const struct bz_jobserver *j)
{
    while (get_token(j)) {
        /* until there is none */
    }
    put_tokens(j, j->total > j->held ? j->total - j->held : 0);
}

int bz_jobserver_open(struct bz_jobserver *j, const char *path, unsigned total,
                      struct bz_err *err)
{
    struct epoll_event never = {0};

    j->total = total;
    if (mkfifo(path, 0600) < 0)
        return bz_fail_sys(err, "make %s", path);
    j->path = bz_mem_dup(path, strlen(path));
    j->gate = epoll_create1(EPOLL_CLOEXEC);
    /* For both ways: it is never at its end, and opening it does not wait. */
    j->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (j->fd < 0 || j->gate < 0 ||
        epoll_ctl(j->gate, EPOLL_CTL_ADD, j->fd, &never) < 0)
        return bz_fail_sys(err, "open %s", path);
    count_anew(j);
    return 0;
}

void bz_jobserver_close(struct bz_jobserver *j)
{
    if (!j->path)
        return;
    bz_fs_closep(&j->fd);
    bz_fs_closep(&j->gate);
    free(j->path);
    j->path = NULL;
}

static void set_gate(struct bz_jobserver *j, bool armed)
{
    struct epoll_event e = {.events = armed ? EPOLLIN : 0};

    if (j->path && j->armed != armed &&
        epoll_ctl(j->gate, EPOLL_CTL_MOD, j->fd, &e) == 0)
        j->armed = armed;
}

bool bz_jobserver_take(struct bz_jobserver *j)
{
    bool got = !j->path || get_token(j);

    j->held += got;
    if (!got)
        set_gate(j, true);
    return got;
}

void bz_jobserver_rest(struct bz_jobserver *j)
{
    set_gate(j, false);
}

void bz_jobserver_give(struct bz_jobserver *j)
{
    BZ_ASSERT(j->held > 0);
    j->held--;
    if (!j->path)
        return;
    if (j->users == 0)
        count_anew(j);
    else
        put_tokens(j, 1);
}

unsigned bz_jobserver_used(const struct bz_jobserver *j)
{
    int left;

    if (!j->path || ioctl(j->fd, FIONREAD, &left) < 0 || left < 0)
        return j->held;
    return (unsigned)left < j->total ? j->total - (unsigned)left : 0;
}

void bz_jobserver_join(struct bz_jobserver *j)
{
    j->users++;
}

void bz_jobserver_leave(struct bz_jobserver *j)
{
    BZ_ASSERT(j->users > 0);
    j->users--;
}

enum bz_jobserver_style bz_jobserver_style_of(struct bz_str version)
{
    uint64_t major = 0, minor = 0;
    struct bz_str number, rest;
    struct bz_err ignored;

    if (!bz_str_cut_prefix(&version, BZ_STR("GNU Make ")))
        return BZ_JOBSERVER_PATH; /* whoever knows of it at all knows the newer way */
    bz_str_cut(version, '\n', &version, &rest);
    bz_str_cut(version, '.', &number, &rest);
    if (bz_str_parse_u64(number, 10, UINT32_MAX, &major, &ignored) < 0)
        return BZ_JOBSERVER_PATH;
    bz_str_cut(rest, '.', &number, &rest);
    if (bz_str_parse_u64(number, 10, UINT32_MAX, &minor, &ignored) < 0)
        minor = 0;
    return major > 4 || (major == 4 && minor >= 4) ? BZ_JOBSERVER_PATH
                                                   : BZ_JOBSERVER_FDS;
}

/* Of the make that sandboxes see. */
static enum bz_jobserver_style ask_make(void)
{
    static const char *const argv[] = {"make", "--version", NULL};
    static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C",
                                      NULL};
    struct bz_proc_spec spec = {.argv = argv,
                                .env = env,
                                .err = {.kind = BZ_PROC_NULL},
                                .deadline = bz_clock_in(ASK_TIMEOUT)};
    enum bz_jobserver_style style = BZ_JOBSERVER_PATH;
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_proc_result result;
    struct bz_err ignored;
    size_t n;

    if (bz_proc_run(&spec, &result, &ignored) < 0)
        return style;
    text = bz_capture_text(&result.out, &n);
    style = bz_jobserver_style_of(bz_str_of(text, n));
    bz_proc_pump_release_result(&result);
    return style;
}

void bz_jobserver_flags(struct bz_jobserver *j, const char *path, struct bz_buf *out)
{
    if (j->style == BZ_JOBSERVER_UNKNOWN)
        j->style = ask_make();
    bz_buf_addf(out, " -j%u --jobserver-auth=", j->total);
    if (j->style == BZ_JOBSERVER_PATH)
        bz_buf_addf(out, "fifo:%s", path);
    else
        bz_buf_addf(out, "%d,%d", BZ_JOBSERVER_READ, BZ_JOBSERVER_WRITE);
}
