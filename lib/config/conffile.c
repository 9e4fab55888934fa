#include "config/conffile.h"

#include "base/mem.h"
#include "os/fs.h"

struct reader {
    const char *path;
    bz_conffile_fn fn;
    void *ctx;
    struct bz_str section;
    unsigned line;
};

static int wrong(const struct reader *r, const char *what, struct bz_err *err)
{
    return bz_fail(err, BZ_E_INVAL, "%.400s:%u: %s", r->path, r->line, what);
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-';
}

/* Words joined by single dots. */
static bool is_name(struct bz_str s)
{
    struct bz_str part;

    while (bz_str_next_part(&s, '.', &part)) {
        if (part.n == 0)
            return false;
        for (size_t i = 0; i < part.n; i++)
            if (!is_name_byte(part.p[i]))
                return false;
    }
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Without a comment and the blanks at both ends. */
static struct bz_str strip(struct bz_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '#' && (i == 0 || is_blank(s.p[i - 1]))) {
            s.n = i;
            break;
        }
    return bz_str_trim(s);
}

static int read_section(struct reader *r, struct bz_str line, struct bz_err *err)
{
    struct bz_str name;

    line = strip(line);
    if (line.p[line.n - 1] != ']')
        return wrong(r, "expected ']' at the end of the section's name", err);
    name = bz_str_trim(bz_str_sub(line, 1, line.n - 1));
    if (name.n > 0 && (!is_name(name) || name.n >= BZ_CONFFILE_NAME))
        return wrong(r, "expected a section such as [cache]", err);
    r->section = name;
    return 0;
}

/* What stands in quotes, as it is. */
static int read_quoted(struct reader *r, struct bz_str text, struct bz_str *out,
                       struct bz_err *err)
{
    struct bz_str rest;

    text = bz_str_drop(text, 1);
    if (!bz_str_cut(text, '"', out, &rest))
        return wrong(r, "expected '\"' at the end of the value", err);
    if (strip(rest).n > 0)
        return wrong(r, "expected nothing after the value in quotes", err);
    return 0;
}

static int read_setting(struct reader *r, struct bz_str line, struct bz_err *err)
{
    char full[2 * BZ_CONFFILE_NAME];
    struct bz_conffile_line out = {.number = r->line};
    struct bz_str name, value;
    size_t n = 0;
    int rc;

    if (!bz_str_cut(line, '=', &name, &value))
        return wrong(r, "expected NAME = VALUE or [SECTION]", err);
    name = bz_str_trim(name);
    if (!is_name(name) || name.n >= BZ_CONFFILE_NAME)
        return wrong(r, "expected a name such as cache.dir before '='", err);
    if (r->section.n > 0) {
        memcpy(full, r->section.p, r->section.n);
        n = r->section.n;
        full[n++] = '.';
    }
    memcpy(full + n, name.p, name.n);
    out.name = bz_str_of(full, n + name.n);
    value = bz_str_trim_start(value);
    if (value.n > 0 && value.p[0] == '"')
        rc = read_quoted(r, value, &out.value, err);
    else {
        out.value = strip(value);
        rc = 0;
    }
    if (rc < 0)
        return rc;
    rc = r->fn(r->ctx, &out, err);
    return rc < 0 ? bz_err_wrap(err, "%.400s:%u", r->path, r->line) : 0;
}

static int read_line(struct reader *r, struct bz_str line, struct bz_err *err)
{
    if (bz_str_find_byte(line, '\0') != BZ_STR_NONE)
        return wrong(r, "there is a NUL byte: this is no text", err);
    line = bz_str_trim(line);
    if (line.n == 0 || line.p[0] == '#')
        return 0;
    return line.p[0] == '[' ? read_section(r, line, err) : read_setting(r, line, err);
}

int bz_conffile_parse(struct bz_str text, const char *path, bz_conffile_fn fn,
                      void *ctx, struct bz_err *err)
{
    struct reader r = {.path = path, .fn = fn, .ctx = ctx};
    struct bz_str line;

    bz_str_cut_prefix(&text, BZ_STR("\xef\xbb\xbf"));
    while (bz_str_next_part(&text, '\n', &line)) {
        int rc;

        r.line++;
        rc = read_line(&r, line, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int bz_conffile_read(const char *path, bz_conffile_fn fn, void *ctx, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    size_t n = 0;
    int rc = bz_fs_open_file(AT_FDCWD, path, &fd, err);

    if (rc == 0)
        rc = bz_fs_read_fd(fd, path, BZ_CONFFILE_MAX, &text, &n, err);
    return rc < 0 ? rc : bz_conffile_parse(bz_str_of(text, n), path, fn, ctx, err);
}
