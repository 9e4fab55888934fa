/* serve_ops.h - what `bitzel serve` can be asked for, by name or number.
 *
 *   1 build     parts: the lines of `build --events`, and {"event": "message", "text"}
 *               for what it says besides; {"event": "waiting", "for": ...} while
 *               another build of the project runs. Whoever does not read them for
 *               some seconds loses parts: {"event": "lost", "count": 12} says how many.
 *               At the end {"exit_code": 0, "summary": {...}}, the summary as of
 *               `build --json`, with "lost" if there was no other way to tell
 *   2 plan  3 why  4 getvar  5 graph  6 cache: what the command says with --json
 *   7 cancel    {"task_id": 7}: interrupts a build of the same client as Ctrl-C does,
 *               also for the second time; {"canceled": true}
 *   8 status    who serves, and what runs
 *   9 shutdown  interrupts all builds, sends what is left to say, and ends
 *
 * 1 to 6 take {"project": DIR, "options": {...}, "env": {...}} (serve_request.h), all
 * but getvar and cache "targets", getvar "variable", and cache "command" (info, du,
 * ls).
 */
#ifndef BZ_CMD_SERVE_OPS_H
#define BZ_CMD_SERVE_OPS_H

#include "cmd.h"
#include "jobs/dispatch.h"
#include "serve_desk.h"
#include "serve_warm.h"

#define BZ_SERVE_OPS_PROTOCOL 1
#define BZ_SERVE_OPS_COUNT 9

struct bz_serve_ops {
    const struct bz_opt *global; /* to be set before: the rows of global options */
    const char *const *env;      /* likewise: bz_serve_request_base() */
    const char *socket;          /* likewise */
    int64_t began;               /* likewise */
    struct bz_serve_desk desk;
    struct bz_serve_warm warm;
    struct bz_handler rows[BZ_SERVE_OPS_COUNT];
};

/* Offers them; *ops and the table outlive the service. */
int bz_serve_ops_offer(struct bz_serve_ops *ops, struct bz_dispatch *d,
                       struct bz_err *err) BZ_MUST_CHECK;

#endif
