#include "check_tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "exec/job.h"
#include "exec/jobserver.h"
#include "exec/trial.h"
#include "os/clock.h"
#include "os/proc_run.h"
#include "sandbox/devices.h"

#define PATIENCE (5 * BZ_CLOCK_S)
#define NO_OVERLAY 77 /* exit status: the namespace is there, the mount is not */

/* Whether one of the directories of $PATH has it. */
static bool can_run(const char *program)
{
    const char *path = getenv("PATH");
    struct bz_str rest = bz_str_from(path ? path : ""), dir;
    char full[4096];

    while (bz_str_next_part(&rest, ':', &dir)) {
        if (dir.n == 0 || (size_t)snprintf(full, sizeof(full), "%.*s/%s",
                                           BZ_STR_ARG(dir), program) >= sizeof(full))
            continue;
        if (access(full, X_OK) == 0)
            return true;
    }
    return false;
}

void bz_check_tools_present(const struct bz_check_host *host, struct bz_check_row *row)
{
    static const char *const programs[] = {"git", "patch", "make", "unshare"};
    BZ_CLEANUP(bz_buf_release) struct bz_buf there = {0}, gone = {0};

    (void)host;
    if (access("/bin/sh", X_OK) != 0) {
        bz_check_judge(row, BZ_CHECK_FAIL, "install a shell",
                       "there is no /bin/sh: no task can run");
        return;
    }
    for (size_t i = 0; i < BZ_COUNTOF(programs); i++) {
        struct bz_buf *list = can_run(programs[i]) ? &there : &gone;

        bz_buf_addf(list, "%s%s", list->len ? ", " : "", programs[i]);
    }
    if (gone.len == 0)
        bz_check_judge(row, BZ_CHECK_OK, NULL, "sh, %s", bz_buf_text(&there));
    else
        bz_check_judge(row, BZ_CHECK_WARN,
                       "install them: on Debian 'apt-get install git patch make "
                       "util-linux'",
                       "not in $PATH: %s", bz_buf_text(&gone));
}

/* What a program says; NULL if it cannot be run. The caller frees it. */
static char *answer_of(const char *const *argv, int *status)
{
    struct bz_proc_spec spec = {
        .argv = argv, .err = {.kind = BZ_PROC_NULL}, .deadline = bz_clock_in(PATIENCE)};
    struct bz_proc_result result = {0};
    struct bz_err err;
    char *text;
    size_t n;

    if (bz_proc_run(&spec, &result, &err) < 0)
        return NULL;
    *status = result.exit_code;
    text = bz_capture_text(&result.out, &n);
    bz_proc_pump_release_result(&result);
    return text;
}

/* 0, or an errno. */
static int try_pipe(const char *temp)
{
    char dir[4096], path[4112];
    int failure = 0;

    if ((size_t)snprintf(dir, sizeof(dir), "%s/bitzel-doctor-XXXXXX", temp) >=
        sizeof(dir))
        return ENAMETOOLONG;
    if (!mkdtemp(dir))
        return errno;
    snprintf(path, sizeof(path), "%s/pipe", dir);
    if (mkfifo(path, S_IRUSR | S_IWUSR) < 0)
        failure = errno;
    else
        (void)unlink(path);
    (void)rmdir(dir);
    return failure;
}

void bz_check_tools_jobserver(const struct bz_check_host *host,
                              struct bz_check_row *row)
{
    static const char *const argv[] = {"make", "--version", NULL};
    int status = 0, failure = try_pipe(host->temp);
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_str line, rest;

    if (failure != 0) {
        bz_check_judge(
            row, BZ_CHECK_WARN, "set TMPDIR to a directory that you may write to",
            "no pipe can be made in %.80s: %s", host->temp, strerror(failure));
        return;
    }
    text = answer_of(argv, &status);
    if (!text || status != 0) {
        bz_check_judge(row, BZ_CHECK_WARN, "install make",
                       "pipes work, but there is no make");
        return;
    }
    bz_str_cut(bz_str_from(text), '\n', &line, &rest);
    line = bz_str_sub(line, 0, line.n < 60 ? line.n : 60);
    bz_check_judge(row, BZ_CHECK_OK, NULL, "%.*s takes %s", BZ_STR_ARG(line),
                   bz_jobserver_style_of(bz_str_from(text)) == BZ_JOBSERVER_PATH
                       ? "a named pipe"
                       : "descriptors");
}

void bz_check_tools_overlay(const struct bz_check_host *host, struct bz_check_row *row)
{
    static const char script[] =
        "cd \"$0\" && mount -t tmpfs none . && cd \"$0\" && mkdir a b c d && "
        "mount -t overlay -o lowerdir=a,upperdir=b,workdir=c,userxattr none d || "
        "exit 77";
    const char *const argv[] = {
        "unshare", "--user", "--map-root-user", "--mount", "--", "sh",
        "-c",      script,   host->temp,        NULL};
    int status = 0;
    BZ_CLEANUP(bz_mem_freep) char *text = answer_of(argv, &status);

    if (text && status == 0)
        bz_check_judge(row, BZ_CHECK_OK, NULL, "can be mounted in a user namespace");
    else if (text && status == NO_OVERLAY)
        bz_check_judge(row, BZ_CHECK_WARN,
                       "use Linux 5.11 or newer and a container that allows mounts",
                       "refused in a user namespace: trees have to be copied");
    else
        bz_check_judge(row, BZ_CHECK_WARN, "see 'user namespaces'",
                       "not tried: there is no user namespace to do it in");
}

/* What is true of most places where namespaces work and this does not: containers. */
static const char *sandbox_fix(const char *why)
{
    if (strstr(why, "user namespaces"))
        return "see 'user namespaces'";
    if (strstr(why, "/proc"))
        return "run the container so that nothing in /proc is hidden: 'docker run "
               "--security-opt systempaths=unconfined'";
    if (strstr(why, BZ_JOB_ROOT))
        return "have the store on a file system that an overlay can lie on, in a "
               "volume "
               "of the container say: set cache.dir";
    return "use a container or security profile that allows mounts";
}

void bz_check_tools_devices(const struct bz_check_host *host, struct bz_check_row *row)
{
    struct bz_devices_wrong wrong;

    if (bz_devices_wrong(host->root, &wrong))
        bz_check_judge(row, BZ_CHECK_FAIL,
                       bz_arena_printf(host->texts, "run '%s' as root", wrong.fix).p,
                       "%s: no task can run", wrong.found);
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL, "null, zero, full, random, urandom");
}

void bz_check_tools_sandbox(const struct bz_check_host *host, struct bz_check_row *row)
{
    struct bz_err err, ignored;
    int rc = bz_trial_run(host->cache, &err);

    if (rc == 0)
        bz_check_judge(row, BZ_CHECK_OK, NULL, "one was made, with an overlay in it");
    else if (rc == BZ_E_NOSUP)
        bz_check_judge(row, BZ_CHECK_WARN, sandbox_fix(err.msg), "%.150s", err.msg);
    else
        bz_check_judge(row, BZ_CHECK_WARN,
                       bz_devices_check(&ignored) < 0 ? "see 'devices'"
                                                      : "see 'disk space'",
                       "not tried: %.120s", err.msg);
}

void bz_check_tools_locale(const struct bz_check_host *host, struct bz_check_row *row)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    static const char fix[] = "run 'export LC_ALL=C.UTF-8'";

    (void)host;
    for (size_t i = 0; i < BZ_COUNTOF(variables); i++) {
        const char *text = getenv(variables[i]);

        if (!text || text[0] == '\0')
            continue;
        if (strcasestr(text, "utf-8") || strcasestr(text, "utf8"))
            bz_check_judge(row, BZ_CHECK_OK, NULL, "%s is %.60s", variables[i], text);
        else
            bz_check_judge(row, BZ_CHECK_WARN, fix,
                           "%s is %.60s, not UTF-8: some names are shown as '?'",
                           variables[i], text);
        return;
    }
    bz_check_judge(row, BZ_CHECK_WARN, fix,
                   "none is set: names that are not ASCII are shown as '?'");
}

void bz_check_tools_terminal(const struct bz_check_host *host, struct bz_check_row *row)
{
    const char *term = getenv("TERM");
    struct winsize size = {0};

    (void)host;
    if (!isatty(STDERR_FILENO))
        bz_check_judge(row, BZ_CHECK_OK, NULL, "none: a build prints lines only");
    else if (!term || term[0] == '\0' || strcmp(term, "dumb") == 0)
        bz_check_judge(row, BZ_CHECK_WARN, "run 'export TERM=xterm' if it is like one",
                       "TERM is %s: a build prints lines only",
                       term && term[0] ? term : "not set");
    else if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        bz_check_judge(row, BZ_CHECK_WARN, "run 'stty cols 80 rows 24'",
                       "%.60s, which does not tell its size", term);
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL, "%.60s, %u columns, %u lines", term,
                       size.ws_col, size.ws_row);
}
