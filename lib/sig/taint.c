#include "sig/taint.h"

#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/fs.h"

#define FILE_LIMIT ((size_t)16 << 20)

static void put(struct bz_taint *t, struct bz_str task, struct bz_str value)
{
    struct bz_map_entry *e = bz_map_get(&t->values, task);

    if (!e)
        e = bz_map_put(&t->values, bz_arena_dup(&t->arena, task));
    e->p = (void *)(uintptr_t)bz_arena_dup(&t->arena, value).p;
}

static void note_change(struct bz_taint *t, struct bz_str task)
{
    if (!bz_map_get(&t->changed, task))
        bz_map_put(&t->changed, bz_arena_dup(&t->arena, task));
}

/* "TASK VALUE". */
static bool read_line(struct bz_taint *t, struct bz_str line, struct bz_str *task)
{
    struct bz_str value;

    if (!bz_str_cut(line, ' ', task, &value) || task->n == 0 || value.n == 0)
        return false;
    put(t, *task, value);
    return true;
}

static void read_entry(void *ctx, uint32_t kind, const struct bz_entries_key *key,
                       struct bz_str bytes)
{
    struct bz_str task;

    (void)kind;
    (void)key;
    read_line(ctx, bytes, &task);
}

/* Makes entries of the file that earlier versions had. */
static void move_file(struct bz_taint *t, const char *path)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_str rest, line, task;
    struct bz_err err;
    size_t n;

    if (bz_fs_read(AT_FDCWD, path, FILE_LIMIT, &text, &n, &err) < 0)
        return;
    rest = bz_str_of(text, n);
    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line))
        if (read_line(t, line, &task))
            note_change(t, task);
    if (!bz_entries_is_saved(t->catalog))
        return;
    if (bz_taint_save(t, &err) < 0)
        bz_log_debug("taint", "%s stays: %s", path, err.msg);
    else
        unlink(path);
}

void bz_taint_open(struct bz_taint *t, struct bz_entries *catalog,
                   const char *build_dir)
{
    *t = (struct bz_taint){.catalog = catalog};
    bz_entries_each_kept(catalog, BZ_TAINT_KIND, read_entry, t);
    move_file(t, bz_arena_printf(&t->arena, "%s/cache/bitzel.taints", build_dir).p);
}

void bz_taint_release(struct bz_taint *t)
{
    bz_map_release(&t->values);
    bz_map_release(&t->changed);
    bz_arena_release(&t->arena);
    *t = (struct bz_taint){0};
}

void bz_taint_set(struct bz_taint *t, struct bz_str task)
{
    put(t, task,
        bz_arena_printf(&t->arena, "%llx", (unsigned long long)bz_clock_wall()));
    note_change(t, task);
}

void bz_taint_clear(struct bz_taint *t, struct bz_str task)
{
    if (bz_map_remove(&t->values, task))
        note_change(t, task);
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

int bz_taint_save(struct bz_taint *t, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    for (const struct bz_map_entry *e = bz_map_next(&t->changed, NULL); e;
         e = bz_map_next(&t->changed, e)) {
        const struct bz_map_entry *value = bz_map_get(&t->values, e->key);
        struct bz_entries_key key;

        bz_entries_key_of(e->key, &key);
        if (!value) {
            bz_entries_drop(t->catalog, BZ_TAINT_KIND, &key);
            continue;
        }
        bz_buf_truncate(&text, 0);
        bz_buf_addf(&text, "%.*s %s", BZ_STR_ARG(e->key), (const char *)value->p);
        bz_entries_put(t->catalog, BZ_TAINT_KIND, &key, bz_buf_str(&text));
    }
    bz_map_clear(&t->changed);
    return bz_entries_save(t->catalog, err);
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
