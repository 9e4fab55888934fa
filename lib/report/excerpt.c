#include "report/excerpt.h"

#include <sys/stat.h>
#include <unistd.h>

#include "os/fs.h"

/* Where the sequence ends that an escape begins: "ESC [ ... letter", "ESC ] ... BEL",
 * "ESC ( letter", or the next byte. */
static size_t skip_escape(struct bz_str text, size_t i)
{
    const char kind = (char)(i + 1 < text.n ? text.p[i + 1] : '\0');

    i += 2;
    if (kind == '[')
        while (i < text.n && text.p[i] >= 0x20 && text.p[i] < 0x40)
            i++;
    else if (kind == ']')
        while (i < text.n && text.p[i] != '\a' && text.p[i] != '\x1b' &&
               text.p[i] != '\n')
            i++;
    else if (kind >= 0x20 && kind < 0x30)
        while (i < text.n && text.p[i] >= 0x20 && text.p[i] < 0x30)
            i++;
    else
        i--;
    if (kind == ']' && i < text.n && text.p[i] != '\a')
        return i;
    return i < text.n ? i + 1 : text.n;
}

/* Drops what only a terminal understands, in place. */
static size_t clean(char *bytes, size_t n)
{
    struct bz_str text = bz_str_of(bytes, n);
    size_t out = 0;

    for (size_t i = 0; i < n;)
        if (bytes[i] == '\x1b')
            i = skip_escape(text, i);
        else if ((unsigned char)bytes[i] < 0x20 && bytes[i] != '\n' && bytes[i] != '\t')
            i++;
        else
            bytes[out++] = bytes[i++];
    return out;
}

int bz_excerpt_read(struct bz_arena *arena, const char *path, size_t max, int64_t until,
                    struct bz_excerpt *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct stat st;
    struct bz_str text;
    off_t from;
    char *bytes;
    ssize_t n;
    size_t line;
    int rc = bz_fs_open_file(AT_FDCWD, path, &fd, err);

    if (rc < 0)
        return rc;
    if (fstat(fd, &st) < 0)
        return bz_fail_sys(err, "look at %s", path);
    if (until > 0 && st.st_mtim.tv_sec > until)
        return bz_fail(err, BZ_E_NOENT, "%s was written later", path);
    from = st.st_size > (off_t)max ? st.st_size - (off_t)max : 0;
    bytes = bz_arena_alloc(arena, max + 1, 1);
    n = pread(fd, bytes, max, from);
    if (n < 0)
        return bz_fail_sys(err, "read %s", path);
    text = bz_str_of(bytes, clean(bytes, (size_t)n));
    line = from > 0 ? bz_str_find_byte(text, '\n') : BZ_STR_NONE;
    if (line != BZ_STR_NONE && line + 1 < text.n)
        text = bz_str_drop(text, line + 1);
    *out = (struct bz_excerpt){text, from > 0};
    return 0;
}
