/* observe_meta.h - the lists of a struct bz_meta as text, for comparison. */
#ifndef BZ_TESTS_OBSERVE_META_H
#define BZ_TESTS_OBSERVE_META_H

#include "base/buf.h"
#include "recipe/meta.h"

static inline void observe_list_of(struct bz_buf *out, const char *what,
                                   const struct bz_str *names, size_t n)
{
    bz_buf_addf(out, "%s:\n", what);
    for (size_t i = 0; i < n; i++)
        bz_buf_addf(out, "  %.*s\n", BZ_STR_ARG(names[i]));
}

static inline void observe_tasks(const struct bz_taskdefs *tasks, struct bz_buf *out)
{
    observe_list_of(out, "order", tasks->order.at, tasks->order.len);
    for (size_t i = 0; i < tasks->all.len; i++) {
        const struct bz_taskdef *t = &tasks->all.at[i];

        bz_buf_addf(out, "task %.*s listed %d\n", BZ_STR_ARG(t->name), t->listed);
        observe_list_of(out, "after", t->after.at, t->after.len);
        for (size_t k = 0; k < t->places.len; k++)
            bz_buf_addf(out, "  %.*s %s:%u\n", BZ_STR_ARG(t->places.at[k].after),
                        t->places.at[k].file, t->places.at[k].line);
    }
}

static inline void observe_meta(const struct bz_meta *m, struct bz_buf *out)
{
    bz_buf_addf(out, "class %s complete %d config %d skipped %s'%.*s'\n", m->class_type,
                m->complete, m->config != NULL, m->skipped.p ? "" : "NULL",
                BZ_STR_ARG(m->skipped));
    observe_list_of(out, "inherited", m->inherited.at, m->inherited.len);
    observe_list_of(out, "handlers", m->handlers.at, m->handlers.len);
    observe_list_of(out, "anonymous", m->anonymous.at, m->anonymous.len);
    observe_list_of(out, "looked at", m->looked_at.at, m->looked_at.len);
    for (size_t i = 0; i < m->looked_at.len; i++)
        bz_buf_addf(out, "%d", bz_meta_looked(m, m->looked_at.at[i]));
    observe_tasks(&m->tasks, out);
    for (size_t i = 0; i < m->deferred.len; i++)
        bz_buf_addf(out, "deferred %.*s %s:%u\n", BZ_STR_ARG(m->deferred.at[i].classes),
                    m->deferred.at[i].file, m->deferred.at[i].line);
    for (size_t i = 0; i < m->bodies.len; i++)
        bz_buf_addf(out, "body %.*s %s:%u %.*s\n", BZ_STR_ARG(m->bodies.at[i].name),
                    m->bodies.at[i].file, m->bodies.at[i].line,
                    BZ_STR_ARG(m->bodies.at[i].text));
    for (size_t i = 0; i < m->pylibs.len; i++)
        bz_buf_addf(out, "pylib %.*s %.*s\n", BZ_STR_ARG(m->pylibs.at[i].dir),
                    BZ_STR_ARG(m->pylibs.at[i].name));
}

#endif
