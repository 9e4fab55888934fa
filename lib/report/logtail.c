#include "report/logtail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"

#define READ_MAX ((size_t)64 << 10)
#define ESCAPE '\033'

/* How many bytes the escape sequence takes that s begins with. */
static size_t escape_len(struct bz_str s)
{
    size_t i = 2;

    if (s.n < 2)
        return s.n;
    if (s.p[1] == '[') {
        while (i < s.n && (s.p[i] < '@' || s.p[i] > '~'))
            i++;
        return i < s.n ? i + 1 : s.n;
    }
    if (s.p[1] == ']') { /* up to a bell, or to ESC and a backslash */
        while (i < s.n && s.p[i] != '\a' && s.p[i] != ESCAPE)
            i++;
        if (i < s.n && s.p[i] == ESCAPE)
            i++;
        return i < s.n ? i + 1 : s.n;
    }
    return 2;
}

void bz_logtail_clean(struct bz_str line, struct bz_buf *out)
{
    struct bz_str shown;
    size_t at;

    line = bz_str_trim_end(line);
    at = bz_str_rfind_byte(line, '\r');
    shown = at == BZ_STR_NONE ? line : bz_str_drop(line, at + 1);
    while (shown.n > 0) {
        size_t n = bz_str_find_byte(shown, ESCAPE);

        if (n == BZ_STR_NONE)
            n = shown.n;
        bz_buf_add_str(out, bz_str_of(shown.p, n));
        shown = bz_str_drop(shown, n);
        if (shown.n > 0)
            shown = bz_str_drop(shown, escape_len(shown));
    }
}

/* The end of the file; where it begins in the middle of a line, without that. */
static size_t read_end(const char *path, char text[READ_MAX])
{
    BZ_CLEANUP(bz_fs_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    off_t from;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    from = st.st_size > (off_t)READ_MAX ? st.st_size - (off_t)READ_MAX : 0;
    n = pread(fd, text, READ_MAX, from);
    return n > 0 ? (size_t)n : 0;
}

void bz_logtail_add(const char *path, unsigned lines, struct bz_buf *out)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_str rest, line;
    size_t n, from;

    if (lines == 0)
        return;
    text = bz_mem_alloc(READ_MAX);
    n = read_end(path, text);
    if (n > 0 && text[n - 1] == '\n')
        n--;
    for (from = n; from > 0; from--)
        if (text[from - 1] == '\n' && lines-- == 1)
            break;
    rest = bz_str_of(text + from, n - from);
    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line)) {
        bz_logtail_clean(line, out);
        bz_buf_add_char(out, '\n');
    }
}
