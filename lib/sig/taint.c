#include "sig/taint.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/path.h"

#define FILE_LIMIT ((size_t)16 << 20)

static void put(struct bz_taint *t, struct bz_str task, struct bz_str value)
{
    struct bz_map_entry *e = bz_map_get(&t->values, task);

    if (!e)
        e = bz_map_put(&t->values, bz_arena_dup(&t->arena, task));
    e->p = (void *)(uintptr_t)bz_arena_dup(&t->arena, value).p;
}

void bz_taint_open(struct bz_taint *t, const char *build_dir)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_str rest, line, task, value;
    struct bz_err ignored;
    size_t n;

    *t = (struct bz_taint){0};
    t->path = bz_arena_printf(&t->arena, "%s/cache/bitzel.taints", build_dir).p;
    if (bz_fs_read(AT_FDCWD, t->path, FILE_LIMIT, &text, &n, &ignored) < 0)
        return;
    rest = bz_str_of(text, n);
    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line))
        if (bz_str_cut(line, ' ', &task, &value) && task.n > 0 && value.n > 0)
            put(t, task, value);
}

void bz_taint_release(struct bz_taint *t)
{
    bz_map_release(&t->values);
    bz_arena_release(&t->arena);
    *t = (struct bz_taint){0};
}

void bz_taint_set(struct bz_taint *t, struct bz_str task)
{
    put(t, task,
        bz_arena_printf(&t->arena, "%llx", (unsigned long long)bz_clock_wall()));
}

void bz_taint_clear(struct bz_taint *t, struct bz_str task)
{
    bz_map_remove(&t->values, task);
}

struct bz_str bz_taint_when(const struct bz_taint *t, struct bz_str task,
                            struct bz_arena *a)
{
    const struct bz_map_entry *e = bz_map_get(&t->values, task);
    char when[32];
    struct bz_err ignored;
    uint64_t ns = 0;
    time_t seconds;
    struct tm tm;

    if (!e)
        return (struct bz_str){0};
    if (bz_str_parse_u64(bz_str_from(e->p), 16, INT64_MAX, &ns, &ignored) < 0)
        return BZ_STR("an unknown time");
    seconds = (time_t)(ns / (uint64_t)BZ_CLOCK_S);
    gmtime_r(&seconds, &tm);
    strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
    return bz_arena_printf(a, "%s.%03u UTC", when,
                           (unsigned)(ns % (uint64_t)BZ_CLOCK_S / BZ_CLOCK_MS));
}

int bz_taint_save(const struct bz_taint *t, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str dir = bz_path_dirname(bz_str_from(t->path));
    struct bz_path parent;
    int rc = bz_path_join(BZ_STR(""), dir, &parent, err);

    for (const struct bz_map_entry *e = bz_map_next(&t->values, NULL); e;
         e = bz_map_next(&t->values, e))
        bz_buf_addf(&text, "%.*s %s\n", BZ_STR_ARG(e->key), (const char *)e->p);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, parent.s, 0755, err);
    return rc < 0 ? rc
                  : bz_fs_write(AT_FDCWD, t->path, text.data, text.len, 0644,
                                BZ_FS_NOSYNC, err);
}

bool bz_taint_mix(const struct bz_taint *t, const struct bz_goal *goal,
                  struct bz_digest_hasher *h, struct bz_digest *base)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    bool any = false;

    for (uint32_t i = 0; t->values.len > 0 && i < goal->graph.dag.n; i++) {
        const struct bz_map_entry *e;

        bz_buf_truncate(&name, 0);
        bz_goal_task_name(goal, i, &name);
        e = bz_map_get(&t->values, bz_buf_str(&name));
        if (!e)
            continue;
        bz_sign_taint(h, bz_str_from(e->p), &base[i]);
        any = true;
    }
    return any;
}
