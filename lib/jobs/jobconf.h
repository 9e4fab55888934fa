/* jobconf.h - the config file of a service.
 *
 *     # Threads and room
 *     thread_count=4
 *     initial_task_capacity=256
 *     result_queue_capacity=128
 *     # opcode=handler_name
 *     1=http_get
 *     3=memory_write
 *     8=resize process      (in a process of its own, by this number)
 *     # handlers from a shared object, which exports bitzel_handlers
 *     load=/usr/lib/my-handlers.so
 *     # a directory whose mailboxes are read
 *     watch=/run/user/1000/my-mail
 *     # files may be read and written below these
 *     root=/srv/data
 *
 * What is wrong is told with file and line.
 */
#ifndef BZ_JOBS_JOBCONF_H
#define BZ_JOBS_JOBCONF_H

#include "base/arena.h"
#include "base/vec.h"
#include "jobs/request.h"

struct bz_jobconf_binding {
    uint32_t opcode;
    struct bz_str name;
    bool isolate, here; /* "process", "thread": not as the handler has it */
    unsigned line;
};

struct bz_jobconf_texts BZ_VEC(struct bz_str);
struct bz_jobconf_lines BZ_VEC(unsigned);

struct bz_jobconf {
    unsigned threads, io_threads;
    size_t tasks, tasks_max, results, mail;
    uint32_t timeout;
    struct bz_jobconf_bindings BZ_VEC(struct bz_jobconf_binding) bindings;
    struct bz_jobconf_texts roots, loads; /* absolute paths, no '/' at their ends */
    struct bz_jobconf_lines load_lines;   /* where these are */
    struct bz_jobconf_texts watches;      /* at most one */
    struct bz_arena arena;
};

/* Fills *c, which is empty, with defaults where the text has nothing. BZ_E_INVAL with
 * "path:line: ...". Release it in any case. */
int bz_jobconf_parse(struct bz_jobconf *c, struct bz_str text, const char *path,
                     struct bz_err *err) BZ_MUST_CHECK;
int bz_jobconf_read(struct bz_jobconf *c, const char *path,
                    struct bz_err *err) BZ_MUST_CHECK;
void bz_jobconf_release(struct bz_jobconf *c);

#endif
