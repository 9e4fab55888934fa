#include "report_page.h"

#include "os/fs_output.h"
#include "report/page.h"
#include "why_view.h"

enum {
    MOST_LOGS = 30,
    MOST_ERRORS = 100,
    MOST_CAUSES = 50,
    LOG_BYTES = 32 << 10, /* of a log that is carried along */
};

struct logs BZ_VEC(struct bz_page_log);
struct errors BZ_VEC(struct bz_page_error);

/* The end of a task's log, if it has one that is of this build. */
static void add_log(struct bz_report_view *r, struct logs *logs, uint32_t id)
{
    const struct bz_account *a = &r->build.account;
    struct bz_page_log log = {.task = id};
    struct bz_err ignored;

    if (logs->len < MOST_LOGS && a->tasks.at[id].log.n > 0 &&
        bz_excerpt_read(&r->build.arena, a->tasks.at[id].log.p, LOG_BYTES,
                        bz_past_build_until(a), &log.excerpt, &ignored) == 0)
        BZ_VEC_PUSH(logs, log);
}

/* What failed comes first, then what took longest. */
static void add_logs(struct bz_report_view *r, struct logs *logs)
{
    const struct bz_account *a = &r->build.account;

    for (uint32_t i = 0; i < a->tasks.len; i++)
        if (a->tasks.at[i].state == BZ_ACCOUNT_FAILED)
            add_log(r, logs, i);
    for (size_t i = 0; i < r->slowest.len; i++)
        if (a->tasks.at[r->slowest.at[i]].state != BZ_ACCOUNT_FAILED)
            add_log(r, logs, r->slowest.at[i]);
}

static void add_errors(struct bz_report_view *r, struct errors *errors)
{
    const struct bz_account *a = &r->build.account;
    struct bz_firsterror first;

    for (uint32_t i = 0; i < a->tasks.len && errors->len < MOST_ERRORS; i++)
        if (bz_past_build_error(a, &a->tasks.at[i], &first))
            BZ_VEC_PUSH(errors,
                        (struct bz_page_error){
                            i, bz_arena_dup(&r->build.arena, bz_str_from(first.line))});
}

int bz_report_page_write(struct bz_report_view *r, const char *file, struct bz_err *err)
{
    const struct bz_cause_list *all = &r->why.causes.all;
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_page_cause) causes = {0};
    BZ_CLEANUP(bz_vec_release) struct logs logs = {0};
    BZ_CLEANUP(bz_vec_release) struct errors errors = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf html = {0}, title = {0}, compared = {0};
    struct bz_page p = {
        .account = &r->build.account,
        .shape = &r->shape,
        .id = r->build.id,
        .fresh = r->why.kind == BZ_PAST_NOTHING ? 0 : r->why.causes.fresh.len};
    int rc;

    for (size_t i = 0; i < all->len && i < MOST_CAUSES; i++) {
        bz_buf_truncate(&title, 0);
        bz_why_view_title(&title, &all->at[i]);
        BZ_VEC_PUSH(&causes, (struct bz_page_cause){
                                 bz_arena_dup(&r->build.arena, bz_buf_str(&title)),
                                 all->at[i].reaches});
    }
    add_logs(r, &logs);
    add_errors(r, &errors);
    p.result = bz_str_from(bz_past_build_result(p.account, r->build.events));
    bz_past_build_compared(&r->why, &compared);
    p.compared = bz_buf_str(&compared);
    p.causes = causes.at;
    p.ncauses = causes.len;
    p.logs = logs.at;
    p.nlogs = logs.len;
    p.errors = errors.at;
    p.nerrors = errors.len;
    rc = bz_page_write(&p, &html, err);
    return rc < 0 ? rc : bz_fs_output(file, html.data, html.len, err);
}
