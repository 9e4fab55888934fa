/* archive_make.h - archives for tests, good and bad ones, from tables of members. */
#ifndef BZ_TEST_CODEC_ARCHIVE_MAKE_H
#define BZ_TEST_CODEC_ARCHIVE_MAKE_H

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>

#include "tests/unit/os/scratch.h"

struct member {
    const char *path;
    unsigned type;    /* AE_IFREG if 0 */
    const char *text; /* its bytes, or what a symbolic link says */
    const char *hard; /* another name for this one, or NULL */
    unsigned mode;    /* 0: 0644 */
    size_t zeros;     /* bytes after the text */
};

enum { MADE_AT = 1000000000 };

static inline void made_data(struct archive *a, const struct member *m)
{
    static const char block[65536];
    size_t left = m->zeros;

    if (m->text)
        archive_write_data(a, m->text, strlen(m->text));
    while (left > 0) {
        size_t n = left < sizeof(block) ? left : sizeof(block);

        archive_write_data(a, block, n);
        left -= n;
    }
}

static inline void made_member(struct archive *a, const struct member *m)
{
    struct archive_entry *e = archive_entry_new();
    unsigned type = m->type ? m->type : AE_IFREG;
    size_t n = (m->text && type == AE_IFREG ? strlen(m->text) : 0) + m->zeros;

    archive_entry_set_pathname(e, m->path);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, m->mode ? m->mode : 0644);
    archive_entry_set_mtime(e, MADE_AT, 0);
    archive_entry_set_size(e, (int64_t)n);
    if (type == AE_IFLNK)
        archive_entry_set_symlink(e, m->text);
    if (m->hard)
        archive_entry_set_hardlink(e, m->hard);
    if (archive_write_header(a, e) < ARCHIVE_WARN)
        fail_msg("header of %s: %s", m->path, archive_error_string(a));
    if (n > 0)
        made_data(a, m);
    archive_entry_free(e);
}

/* An archive in a file without a name, at its beginning; the caller closes it. Formats
 * are libarchive's names, "pax" and "none" say, "raw" for a single file. The table ends
 * with a row of zeros. */
static inline int made(const char *format, const char *filter, const struct member *m)
{
    struct archive *a = archive_write_new();
    FILE *f = tmpfile();
    int fd = dup(fileno(f));

    fclose(f);
    assert_true(archive_write_set_format_by_name(a, format) >= ARCHIVE_WARN);
    if (strcmp(filter, "none") != 0 &&
        archive_write_add_filter_by_name(a, filter) != ARCHIVE_OK)
        fail_msg("no filter %s: %s", filter, archive_error_string(a));
    archive_write_set_bytes_in_last_block(a, 1);
    assert_int_equal(archive_write_open_fd(a, fd), ARCHIVE_OK);
    for (; m->path; m++)
        made_member(a, m);
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    return fd;
}

#endif
