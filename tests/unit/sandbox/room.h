/* room.h - a sandbox that runs shell scripts, for tests. */
#ifndef BZ_TEST_SANDBOX_ROOM_H
#define BZ_TEST_SANDBOX_ROOM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/fs_remove.h"
#include "os/proc_pump.h"
#include "sandbox/host.h"
#include "sandbox/sandbox.h"
#include "tests/unit/bz_test.h"

struct room {
    char dir[32]; /* of the test's own; `anchor` in it is the sandbox's */
    struct bz_sandbox *sb;
    struct bz_spec spec;
    char out[8192]; /* what the last script wrote, both streams */
    char tried[80]; /* the address that it tried to reach */
};

static inline void room_path(const struct room *r, const char *name, char out[128])
{
    snprintf(out, 128, "%s/%s", r->dir, name);
}

/* A machine without namespaces cannot tell anything; where they must work, that is a
 * failure. `bare`: without namespaces, but with Landlock. */
static inline void room_open_as(struct room *r, bool bare)
{
    struct bz_err err;
    char anchor[128];

    memset(r, 0, sizeof(*r));
    strcpy(r->dir, "/tmp/bz-test-XXXXXX");
    assert_non_null(mkdtemp(r->dir));
    room_path(r, "anchor", anchor);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, anchor, 0755, &err), &err);
    bz_spec_init(&r->spec);
    if ((bare ? bz_sandbox_open_bare(&r->sb, &err)
              : bz_sandbox_open(anchor, &r->sb, &err)) == 0)
        return;
    if (err.code != BZ_E_NOSUP || getenv("BITZEL_MUST_WORK"))
        fail_msg("%s", err.msg);
    print_message("%s\n", err.msg);
    skip();
}

static inline void room_open(struct room *r)
{
    room_open_as(r, false);
}

static inline void room_close(struct room *r)
{
    struct bz_err err;

    bz_spec_release(&r->spec);
    bz_sandbox_close(r->sb);
    assert_ok(bz_fs_remove(AT_FDCWD, r->dir, &err), &err);
}

static inline void room_add(struct room *r, enum bz_spec_kind kind, const char *target,
                            const char *source)
{
    struct bz_err err;

    assert_ok(bz_spec_add(&r->spec, kind, target, bz_str_from(source), &err), &err);
}

static inline void room_done(void *ctx, struct bz_proc_result *result)
{
    struct bz_proc_result *kept = ctx;

    *kept = *result;
    memset(result, 0, sizeof(*result));
}

/* Runs a script in the sandbox of r->spec; its exit status, or minus a signal. */
static inline int room_run(struct room *r, const char *script)
{
    struct bz_proc_spec io = {.err.kind = BZ_PROC_MERGE,
                              .deadline = bz_clock_in(20 * BZ_CLOCK_S)};
    struct bz_proc_result result = {0};
    struct bz_proc_handler handler = {.done = room_done, .ctx = &result};
    struct bz_sandbox_child child;
    struct bz_proc_pump *pump;
    struct bz_err err;
    char *text;
    size_t n;
    int ended;

    r->spec.argv.len = 0;
    bz_spec_arg(&r->spec, "/bin/sh");
    bz_spec_arg(&r->spec, "-c");
    bz_spec_arg(&r->spec, script);
    if (r->spec.env.len == 0)
        bz_spec_env(&r->spec, "PATH=/usr/bin:/bin:/usr/sbin:/sbin");
    assert_ok(bz_proc_pump_open(&pump, &err), &err);
    assert_ok(bz_sandbox_start(r->sb, &r->spec, &io, &child, &err), &err);
    assert_ok(bz_proc_pump_adopt(pump, &child.proc, &io, &handler, NULL, &err), &err);
    assert_ok(bz_proc_pump_run(pump, &err), &err);
    bz_proc_pump_close(pump);
    bz_sandbox_leave(r->sb, &child);
    snprintf(r->tried, sizeof(r->tried), "%s", child.tried);
    assert_int_equal(result.why, BZ_PROC_PUMP_ENDED);
    text = bz_capture_text(&result.out, &n);
    snprintf(r->out, sizeof(r->out), "%s", text);
    free(text);
    ended = result.signal ? -result.signal : result.exit_code;
    bz_proc_pump_release_result(&result);
    return ended;
}

#define assert_script(r, script, want)                                                 \
    do {                                                                               \
        int room_rc = room_run((r), (script));                                         \
        assert_string_equal((r)->out, (want));                                         \
        assert_int_equal(room_rc, 0);                                                  \
    } while (0)

#endif
