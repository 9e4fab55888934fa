#include "build_quality.h"

#include <stdlib.h>

#include "os/fs_output.h"
#include "os/path.h"

/* From where a sandbox sees it to where it is; false if no layer has it. */
static bool find_outside(const struct bz_build *b, struct bz_str file,
                         struct bz_path *out)
{
    struct bz_err ignored;
    struct bz_path joined;

    for (size_t i = 0; i < b->jobs.paths.layers.len; i++) {
        const struct bz_pathmap_layer *layer = &b->jobs.paths.layers.at[i];
        struct bz_str left = file;

        if (!bz_str_cut_prefix(&left, layer->inside) || left.n < 2 || left.p[0] != '/')
            continue;
        left = bz_str_drop(left, 1);
        return bz_path_join(layer->host, left, &joined, &ignored) == 0 &&
               bz_path_normalise(bz_path_str(&joined), out, &ignored) == 0;
    }
    return false;
}

static const char *find_repository(void)
{
    const char *github = getenv("GITHUB_WORKSPACE");

    return github ? github : getenv("CI_PROJECT_DIR");
}

void bz_build_quality_path(const struct bz_build *b, struct bz_str file,
                           struct bz_buf *out)
{
    const char *repository = find_repository();
    struct bz_path outside, relative;
    struct bz_err ignored;

    if (find_outside(b, file, &outside))
        file = bz_path_str(&outside);
    if (repository && file.n > 0 && file.p[0] == '/' &&
        bz_path_relative(bz_str_from(repository), file, &relative, &ignored) == 0 &&
        !bz_str_starts(bz_path_str(&relative), BZ_STR("..")))
        file = bz_path_str(&relative);
    bz_buf_add_str(out, file);
}

/* Without numbers: what has moved to another line is the same. */
static void add_fingerprint(struct bz_jsonw *w, struct bz_str task, const char *text)
{
    static const char digits[] = "0123456789";
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    char hex[BZ_DIGEST_HEX_LEN + 1] = "";
    struct bz_digest digest;
    struct bz_err ignored;

    if (bz_digest_hasher_new(&h, &ignored) == 0) {
        bz_digest_begin(h);
        bz_digest_add_field(h, 't', task.p, task.n);
        for (text += strspn(text, digits); *text; text += strspn(text, digits)) {
            size_t n = strcspn(text, digits);

            bz_digest_add(h, text, n);
            text += n;
        }
        bz_digest_end(h, &digest);
        bz_digest_hex(&digest, hex);
    }
    bz_jsonw_cstr(bz_jsonw_key(w, "fingerprint"), hex);
}

static void begin(struct bz_build_quality *q)
{
    if (q->w.out)
        return;
    q->w = bz_jsonw_to(&q->text, 2);
    bz_jsonw_list(&q->w);
}

void bz_build_quality_add(struct bz_build_quality *q, const struct bz_build *b,
                          const struct bz_event *e, const struct bz_firsterror *first,
                          const char *how)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    const struct bz_tgraph *g = &b->goal.graph;
    const char *line = first->line[0] ? first->line : how;
    struct bz_jsonw *w = &q->w;

    if (!q->file)
        return;
    begin(q);
    bz_build_quality_path(b,
                          first->file[0]
                              ? bz_str_from(first->file)
                              : g->recipes[g->tasks[e->task].recipe].facts->path,
                          &path);
    bz_buf_addf(&text, "%.*s: %s", BZ_STR_ARG(b->names[e->task]), line);
    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "description"), bz_buf_str(&text));
    bz_jsonw_cstr(bz_jsonw_key(w, "check_name"), "bitzel build");
    add_fingerprint(w, b->names[e->task], line);
    bz_jsonw_cstr(bz_jsonw_key(w, "severity"), "blocker");
    bz_jsonw_map(bz_jsonw_key(w, "location"));
    bz_jsonw_str(bz_jsonw_key(w, "path"), bz_buf_str(&path));
    bz_jsonw_map(bz_jsonw_key(w, "lines"));
    bz_jsonw_int(bz_jsonw_key(w, "begin"), first->file[0] ? first->number : 1);
    bz_jsonw_map_end(w);
    bz_jsonw_map_end(w);
    bz_jsonw_map_end(w);
}

int bz_build_quality_write(struct bz_build_quality *q, struct bz_err *err)
{
    int rc = 0;

    if (q->file) {
        begin(q);
        bz_jsonw_list_end(&q->w);
        bz_buf_add_char(&q->text, '\n');
        rc = bz_fs_output(q->file, q->text.data, q->text.len, err);
    }
    bz_buf_release(&q->text);
    *q = (struct bz_build_quality){0};
    return rc;
}
