/* handlers.h - the handlers that every service has.
 *
 *   memory_read   {"read_from": "symbol", "offset": 0, "size": 10}: the bytes
 *   memory_write  {"write_to": "symbol", "offset": 0, "data": "text"}: how many bytes
 *   file_read     {"path": "/root/file", "offset": 0, "size": 10}: the bytes
 *   file_write    {"path": "/root/file", "data": "text", "append": false}: how many
 *   http_get      {"url": "https://..."}, and
 *   http_post     {"url": "https://...", "body": "text"}: webjob.h
 *
 * offset, size and append may be left out. read_memory and write_memory are other names
 * of the first two, and updater does nothing at all. Files are those below the roots of
 * the config file; no link leads out of them.
 */
#ifndef BZ_JOBS_HANDLERS_H
#define BZ_JOBS_HANDLERS_H

#include "jobs/call.h"
#include "jobs/jobconf.h"
#include "jobs/webjob.h"

#define BZ_HANDLERS_FILE ((size_t)64 << 20) /* bytes that are read at most */

/* What the handlers need. */
struct bz_handlers {
    const struct bz_jobconf_texts *roots; /* for files */
    struct bz_webjob web;
    struct bz_handler rows[9];
};

/* Offers them; *h and the table outlive the service. */
int bz_handlers_offer(struct bz_handlers *h, struct bz_dispatch *d,
                      struct bz_err *err) BZ_MUST_CHECK;

/* After the service is gone. */
void bz_handlers_release(struct bz_handlers *h);

#endif
