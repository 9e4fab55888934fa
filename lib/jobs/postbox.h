/* postbox.h - a file to which others append requests, a line each.
 *
 * A line counts when its newline is there. What was answered is kept in a file of our
 * own, so that after a restart no answered line is handed out again; those that were
 * handed out and not answered are.
 *
 * The file may be cut off, removed, renamed or replaced at any time. One that is cut
 * off is read from its beginning again; this is noticed by its size and by the bytes
 * before the place that was read to. Of one that is not there under its name any more
 * the rest is read first. Symbolic links, other users' files and what is no regular
 * file are not read. One thread at a time.
 */
#ifndef BZ_JOBS_POSTBOX_H
#define BZ_JOBS_POSTBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

#define BZ_POSTBOX_PRINT 64 /* bytes by which a file is known again */

/* A line that was handed out, until all before it are answered too. */
struct bz_postbox_line {
    uint64_t start, end;                /* in the file; the newline included */
    bool answered, old;                 /* old: the file was cut off since */
    struct bz_postbox_line *next;       /* the box's */
    struct bz_postbox_line *next_of_id; /* whoever has it */
};

struct bz_postbox_range {
    uint64_t start, end;
};

struct bz_postbox_identity {
    uint64_t device, inode, birth;
};

struct bz_postbox_ranges BZ_VEC(struct bz_postbox_range);

struct bz_postbox {
    char name[32];   /* of the file, in `dir` */
    char record[32]; /* of ours, in `records` */
    int dir, records;
    int fd;        /* of the file */
    int record_fd; /* to append to */
    struct bz_postbox_identity identity;
    struct bz_buf
        in; /* bytes of the file from in_at on; to its end the file was read */
    uint64_t in_at;
    size_t pos;           /* of `in`: where the next line begins */
    size_t scanned;       /* of `in`: between pos and here is no newline */
    size_t line_end;      /* of `in`: after the line that was looked at */
    bool too_long;        /* the next line is, and its beginning, at too_long_at, was */
    uint64_t too_long_at; /* thrown away */
    char print[BZ_POSTBOX_PRINT]; /* the last bytes that were read */
    size_t printed;
    struct bz_postbox_line *first, **last;
    struct bz_postbox_ranges before; /* answered before a restart, in order */
    size_t passed;                   /* so many of them */
    struct bz_postbox_ranges fresh;  /* answered, and not in the record yet */
    size_t recorded;                 /* bytes of the record */
};

/* Opens dir's mailbox-N.json; *p is zeroed or closed. BZ_E_NOENT if there is none,
 * BZ_E_INVAL if it is not to be read. */
int bz_postbox_open(struct bz_postbox *p, int dir, int records, unsigned number,
                    struct bz_err *err) BZ_MUST_CHECK;
/* The lines are freed. */
void bz_postbox_close(struct bz_postbox *p);

/* The next line: 1, or 0 if there is none. Of a line that is too long text->p is NULL.
 * The text is valid until the next call. */
int bz_postbox_peek(struct bz_postbox *p, struct bz_str *text,
                    struct bz_err *err) BZ_MUST_CHECK;
/* Hands it out. The line is the box's and lives until it is answered. */
struct bz_postbox_line *bz_postbox_take(struct bz_postbox *p);

/* Its answer is about to be written, after bz_postbox_save. */
void bz_postbox_answer(struct bz_postbox *p, struct bz_postbox_line *line);
int bz_postbox_save(struct bz_postbox *p, struct bz_err *err) BZ_MUST_CHECK;

/* True if the name means another file by now, or none. */
bool bz_postbox_is_left(const struct bz_postbox *p);
/* The record is not needed any more: the file is gone and everything was answered. */
void bz_postbox_forget(struct bz_postbox *p);

#endif
