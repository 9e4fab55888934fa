#include "report/firsterror.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"
#include "report/logtail.h"

#define READ_MAX ((size_t)16 << 20)
#define LINE_MAX_LOOKED 2000 /* bytes of a line: what matters comes early */

/* How much a line tells. */
enum rank {
    NOTHING,
    EFFECT, /* that something failed */
    TOOL,   /* what a program could not do */
    CAUSE,  /* what is wrong, and mostly where */
};

enum how { HAS, STARTS, ENDS };

struct pattern {
    enum how how;
    struct bz_str text;
    enum rank rank;
    enum rank placed; /* if FILE:LINE: comes before it */
};

#define ROW(how, text, rank, placed)                                                   \
    {                                                                                  \
        how, {text, sizeof(text) - 1}, rank, placed                                    \
    }

#define SCRIPT "ERROR: exit code "

/* The first that fits counts. */
static const struct pattern patterns[] = {
    ROW(STARTS, SCRIPT, EFFECT, EFFECT), /* bitzel, of a script */
    ROW(HAS, "collect2: error: ", EFFECT, EFFECT),
    ROW(STARTS, "error: could not compile ", EFFECT, EFFECT), /* cargo */
    ROW(STARTS, "error: aborting due to ", EFFECT, EFFECT),   /* rustc */
    ROW(HAS, ": error: ld returned ", EFFECT, EFFECT),
    ROW(HAS, ": error: linker command failed", EFFECT, EFFECT),
    ROW(HAS, ": fatal error: ", TOOL, CAUSE), /* compilers */
    ROW(HAS, ": error: ", TOOL, CAUSE),       /* the same; configure */
    ROW(HAS, ": Error: ", NOTHING, CAUSE),    /* assemblers */
    ROW(HAS, ": ERROR: ", NOTHING, CAUSE),    /* meson */
    ROW(HAS, ": syntax error", TOOL, CAUSE),
    ROW(HAS, "undefined reference to ", CAUSE, CAUSE), /* linkers */
    ROW(HAS, "undefined symbol: ", CAUSE, CAUSE),
    ROW(HAS, "multiple definition of ", CAUSE, CAUSE),
    ROW(HAS, ": cannot find -l", CAUSE, CAUSE),
    ROW(STARTS, "error[E", CAUSE, CAUSE), /* rustc */
    ROW(STARTS, "error: ", TOOL, TOOL),
    ROW(STARTS, "CMake Error", TOOL, TOOL),
    ROW(HAS, "*** No rule to make target ", TOOL, TOOL),
    ROW(HAS, ": *** missing separator", TOOL, CAUSE),
    ROW(STARTS, "fatal: ", TOOL, TOOL), /* git */
    ROW(STARTS, "ERROR: ", TOOL, TOOL), /* recipes */
    ROW(HAS, " out of memory", TOOL, TOOL),
    ROW(HAS, ": No space left on device", CAUSE, CAUSE),
    ROW(ENDS, " FAILED -- saving rejects", TOOL, TOOL),
    ROW(ENDS, ": command not found", TOOL, TOOL),
    ROW(ENDS, ": not found", TOOL, TOOL),
    ROW(ENDS, ": Permission denied", TOOL, TOOL),
    ROW(ENDS, ": No such file or directory", TOOL, TOOL),
    ROW(STARTS, "FAILED: ", EFFECT, EFFECT), /* ninja */
    ROW(HAS, ": *** ", EFFECT, EFFECT),      /* make */
};

/* What is known so far, and what the lines before say of those to come. */
struct search {
    struct bz_firsterror *out;
    enum rank rank;
    enum { ELSEWHERE, IN_TRACE, AFTER_TRACE } trace; /* Python's */
    char file[sizeof(((struct bz_firsterror *)0)->file)];
    unsigned number;
    bool arrow;                  /* " --> FILE:LINE:COLUMN" may come, of rustc */
    struct bz_firsterror script; /* the place in a recipe of the command that failed */
};

static bool fits(struct bz_str line, const struct pattern *p, size_t *at)
{
    *at = 0;
    switch (p->how) {
    case STARTS:
        return bz_str_starts(line, p->text);
    case ENDS:
        return bz_str_ends(line, p->text);
    default:
        *at = bz_str_find(line, p->text);
        return *at != BZ_STR_NONE;
    }
}

/* Takes ":123" off the end. */
static bool cut_number(struct bz_str *s, unsigned *number)
{
    size_t at = bz_str_rfind_byte(*s, ':');
    struct bz_err ignored;
    uint64_t n;

    if (at == BZ_STR_NONE ||
        bz_str_parse_u64(bz_str_drop(*s, at + 1), 10, 100000000, &n, &ignored) < 0)
        return false;
    *number = (unsigned)n;
    s->n = at;
    return true;
}

/* "FILE:LINE" or "FILE:LINE:COLUMN". */
static bool read_place(struct bz_str text, struct bz_firsterror *out)
{
    unsigned first, second;
    struct bz_str file = text;

    if (!cut_number(&file, &first))
        return false;
    out->number = first;
    out->column = 0;
    if (cut_number(&file, &second)) {
        out->number = second;
        out->column = first;
    }
    file = bz_str_trim(file);
    if (file.n == 0 || file.n >= sizeof(out->file))
        return false;
    snprintf(out->file, sizeof(out->file), "%.*s", BZ_STR_ARG(file));
    return true;
}

/* Go's compiler says "FILE.go:LINE:COLUMN: text". */
static bool is_go(struct bz_str line, struct bz_firsterror *out)
{
    size_t at = bz_str_find(line, BZ_STR(".go:"));
    size_t end = at == BZ_STR_NONE ? BZ_STR_NONE
                                   : bz_str_find(bz_str_drop(line, at), BZ_STR(": "));

    if (end == BZ_STR_NONE)
        return false;
    return read_place(bz_str_of(line.p, at + end), out) && out->column > 0;
}

static enum rank judge(struct bz_str line, struct bz_firsterror *out)
{
    size_t at;

    for (size_t i = 0; i < BZ_COUNTOF(patterns); i++) {
        const struct pattern *p = &patterns[i];
        bool placed;

        if (!fits(line, p, &at))
            continue;
        placed = p->how == HAS && read_place(bz_str_of(line.p, at), out);
        if (!placed)
            out->file[0] = '\0';
        if (placed ? p->placed : p->rank)
            return placed ? p->placed : p->rank;
    }
    return is_go(line, out) ? CAUSE : NOTHING;
}

static void keep(struct search *s, enum rank rank, struct bz_str line,
                 const struct bz_firsterror *place)
{
    if (rank <= s->rank)
        return;
    s->rank = rank;
    *s->out = *place;
    if (place->file[0] == '\0')
        s->out->number = s->out->column = 0;
    snprintf(s->out->line, sizeof(s->out->line), "%.*s", BZ_STR_ARG(line));
}

/* "  File "FILE", line 12, in NAME". */
static void read_frame(struct search *s, struct bz_str line)
{
    struct bz_str file, rest, number;
    struct bz_err ignored;
    uint64_t n;

    line = bz_str_trim(line);
    if (!bz_str_cut_prefix(&line, BZ_STR("File \"")) ||
        !bz_str_cut(line, '"', &file, &rest) ||
        !bz_str_cut_prefix(&rest, BZ_STR(", line ")))
        return;
    bz_str_cut(rest, ',', &number, &rest);
    if (file.n >= sizeof(s->file) ||
        bz_str_parse_u64(number, 10, 100000000, &n, &ignored) < 0)
        return;
    snprintf(s->file, sizeof(s->file), "%.*s", BZ_STR_ARG(file));
    s->number = (unsigned)n;
}

/* A traceback ends with what was raised, unless it only led to another. True if the
 * line belongs to it. */
static bool follow_trace(struct search *s, struct bz_str line)
{
    struct bz_firsterror place = {.number = s->number};

    if (bz_str_starts(line, BZ_STR("Traceback (most recent call last):"))) {
        s->trace = IN_TRACE;
        s->file[0] = '\0';
        return true;
    }
    if (s->trace == AFTER_TRACE) {
        if (line.n == 0)
            return true;
        if (bz_str_starts(line, BZ_STR("During handling of the above")) ||
            bz_str_starts(line, BZ_STR("The above exception was the direct cause")))
            s->rank = NOTHING; /* the next one tells */
        s->trace = ELSEWHERE;
        return s->rank == NOTHING;
    }
    if (s->trace != IN_TRACE)
        return false;
    if (line.n == 0 || line.p[0] == ' ') {
        read_frame(s, line);
        return true;
    }
    s->trace = s->rank < CAUSE ? AFTER_TRACE : ELSEWHERE;
    memcpy(place.file, s->file, sizeof(place.file));
    keep(s, CAUSE, line, &place);
    return true;
}

/* The place of an error of rustc is on the line after it. */
static void follow_arrow(struct search *s, struct bz_str line)
{
    struct bz_firsterror place = {0};

    line = bz_str_trim(line);
    if (s->arrow && bz_str_cut_prefix(&line, BZ_STR("--> ")) &&
        read_place(line, &place)) {
        memcpy(s->out->file, place.file, sizeof(place.file));
        s->out->number = place.number;
        s->out->column = place.column;
        s->rank = CAUSE;
    }
    s->arrow = false;
}

/* "CMake Error at FILE:LINE (command):". */
static void read_cmake(struct bz_str line, struct bz_firsterror *place)
{
    struct bz_str rest;

    if (bz_str_cut_prefix(&line, BZ_STR("CMake Error at "))) {
        bz_str_cut(line, ' ', &line, &rest);
        if (!read_place(line, place))
            place->file[0] = '\0';
    }
}

/* "ERROR: exit code 1 in FUNCTION, FILE:LINE: COMMAND". */
static void read_script(struct search *s, struct bz_str line)
{
    size_t from = bz_str_find(line, BZ_STR(", ")), to;

    if (s->script.file[0] || !bz_str_starts(line, BZ_STR(SCRIPT)) ||
        from == BZ_STR_NONE)
        return;
    line = bz_str_drop(line, from + 2);
    to = bz_str_find(line, BZ_STR(": "));
    if (to == BZ_STR_NONE || !read_place(bz_str_of(line.p, to), &s->script))
        s->script.file[0] = '\0';
}

/* What failed is in the recipe at least, if nothing says where else. */
static void settle(struct search *s)
{
    if (s->rank == NOTHING || s->out->file[0] || !s->script.file[0])
        return;
    memcpy(s->out->file, s->script.file, sizeof(s->script.file));
    s->out->number = s->script.number;
    s->out->column = s->script.column;
}

static void look_at(struct search *s, struct bz_str line)
{
    struct bz_firsterror place = {0};
    enum rank before = s->rank, rank;

    if (line.n > LINE_MAX_LOOKED)
        line.n = LINE_MAX_LOOKED;
    if (follow_trace(s, line))
        return;
    follow_arrow(s, line);
    read_script(s, line);
    rank = judge(line, &place);
    if (rank == TOOL)
        read_cmake(line, &place);
    keep(s, rank, line, &place);
    s->arrow = s->rank > before && bz_str_starts(line, BZ_STR("error"));
}

bool bz_firsterror_find(struct bz_str log, struct bz_firsterror *out)
{
    struct search s = {.out = out};
    BZ_CLEANUP(bz_buf_release) struct bz_buf clean = {0};
    struct bz_str line;

    while (bz_str_next_part(&log, '\n', &line)) {
        if (bz_str_find_byte(line, '\033') != BZ_STR_NONE ||
            bz_str_find_byte(line, '\r') != BZ_STR_NONE) {
            bz_buf_truncate(&clean, 0);
            bz_logtail_clean(line, &clean);
            line = bz_str_of(bz_buf_text(&clean), clean.len);
        }
        look_at(&s, line);
    }
    settle(&s);
    return s.rank > NOTHING;
}

bool bz_firsterror_read(const char *path, struct bz_firsterror *out)
{
    BZ_CLEANUP(bz_fs_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct stat st;
    size_t size;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
        return false;
    size = (uint64_t)st.st_size < READ_MAX ? (size_t)st.st_size : READ_MAX;
    text = bz_mem_alloc(size);
    n = pread(fd, text, size, st.st_size - (off_t)size);
    return n > 0 && bz_firsterror_find(bz_str_of(text, (size_t)n), out);
}
