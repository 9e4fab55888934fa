#include "fetch/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/uri.h"
#include "os/proc_pump.h"

#define PATIENCE (3600 * BZ_CLOCK_S)
#define TICK (100 * BZ_CLOCK_MS)
#define KEEP ((size_t)2 << 20)
enum { SAID = 600, TEXT = 32, SHELL_ARGS = 4 };

/* What fetchers may need of the environment. */
static const char *const passed[] = {
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "GIT_PROXY_COMMAND",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "NODE_EXTRA_CA_CERTS",
    "APT_CONFIG",
};

void bz_tool_add(struct bz_tool *t, const char *arg)
{
    BZ_ASSERT(t->argc < BZ_TOOL_ARGS);
    t->argv[t->argc++] = arg;
    t->argv[t->argc] = NULL;
}

static void make_env(const struct bz_tool *t, struct bz_buf *text,
                     const char *env[BZ_TOOL_ENV])
{
    size_t at[BZ_TOOL_ENV], n = 0;

    for (size_t i = 0; i < BZ_COUNTOF(passed); i++) {
        const char *value = getenv(passed[i]);

        if (!value)
            continue;
        at[n++] = text->len;
        bz_buf_addf(text, "%s=%s", passed[i], value);
        bz_buf_add_char(text, '\0');
    }
    at[n++] = text->len;
    bz_buf_addf(text, "LC_ALL=C");
    bz_buf_add_char(text, '\0');
    for (size_t i = 0; i < BZ_COUNTOF(t->env) && t->env[i]; i++) {
        at[n++] = text->len;
        bz_buf_addf(text, "%s", t->env[i]);
        bz_buf_add_char(text, '\0');
    }
    for (size_t i = 0; i < n; i++)
        env[i] = text->data + at[i];
    env[n] = NULL;
}

static void keep_result(void *ctx, struct bz_proc_result *r)
{
    struct bz_proc_result *to = ctx;

    *to = *r;
    memset(r, 0, sizeof(*r));
}

static int run_child(const struct bz_tool *t, const struct bz_proc_spec *spec,
                     struct bz_proc_result *result, struct bz_err *err)
{
    BZ_CLEANUP(bz_proc_pump_closep) struct bz_proc_pump *pump = NULL;
    const struct bz_proc_handler handler = {.done = keep_result, .ctx = result};
    bool stopped = false;
    int rc = bz_proc_pump_open(&pump, err);

    if (rc == 0)
        rc = bz_proc_pump_add(pump, spec, &handler, NULL, err);
    while (rc == 0 && bz_proc_pump_count(pump) > 0) {
        rc = bz_proc_pump_run_once(pump, bz_clock_in(TICK), err);
        if (bz_cancel_check(t->cancel) < 0 && !stopped) {
            bz_proc_pump_stop_all(pump);
            stopped = true;
        }
    }
    if (rc == 0 && stopped)
        rc = bz_fail(err, bz_cancel_check(t->cancel), "stopped");
    return rc;
}

static void add_capture(const struct bz_capture *c, struct bz_buf *out)
{
    size_t n;
    char *text;

    if (!out)
        return;
    text = bz_capture_text(c, &n);
    bz_buf_add(out, text, n);
    free(text);
}

/* Of a child alone a umask can only be set by itself. */
static void set_umask(const struct bz_tool *t, char text[TEXT], const char **argv)
{
    size_t n = 0;

    snprintf(text, TEXT, "umask %03o; exec \"$@\"", (unsigned)t->umask & 0777);
    argv[n++] = "/bin/sh";
    argv[n++] = "-c";
    argv[n++] = text;
    argv[n++] = "sh";
    memcpy(argv + n, t->argv, (t->argc + 1) * sizeof(*argv));
}

int bz_tool_try(const struct bz_tool *t, struct bz_buf *out, int *status,
                struct bz_buf *said, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    const char *env[BZ_TOOL_ENV], *masked[SHELL_ARGS + BZ_TOOL_ARGS + 1];
    char mask[TEXT];
    struct bz_proc_result result = {0};
    struct bz_proc_spec spec = {
        .argv = t->argv,
        .env = env,
        .cwd = t->cwd,
        .group = BZ_PROC_OWN_SESSION,
        .err = {.kind = t->merge ? BZ_PROC_MERGE : BZ_PROC_CAPTURE},
        .deadline = bz_clock_in(t->patience ? t->patience : PATIENCE),
        .capture_max = KEEP};
    int rc;

    make_env(t, &text, env);
    if (t->umask) {
        set_umask(t, mask, masked);
        spec.argv = masked;
    }
    rc = run_child(t, &spec, &result, err);
    if (rc < 0) {
        bz_proc_pump_release_result(&result);
        return rc;
    }
    *status = result.exit_code;
    add_capture(&result.out, out);
    add_capture(&result.err, said);
    if (result.why == BZ_PROC_PUMP_TIMEOUT)
        rc = bz_fail(err, BZ_E_TIMEOUT, "%s takes too long", t->argv[0]);
    else if (result.signal)
        rc = bz_fail(err, BZ_E_IO, "%s was ended by signal %d", t->argv[0],
                     result.signal);
    bz_proc_pump_release_result(&result);
    return rc;
}

/* The end of what it said, on one line, without secrets. */
static void add_said(struct bz_str said, struct bz_buf *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf clean = {0};

    said = bz_str_trim(said);
    if (said.n > SAID)
        said = bz_str_sub(said, said.n - SAID, said.n);
    bz_uri_redact(said, &clean);
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.data[i] == '\n' || clean.data[i] == '\r')
            bz_buf_addf(out, "; ");
        else
            bz_buf_add_char(out, clean.data[i]);
    }
}

int bz_tool_run(const struct bz_tool *t, struct bz_buf *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf said = {0}, shown = {0};
    int status = 0, rc = bz_tool_try(t, out, &status, &said, err);

    if (rc < 0 || status == 0)
        return rc;
    add_said(t->merge && out ? bz_buf_str(out) : bz_buf_str(&said), &shown);
    return bz_fail(err, BZ_E_IO, "%s fails with status %d: %s", t->argv[0], status,
                   shown.len > 0 ? bz_buf_text(&shown) : "it says nothing");
}
