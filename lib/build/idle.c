#include "build/idle.h"

#include <string.h>

#include "build/outdir.h"
#include "cache/shelf.h"
#include "fetch/revision.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/stamp.h"
#include "sig/files.h"

#define FORMAT "bitzel idle 3"
#define HOLDS (BZ_SHELF_TOUCH / 2 * BZ_CLOCK_S)

/* ---- which build it is ---- */

static bool is_whole(const struct bz_survey *s)
{
    return s->parsed == 0 && bz_recall_whole(&s->recall);
}

static void add_text(struct bz_digest_hasher *h, uint8_t tag, const char *text)
{
    if (text)
        bz_digest_add_field(h, tag, text, strlen(text));
}

static void name_build(struct bz_digest_hasher *h, const struct bz_idle_about *about,
                       struct bz_digest *out)
{
    const struct bz_entries_key *survey = &about->survey->recall.old.last;

    bz_digest_begin(h);
    add_text(h, 'f', FORMAT);
    bz_digest_add_field(h, 's', survey->b, sizeof(survey->b));
    add_text(h, 'd', about->store);
    add_text(h, 'c', about->goal->task);
    for (size_t i = 0; i < about->goal->n; i++)
        add_text(h, 't', about->goal->targets[i]);
    bz_digest_end(h, out);
}

/* A record for each set of targets, whatever else there is to know of a build. */
static void record_key(struct bz_digest_hasher *h, const struct bz_idle_about *about,
                       struct bz_entries_key *out)
{
    struct bz_digest name;

    bz_digest_begin(h);
    add_text(h, 'c', about->goal->task);
    for (size_t i = 0; i < about->goal->n; i++)
        add_text(h, 't', about->goal->targets[i]);
    bz_digest_end(h, &name);
    memcpy(out->b, name.b, sizeof(out->b));
}

static struct bz_str result_path(struct bz_arena *a, const char *store,
                                 const struct bz_digest *key)
{
    char name[BZ_SHELF_NAME];

    bz_shelf_name(key, name);
    return bz_arena_printf(a, "%s/ac/%s", store, name);
}

/* ---- files that count ---- */

/* The commits that revisions were resolved to. */
static bool digest_commits(struct bz_str list, const char *revisions,
                           struct bz_digest_hasher *h, struct bz_digest *out)
{
    struct bz_revisions *all = NULL;
    struct bz_str question;
    bool good = true;

    while (good && bz_files_next_question(&list, &question)) {
        char commit[BZ_REVISION_HEX];

        if (!all)
            all = bz_revision_open(revisions, false);
        good = bz_revision_find(all, question, commit, NULL);
        if (good)
            bz_base_add_commit(h, question, bz_str_from(commit), out);
    }
    bz_revision_close(all);
    return good;
}

/* Folds what the lists of files lead to into one digest; false if one of them would be
 * made differently now. */
static bool digest_files(struct bz_str lists, const struct bz_idle_about *about,
                         struct bz_digest_hasher *h, struct bz_digest *out)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    const char *revisions =
        bz_arena_printf(&a, "%s/cache/bitzel.revisions", about->build_dir).p;
    struct bz_sums sums;
    struct bz_err ignored;
    bool good = true;

    *out = (struct bz_digest){0};
    if (lists.n == 0)
        return true;
    bz_sums_open(&sums, about->catalog, h);
    while (good && lists.n > 0) {
        BZ_CLEANUP(bz_vec_release) struct bz_base_files files = {0};
        uint32_t n = UINT32_MAX;
        struct bz_str list;

        if (lists.n >= sizeof(n))
            memcpy(&n, lists.p, sizeof(n));
        good = lists.n >= sizeof(n) && n <= lists.n - sizeof(n);
        if (!good)
            break;
        list = bz_str_sub(lists, sizeof(n), sizeof(n) + n);
        lists = bz_str_drop(lists, sizeof(n) + n);
        good = bz_files_hold(list) &&
               bz_files_read(list, &sums, &a, &files, &ignored) == 0;
        if (good)
            bz_base_add_files(h, &files, out);
        good = good && digest_commits(list, revisions, h, out);
    }
    bz_sums_close(&sums);
    return good;
}

/* ---- reading ---- */

struct reader {
    struct bz_str rest;
    bool bad;
};

static void take(struct reader *r, void *out, size_t n)
{
    memset(out, 0, n);
    if (r->rest.n < n)
        r->bad = true;
    if (r->bad)
        return;
    memcpy(out, r->rest.p, n);
    r->rest = bz_str_drop(r->rest, n);
}

static struct bz_str take_text(struct reader *r)
{
    struct bz_str text;
    uint32_t n;

    take(r, &n, sizeof(n));
    /* A zero is after it, so that it is a C string, too. */
    if (r->rest.n <= n || r->rest.p[n] != '\0')
        r->bad = true;
    if (r->bad)
        return BZ_STR("");
    text = bz_str_of(r->rest.p, n);
    r->rest = bz_str_drop(r->rest, n + 1);
    return text;
}

/* What a path was like, and is now: *out. */
static bool take_stamp(struct reader *r, int dir, const char *path,
                       struct bz_stamp *out)
{
    struct bz_stamp then;

    take(r, &then, sizeof(then));
    if (r->bad)
        return false;
    bz_stamp_path(dir, path, out);
    return bz_stamp_same(&then, out);
}

/* The head of a record: who it is for, when it was made, how many tasks. */
struct head {
    struct bz_digest build;
    int64_t wall;
    struct bz_event_counts counts;
    int64_t spared;
    struct bz_digest files;
    uint64_t results, places;
};

static bool is_recent(int64_t wall)
{
    int64_t age = bz_clock_wall() - wall;

    return age >= 0 && age < HOLDS;
}

static bool take_results(struct reader *r, uint64_t n, const char *store,
                         struct bz_idle *out)
{
    bool good = true;

    for (uint64_t i = 0; i < n && good && !r->bad; i++) {
        struct bz_idle_result result = {.task = take_text(r)};
        struct bz_stamp now;

        take(r, &result.key, sizeof(result.key));
        take(r, &result.saved, sizeof(result.saved));
        good = take_stamp(r, AT_FDCWD, result_path(&out->arena, store, &result.key).p,
                          &now);
        BZ_VEC_PUSH(&out->results, result);
    }
    return good && !r->bad;
}

static bool take_places(struct reader *r, uint64_t n, const struct bz_idle_about *about)
{
    BZ_CLEANUP(bz_fs_closep)
    int dir = open(about->build_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    BZ_CLEANUP(bz_buf_release) struct bz_buf tree = {0};
    bool good = dir >= 0;

    for (uint64_t i = 0; i < n && good && !r->bad; i++) {
        struct bz_str path = take_text(r);
        struct bz_stamp now;

        good = take_stamp(r, dir, path.p, &now) &&
               (now.kind != BZ_STAMP_DIR ||
                bz_outdir_is_untouched(dir, path.p, about->store, &tree));
    }
    return good && !r->bad && r->rest.n == 0;
}

static bool holds(struct bz_str bytes, const struct bz_idle_about *about,
                  struct bz_digest_hasher *h, struct bz_idle *out)
{
    struct bz_digest build, files;
    struct reader r = {.rest = bytes};
    struct head head;
    struct bz_str lists;

    take(&r, &head, sizeof(head));
    name_build(h, about, &build);
    if (r.bad || !bz_digest_eq(&build, &head.build) || !is_recent(head.wall))
        return false;
    out->counts = head.counts;
    out->spared = head.spared;
    lists = take_text(&r);
    return take_results(&r, head.results, about->store, out) &&
           take_places(&r, head.places, about) &&
           digest_files(lists, about, h, &files) && bz_digest_eq(&files, &head.files);
}

bool bz_idle_find(struct bz_idle *out, const struct bz_idle_about *about)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct bz_entries_key key;
    struct bz_str bytes;
    struct bz_err ignored;
    bool good;

    *out = (struct bz_idle){0};
    if (!is_whole(about->survey) || bz_digest_hasher_new(&h, &ignored) < 0)
        return false;
    record_key(h, about, &key);
    good = bz_entries_find(about->catalog, BZ_IDLE_KIND, &key, &bytes) &&
           holds(bytes, about, h, out);
    if (!good)
        BZ_VEC_CLEAR(&out->results);
    return good;
}

void bz_idle_release(struct bz_idle *idle)
{
    bz_vec_release(&idle->results);
    bz_arena_release(&idle->arena);
    *idle = (struct bz_idle){0};
}

/* ---- writing ---- */

struct writer {
    const struct bz_idle_about *about;
    const struct bz_goal *goal;
    struct bz_arena arena;
    struct bz_buf body;
    uint64_t places;
    bool unsettled; /* some of them: the next build may keep a record */
};

static void put_text(struct bz_buf *out, struct bz_str text)
{
    uint32_t n = (uint32_t)text.n;

    bz_buf_add(out, &n, sizeof(n));
    bz_buf_add_str(out, text);
    bz_buf_add_char(out, '\0');
}

static struct bz_stamp put_stamp(struct bz_buf *out, int dir, const char *path)
{
    struct bz_stamp stamp;

    bz_stamp_path(dir, path, &stamp);
    bz_buf_add(out, &stamp, sizeof(stamp));
    return stamp;
}

static void put_place(struct writer *w, int dir, struct bz_str path)
{
    put_text(&w->body, path);
    /* If it has changed just now, another change within the same tick of the clock
     * could not be told from that. */
    w->unsettled |= !put_stamp(&w->body, dir, path.p).settled;
    w->places++;
}

/* Where a target's output is to be seen. The directory tells of the links in it, and
 * they of the trees that they lead to, whose files have a stamp of their own. */
static void put_target(struct writer *w, int dir, uint32_t task)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list names = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    struct bz_err ignored;
    struct bz_str path;

    bz_outdir_name(w->goal, w->goal->graph.tasks[task].recipe, &name);
    path = bz_arena_dup(&w->arena, bz_buf_str(&name));
    put_place(w, dir, path);
    if (bz_fs_list_dir(dir, path.p, &names, &ignored) < 0)
        return;
    for (size_t i = 0; i < names.n; i++)
        put_place(w, dir, bz_arena_printf(&w->arena, "%s/%s", path.p, names.names[i]));
}

static bool put_results(struct writer *w, const struct bz_idle_uses *used,
                        const struct bz_digest *keys)
{
    bool good = true;

    for (size_t i = 0; i < used->len && good; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
        const struct bz_digest *key = &keys[used->at[i].task];
        struct bz_stamp stamp;

        bz_goal_task_name(w->goal, used->at[i].task, &name);
        put_text(&w->body, bz_buf_str(&name));
        bz_buf_add(&w->body, key, sizeof(*key));
        bz_buf_add(&w->body, &used->at[i].saved, sizeof(used->at[i].saved));
        stamp = put_stamp(&w->body, AT_FDCWD,
                          result_path(&w->arena, w->about->store, key).p);
        good = stamp.kind == BZ_STAMP_FILE && stamp.settled;
    }
    return good;
}

static int save(struct writer *w, const struct head *head, struct bz_str lists,
                struct bz_digest_hasher *h, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    struct bz_entries_key key;

    bz_buf_add(&bytes, head, sizeof(*head));
    put_text(&bytes, lists);
    bz_buf_add_str(&bytes, bz_buf_str(&w->body));
    record_key(h, w->about, &key);
    bz_entries_put(w->about->catalog, BZ_IDLE_KIND, &key, bz_buf_str(&bytes));
    return bz_entries_save(w->about->catalog, err);
}

int bz_idle_keep(const struct bz_idle_about *about, const struct bz_goal *goal,
                 const struct bz_signing *s, const struct bz_idle_found *found,
                 struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    BZ_CLEANUP(bz_fs_closep) int dir = -1;
    struct writer w = {.about = about, .goal = goal};
    const struct bz_event_counts *counts = &found->counts;
    struct head head = {
        .wall = bz_clock_wall(), .counts = *counts, .spared = found->spared};
    int rc = 0;

    if (!is_whole(about->survey) || s->evaluated > 0 || s->pure ||
        counts->executed + counts->failed > 0)
        return 0;
    dir = open(about->build_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return bz_fail_sys(err, "open %s", about->build_dir);
    rc = bz_digest_hasher_new(&h, err);
    if (rc == 0 && put_results(&w, &found->used, s->keys) &&
        digest_files(bz_buf_str(&s->lists), about, h, &head.files)) {
        for (size_t i = 0; i < goal->graph.targets.len; i++)
            put_target(&w, dir, goal->graph.targets.at[i]);
        name_build(h, about, &head.build);
        head.results = found->used.len;
        head.places = w.places;
        rc = w.unsettled ? 0 : save(&w, &head, bz_buf_str(&s->lists), h, err);
    }
    bz_buf_release(&w.body);
    bz_arena_release(&w.arena);
    return rc;
}
