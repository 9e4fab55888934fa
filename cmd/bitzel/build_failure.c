#include "build_failure.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/mem.h"
#include "os/clock.h"
#include "report/account.h"
#include "report/firsterror.h"
#include "report/logtail.h"

#define TAIL_LINES 20
#define NO_SPACE "No space left on device"  /* in the locale of tasks, and ours */
#define FULL ((uint64_t)64 << 10)           /* bytes with which no task gets far */
#define SIGNALS 64                          /* there are */
#define EXIT_SIGNAL 128                     /* how a shell tells of a command: it */
#define EXIT_KILLED (EXIT_SIGNAL + SIGKILL) /* and the signal that ended it */

static bool is_true(const char *variable)
{
    const char *text = getenv(variable);

    return text && strcmp(text, "true") == 0;
}

void bz_build_failure_open(struct bz_build_failure *f)
{
    if (is_true("GITHUB_ACTIONS"))
        f->ci = BZ_BUILD_FAILURE_GITHUB;
    else if (is_true("GITLAB_CI"))
        f->ci = BZ_BUILD_FAILURE_GITLAB;
}

void bz_build_failure_release(struct bz_build_failure *f)
{
    bz_buf_release(&f->again);
}

static bool is_starved(const struct bz_event *e)
{
    return !e->error && !e->timeout &&
           bz_account_starved(e->signal, e->exit_code, e->oom_kills);
}

/* How it ended, in a few words. */
static void describe(const struct bz_event *e, struct bz_buf *out)
{
    if (e->error)
        bz_buf_addf(out, "%s", e->error);
    else if (e->timeout)
        bz_buf_addf(out, "not done after %.0fs, its timeout ([timeout], --timeout)%s",
                    (double)e->timeout / 1e9,
                    e->signal == SIGKILL ? "; it had to be killed" : "");
    else if (is_starved(e))
        bz_buf_addf(out, BZ_ACCOUNT_STARVED);
    else if (e->signal)
        bz_buf_addf(out, "killed by signal %d (%s)", e->signal, strsignal(e->signal));
    else if (e->exit_code > EXIT_SIGNAL && e->exit_code <= EXIT_SIGNAL + SIGNALS)
        bz_buf_addf(out, "exit status %d (signal %d, %s)", e->exit_code,
                    e->exit_code - EXIT_SIGNAL, strsignal(e->exit_code - EXIT_SIGNAL));
    else
        bz_buf_addf(out, "exit status %d", e->exit_code);
}

/* Nobody here sends that signal to a task of which is told. A compiler that was killed
 * is often told of by its make, with another exit status. */
static void say_killed(struct bz_out *log, const struct bz_event *e)
{
    if (e->error || e->timeout)
        return;
    if (e->oom_kills > 0)
        bz_out_print(log,
                     "  the kernel killed %llu process%s for lack of memory while it "
                     "ran: try fewer jobs, -j\n",
                     (unsigned long long)e->oom_kills, e->oom_kills == 1 ? "" : "es");
    else if (e->signal == SIGKILL || e->exit_code == EXIT_KILLED)
        bz_out_print(log, "  signal %d was not sent by bitzel; out of memory?\n",
                     SIGKILL);
}

/* Where the file system of a path is mounted. */
static const char *find_mount(char *path)
{
    struct stat own, above;
    char *slash;

    if (stat(path, &own) < 0)
        return path;
    while ((slash = strrchr(path, '/')) != NULL && path[1]) {
        char *cut = slash == path ? slash + 1 : slash;
        char was = *cut;

        *cut = '\0';
        if (stat(path, &above) == 0 && above.st_dev == own.st_dev)
            continue;
        *cut = was;
        break;
    }
    return path;
}

/* A program says that there is no space, but not where; some say not even that. */
static void say_full(const struct bz_build_failure *f, struct bz_out *log, bool told)
{
    BZ_CLEANUP(bz_mem_freep) char *path = NULL;
    const char *mount;
    struct statvfs st;

    if (!f->store || statvfs(f->store, &st) < 0)
        return;
    if (!told && (uint64_t)st.f_bavail * st.f_frsize >= FULL && st.f_favail > 0)
        return;
    path = bz_mem_dup(f->store, strlen(f->store));
    mount = find_mount(path);
    bz_out_print(log, "  the file system at ");
    bz_out_plain(log, mount, strlen(mount));
    bz_out_print(log, " is full (");
    bz_out_plain(log, f->store, strlen(f->store));
    bz_out_print(log, " is where tasks write): make room, with 'bitzel cache gc' "
                      "perhaps, and build again\n");
}

static void say_network(struct bz_out *log, const struct bz_build *b,
                        const struct bz_event *e)
{
    bz_out_print(log,
                 "  tried to reach %s: there is no network in the sandbox; "
                 "%.*s[network] = \"1\" allows it\n",
                 e->network, BZ_STR_ARG(b->goal.graph.tasks[e->task].facts->name));
}

/* As values of GitHub's commands have to be written. */
static void add_escaped(struct bz_buf *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            bz_buf_addf(out, "%%%02X", (unsigned char)*text);
        else
            bz_buf_add_char(out, *text);
    }
}

static void annotate(struct bz_out *log, const struct bz_build *b,
                     const struct bz_event *e, const struct bz_firsterror *first,
                     const char *how)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};

    bz_buf_add_str(&name, b->names[e->task]);
    bz_buf_addf(&text, "::error ");
    if (first->file[0]) {
        bz_build_quality_path(b, bz_str_from(first->file), &path);
        bz_buf_addf(&text, "file=");
        add_escaped(&text, bz_buf_text(&path), "%\r\n:,");
        bz_buf_addf(&text, ",line=%u,", first->number);
        if (first->column > 0)
            bz_buf_addf(&text, "col=%u,", first->column);
    }
    bz_buf_addf(&text, "title=");
    add_escaped(&text, bz_buf_text(&name), "%\r\n:,");
    bz_buf_addf(&text, "::");
    add_escaped(&text, first->line[0] ? first->line : how, "%\r\n");
    bz_out_plain(log, text.data, text.len);
    bz_out_print(log, "\n");
}

static void begin_fold(const struct bz_build_failure *f, struct bz_out *log,
                       const struct bz_event *e)
{
    if (f->ci == BZ_BUILD_FAILURE_GITHUB)
        bz_out_print(log, "::group::the end of its log\n");
    if (f->ci == BZ_BUILD_FAILURE_GITLAB)
        bz_out_print(log,
                     "\033[0Ksection_start:%lld:bitzel_log_%u[collapsed=true]\r\033[0K"
                     "  the end of its log\n",
                     (long long)(bz_clock_wall() / BZ_CLOCK_S), e->task);
}

static void end_fold(const struct bz_build_failure *f, struct bz_out *log,
                     const struct bz_event *e)
{
    if (f->ci == BZ_BUILD_FAILURE_GITHUB)
        bz_out_print(log, "::endgroup::\n");
    if (f->ci == BZ_BUILD_FAILURE_GITLAB)
        bz_out_print(log, "\033[0Ksection_end:%lld:bitzel_log_%u\r\033[0K\n",
                     (long long)(bz_clock_wall() / BZ_CLOCK_S), e->task);
}

/* True if they say that a disk is full. */
static bool say_log(const struct bz_build_failure *f, struct bz_out *log,
                    struct bz_str name, const struct bz_event *e)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf tail = {0};
    struct bz_str rest, line;

    bz_logtail_add(e->log, TAIL_LINES, &tail);
    rest = bz_buf_str(&tail);
    begin_fold(f, log, e);
    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line)) {
        bz_out_print(log, "  | ");
        bz_out_plain(log, line.p, line.n);
        bz_out_print(log, "\n");
    }
    end_fold(f, log, e);
    bz_out_print(log, "  log: %s\n", e->log);
    if (!f->bare) {
        bz_out_print(log, "  to look around: bitzel shell ");
        bz_out_plain(log, name.p, name.n);
        bz_out_print(log, "\n");
    }
    return strstr(bz_buf_text(&tail), NO_SPACE);
}

void bz_build_failure_say(struct bz_build_failure *f, struct bz_out *log,
                          const struct bz_build *b, const struct bz_event *e)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf how = {0};
    struct bz_firsterror first = {.line = ""};
    bool full;

    describe(e, &how);
    if (e->log && !e->error && !bz_firsterror_read(e->log, &first))
        first.line[0] = '\0';
    if (is_starved(e)) /* whatever else its log says, this is why */
        first.line[0] = '\0';
    bz_out_print(log, ": ");
    bz_out_plain(log, how.data, how.len);
    bz_out_print(log, "\n");
    say_killed(log, e);
    if (e->network)
        say_network(log, b, e);
    if (first.line[0]) {
        bz_out_print(log, "  ");
        bz_out_paint(log, BZ_OUT_BOLD, "first error:");
        bz_out_print(log, " ");
        bz_out_plain(log, first.line, strlen(first.line));
        bz_out_print(log, "\n");
    }
    full = strstr(e->log && !e->error ? first.line : bz_buf_text(&how), NO_SPACE);
    if (e->log && !e->error && say_log(f, log, b->names[e->task], e))
        full = true;
    say_full(f, log, full);
    if (f->ci == BZ_BUILD_FAILURE_GITHUB)
        annotate(log, b, e, &first, bz_buf_text(&how));
    bz_build_quality_add(&f->quality, b, e, &first, bz_buf_text(&how));
    bz_buf_addf(&f->again, "  %.*s: %s\n", BZ_STR_ARG(b->names[e->task]),
                first.line[0] ? first.line : bz_buf_text(&how));
}

void bz_build_failure_repeat(const struct bz_build_failure *f, struct bz_out *log)
{
    struct bz_str rest = bz_buf_str(&f->again), line;
    struct bz_str first, more;

    if (!bz_str_cut(rest, '\n', &first, &more) || more.n == 0)
        return; /* one, which was told of just now */
    bz_out_print(log, "These failed:\n");
    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line)) {
        bz_out_plain(log, line.p, line.n);
        bz_out_print(log, "\n");
    }
}
