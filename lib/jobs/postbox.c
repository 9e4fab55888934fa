#include "jobs/postbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "jobs/request.h"
#include "os/fs.h"

enum { READ = 65536, KEEP = 1 << 18, RECORD = 1 << 16 };
#define RECORD_MAX ((size_t)1 << 24)
#define HEADER "mailbox 1 %" PRIu64 " %" PRIu64 " %" PRIu64 "\n"
#define RANGE "%" PRIu64 " %" PRIu64 "\n"

/* ---- who it is ---- */

static int identify(int dir, const char *name, int flags,
                    struct bz_postbox_identity *out, struct bz_err *err)
{
    struct statx st;

    if (statx(dir, name, flags, STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
        return bz_fail_sys(err, "look at %s", name);
    if (!S_ISREG(st.stx_mode))
        return bz_fail(err, BZ_E_INVAL, "%s is no regular file", name);
    if (st.stx_uid != geteuid())
        return bz_fail(err, BZ_E_INVAL, "%s is another user's", name);
    *out = (struct bz_postbox_identity){
        .device = makedev(st.stx_dev_major, st.stx_dev_minor),
        .inode = st.stx_ino,
        .birth = st.stx_mask & STATX_BTIME
                     ? (uint64_t)st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec
                     : 0,
    };
    return 0;
}

static bool is_same(const struct bz_postbox_identity *a,
                    const struct bz_postbox_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->birth == b->birth;
}

bool bz_postbox_is_left(const struct bz_postbox *p)
{
    struct bz_postbox_identity now = {0};
    struct bz_err err;

    return identify(p->dir, p->name, AT_SYMLINK_NOFOLLOW, &now, &err) < 0 ||
           !is_same(&now, &p->identity);
}

/* ---- the record ---- */

static int by_start(const void *a, const void *b)
{
    const struct bz_postbox_range *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* Ranges in order, those that touch as one. */
static void merge(struct bz_postbox_ranges *r)
{
    size_t n = 0;

    if (r->len == 0)
        return;
    qsort(r->at, r->len, sizeof(r->at[0]), by_start);
    for (size_t i = 1; i < r->len; i++) {
        if (r->at[i].start > r->at[n].end)
            r->at[++n] = r->at[i];
        else if (r->at[i].end > r->at[n].end)
            r->at[n].end = r->at[i].end;
    }
    r->len = n + 1;
}

static bool read_number(struct bz_str *line, uint64_t *out)
{
    struct bz_str word;
    struct bz_err err;

    return bz_str_next_word(line, &word) &&
           bz_str_parse_u64(word, 10, UINT64_MAX, out, &err) == 0;
}

/* What it says, if it is about this file. A line that is not whole was being written
 * when somebody was killed; what it says has not been done. */
static void read_record(struct bz_postbox *p, struct bz_str text)
{
    struct bz_postbox_identity was = {0};
    struct bz_postbox_range r;
    struct bz_str line, word;

    if (bz_str_find_byte(text, '\n') == BZ_STR_NONE ||
        !bz_str_next_part(&text, '\n', &line) || !bz_str_next_word(&line, &word) ||
        !bz_str_eq(word, BZ_STR("mailbox")) || !read_number(&line, &r.start) ||
        r.start != 1 || !read_number(&line, &was.device) ||
        !read_number(&line, &was.inode) || !read_number(&line, &was.birth) ||
        !is_same(&was, &p->identity))
        return;
    while (bz_str_find_byte(text, '\n') != BZ_STR_NONE &&
           bz_str_next_part(&text, '\n', &line))
        if (read_number(&line, &r.start) && read_number(&line, &r.end) &&
            r.end > r.start)
            BZ_VEC_PUSH(&p->before, r);
    merge(&p->before);
}

static void add_range(struct bz_buf *out, uint64_t start, uint64_t end)
{
    if (end > start)
        bz_buf_addf(out, RANGE, start, end);
}

/* Everything that was answered, as few ranges: what is between those lines that were
 * not. */
static int rewrite(struct bz_postbox *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    uint64_t at = 0;
    int rc;

    bz_buf_addf(&text, HEADER, p->identity.device, p->identity.inode,
                p->identity.birth);
    for (const struct bz_postbox_line *l = p->first; l; l = l->next) {
        if (l->old || l->answered)
            continue;
        add_range(&text, at, l->start);
        at = l->end;
    }
    add_range(&text, at, p->too_long ? p->too_long_at : p->in_at + p->pos);
    for (size_t i = p->passed; i < p->before.len; i++)
        add_range(&text, p->before.at[i].start, p->before.at[i].end);
    rc = bz_fs_write(p->records, p->record, text.data, text.len, 0600, BZ_FS_NOSYNC,
                     err);
    if (rc < 0)
        return rc;
    bz_fs_closep(&p->record_fd);
    p->record_fd =
        openat(p->records, p->record, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    if (p->record_fd < 0)
        return bz_fail_sys(err, "open %s", p->record);
    p->recorded = text.len;
    p->fresh.len = 0;
    return 0;
}

int bz_postbox_save(struct bz_postbox *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    int rc;

    if (p->fresh.len == 0)
        return 0;
    merge(&p->fresh);
    if (p->recorded > RECORD)
        return rewrite(p, err);
    for (size_t i = 0; i < p->fresh.len; i++)
        add_range(&text, p->fresh.at[i].start, p->fresh.at[i].end);
    rc = bz_fs_write_all(p->record_fd, p->record, text.data, text.len, err);
    if (rc < 0) {
        p->recorded = RECORD + 1; /* its last line may be cut: next time all is new */
        return rc;
    }
    p->recorded += text.len;
    p->fresh.len = 0;
    return 0;
}

void bz_postbox_forget(struct bz_postbox *p)
{
    unlinkat(p->records, p->record, 0);
}

/* ---- opening ---- */

static int open_file(struct bz_postbox *p, struct bz_err *err)
{
    /* Not blocking: it may be a fifo. */
    p->fd = openat(p->dir, p->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (p->fd < 0 && errno == ELOOP)
        return bz_fail(err, BZ_E_INVAL, "%s is a symbolic link", p->name);
    if (p->fd < 0)
        return bz_fail_sys(err, "open %s", p->name);
    return identify(p->fd, "", AT_EMPTY_PATH, &p->identity, err) < 0
               ? bz_err_wrap(err, "%s", p->name)
               : 0;
}

/* Where to go on: after what was answered from the beginning, if there is so much. */
static void resume(struct bz_postbox *p)
{
    struct stat st;
    uint64_t last = p->before.len > 0 ? p->before.at[p->before.len - 1].end : 0;

    if (fstat(p->fd, &st) < 0 || (uint64_t)st.st_size < last)
        p->before.len = 0;
    if (p->before.len > 0 && p->before.at[0].start == 0) {
        p->in_at = p->before.at[0].end;
        p->passed = 1;
    }
}

int bz_postbox_open(struct bz_postbox *p, int dir, int records, unsigned number,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    size_t n;
    int rc;

    *p = (struct bz_postbox){
        .dir = dir, .records = records, .fd = -1, .record_fd = -1, .last = &p->first};
    snprintf(p->name, sizeof(p->name), "mailbox-%u.json", number);
    snprintf(p->record, sizeof(p->record), "answered-%u", number);
    rc = open_file(p, err);
    if (rc == 0) {
        if (bz_fs_read(records, p->record, RECORD_MAX, &text, &n, err) == 0)
            read_record(p, bz_str_of(text, n));
        resume(p);
        rc = rewrite(p, err);
    }
    if (rc < 0)
        bz_postbox_close(p);
    return rc;
}

void bz_postbox_close(struct bz_postbox *p)
{
    while (p->first) {
        struct bz_postbox_line *next = p->first->next;

        free(p->first);
        p->first = next;
    }
    bz_fs_closep(&p->fd);
    bz_fs_closep(&p->record_fd);
    bz_buf_release(&p->in);
    bz_vec_release(&p->before);
    bz_vec_release(&p->fresh);
}

/* ---- reading ---- */

/* It was cut off: what is in it now has nothing to do with what was. */
static int begin_again(struct bz_postbox *p, struct bz_err *err)
{
    for (struct bz_postbox_line *l = p->first; l; l = l->next)
        l->old = true;
    bz_buf_truncate(&p->in, 0);
    p->in_at = p->pos = p->scanned = p->printed = 0;
    p->before.len = p->fresh.len = p->passed = 0;
    p->too_long = false;
    return rewrite(p, err);
}

/* Does the file still have the bytes that were read last? */
static bool is_known(const struct bz_postbox *p, uint64_t at)
{
    char bytes[BZ_POSTBOX_PRINT];

    return pread(p->fd, bytes, p->printed, (off_t)(at - p->printed)) ==
               (ssize_t)p->printed &&
           memcmp(bytes, p->print, p->printed) == 0;
}

static void make_print(struct bz_postbox *p, const char *bytes, size_t n)
{
    size_t keep = n < BZ_POSTBOX_PRINT ? BZ_POSTBOX_PRINT - n : 0;

    keep = keep < p->printed ? keep : p->printed;
    n = n < BZ_POSTBOX_PRINT ? n : BZ_POSTBOX_PRINT;
    memmove(p->print, p->print + p->printed - keep, keep);
    memcpy(p->print + keep, bytes - n, n);
    p->printed = keep + n;
}

/* What was taken out is not needed any more. A mailbox that is idle keeps nothing. */
static void drop_taken(struct bz_postbox *p, bool idle)
{
    size_t rest = p->in.len - p->pos;

    if (rest == 0 && (idle || p->in.cap > (size_t)KEEP)) {
        p->in_at += p->in.len;
        bz_buf_release(&p->in);
    } else if (p->pos > 0) {
        memmove(p->in.data, p->in.data + p->pos, rest);
        bz_buf_truncate(&p->in, rest);
        p->in_at += p->pos;
    }
    p->scanned -= p->pos;
    p->pos = 0;
}

/* More bytes: 1; 0 if there are none. */
static int fill(struct bz_postbox *p, struct bz_err *err)
{
    uint64_t at = p->in_at + p->in.len;
    struct stat st;
    ssize_t n;

    if (fstat(p->fd, &st) < 0)
        return bz_fail_sys(err, "look at %s", p->name);
    if ((uint64_t)st.st_size == at) {
        drop_taken(p, true);
        return 0;
    }
    if ((uint64_t)st.st_size < at || !is_known(p, at)) {
        int rc = begin_again(p, err);

        return rc < 0 ? rc : 1;
    }
    drop_taken(p, false);
    n = pread(p->fd, bz_buf_reserve(&p->in, READ), READ, (off_t)at);
    if (n < 0)
        return errno == EINTR ? 1 : bz_fail_sys(err, "read %s", p->name);
    bz_buf_commit(&p->in, (size_t)n);
    make_print(p, p->in.data + p->in.len, (size_t)n);
    return n > 0;
}

static bool was_answered(struct bz_postbox *p, uint64_t start)
{
    while (p->passed < p->before.len && p->before.at[p->passed].end <= start)
        p->passed++;
    return p->passed < p->before.len && p->before.at[p->passed].start <= start;
}

/* Its beginning is thrown away; the end will come. */
static void note_too_long(struct bz_postbox *p)
{
    if (!p->too_long)
        p->too_long_at = p->in_at + p->pos;
    p->too_long = true;
    p->in_at += p->in.len;
    bz_buf_truncate(&p->in, 0);
    p->pos = p->scanned = 0;
}

int bz_postbox_peek(struct bz_postbox *p, struct bz_str *text, struct bz_err *err)
{
    for (;;) {
        const char *from = bz_buf_text(&p->in);
        const char *end = memchr(from + p->scanned, '\n', p->in.len - p->scanned);
        int rc;

        if (end) {
            uint64_t start = p->too_long ? p->too_long_at : p->in_at + p->pos;

            p->line_end = (size_t)(end - from) + 1;
            *text = bz_str_of(from + p->pos, p->line_end - 1 - p->pos);
            if (p->too_long || text->n > BZ_REQUEST_MAX)
                *text = (struct bz_str){0};
            if (!was_answered(p, start))
                return 1;
            p->pos = p->scanned = p->line_end;
            p->too_long = false;
            continue;
        }
        p->scanned = p->in.len;
        if (p->in.len - p->pos > BZ_REQUEST_MAX)
            note_too_long(p);
        rc = fill(p, err);
        if (rc <= 0)
            return rc;
    }
}

struct bz_postbox_line *bz_postbox_take(struct bz_postbox *p)
{
    struct bz_postbox_line *l = bz_mem_zalloc(sizeof(*l));

    l->start = p->too_long ? p->too_long_at : p->in_at + p->pos;
    l->end = p->in_at + p->line_end;
    p->pos = p->scanned = p->line_end;
    p->too_long = false;
    *p->last = l;
    p->last = &l->next;
    return l;
}

void bz_postbox_answer(struct bz_postbox *p, struct bz_postbox_line *line)
{
    struct bz_postbox_range *last =
        p->fresh.len ? &p->fresh.at[p->fresh.len - 1] : NULL;
    struct bz_postbox_range r = {line->start, line->end};

    line->answered = true;
    if (!line->old && last && last->end == r.start)
        last->end = r.end;
    else if (!line->old)
        BZ_VEC_PUSH(&p->fresh, r);
    while (p->first && p->first->answered) {
        struct bz_postbox_line *next = p->first->next;

        free(p->first);
        p->first = next;
    }
    if (!p->first)
        p->last = &p->first;
}
