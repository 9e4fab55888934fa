#include "recipe/blame.h"

#include "base/mem.h"
#include "os/fs.h"
#include "recipe/lex.h"

enum { MOST_NOTES = 10 }; /* of files that led there, the innermost first */

struct blame {
    struct bz_arena arena;
    struct bz_diag_list list;
    struct bz_buf text;
};

static bool is_path_char(char c)
{
    return c != ' ' && c != '\t' && c != '"' && c != '\'';
}

/* Where `word` stands in the line as a word of its own, or else at all. */
static size_t find_word(struct bz_str line, struct bz_str word)
{
    size_t any = BZ_STR_NONE, from = 0;

    while (word.n > 0 && from < line.n) {
        size_t at = bz_str_find(bz_str_sub(line, from, line.n), word);

        if (at == BZ_STR_NONE)
            break;
        at += from;
        if (any == BZ_STR_NONE)
            any = at;
        if ((at == 0 || !is_path_char(line.p[at - 1])) &&
            (at + word.n == line.n || !is_path_char(line.p[at + word.n])))
            return at;
        from = at + 1;
    }
    return any;
}

/* Where to look: at the word that is wrong, or at what follows the statement's own
 * word, or at the value. */
static size_t find_offset(const struct bz_ast_stmt *s, struct bz_str line,
                          struct bz_str word)
{
    size_t at = find_word(line, word);

    if (at != BZ_STR_NONE)
        return at;
    if (s && s->kind == BZ_AST_ASSIGN) {
        at = bz_str_find_byte(line, '"');
        if (at == BZ_STR_NONE)
            at = bz_str_find_byte(line, '\'');
        return at == BZ_STR_NONE ? 0 : at + 1;
    }
    return 0;
}

/* The first of the statement's lines, or the one that has the word in it. */
static void find_line(struct bz_str text, const struct bz_eval_frame *f,
                      struct bz_str word, struct bz_diag_place *place)
{
    uint32_t first = f->stmt ? f->stmt->line : f->line;
    uint32_t last = f->stmt ? f->stmt->end_line : f->line;
    struct bz_str line;

    place->line = first;
    for (uint32_t at = 1; at <= last && bz_str_next_part(&text, '\n', &line); at++) {
        bool has = at >= first && find_word(line, word) != BZ_STR_NONE;

        if (at != first && !has)
            continue;
        bz_str_cut_suffix(&line, BZ_STR("\r"));
        place->line = at;
        place->source = line;
        if (has)
            break;
    }
    place->offset = find_offset(f->stmt, place->source, word);
}

/* The place of the statement under way in a file. The file is read once more: the
 * statements of it do not keep their text. */
static struct bz_diag_place locate(struct blame *b, const struct bz_eval_frame *f,
                                   struct bz_str word)
{
    BZ_CLEANUP(bz_mem_freep) char *data = NULL;
    struct bz_diag_place place = {.path = f->path, .line = f->line};
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_err ignored;
    size_t n = 0;

    if (bz_fs_open_file(AT_FDCWD, f->path, &fd, &ignored) < 0 ||
        bz_fs_read_fd(fd, f->path, BZ_PARSE_MAX, &data, &n, &ignored) < 0 ||
        bz_lex_valid(bz_str_of(data, n)) != n)
        return place; /* it has changed meanwhile */
    find_line(bz_str_of(data, n), f, word, &place);
    place.source = bz_arena_dup(&b->arena, place.source);
    return place;
}

static const char *verb_of(const struct bz_eval_frame *f)
{
    if (f->stmt &&
        (f->stmt->kind == BZ_AST_REQUIRE || f->stmt->kind == BZ_AST_INCLUDE ||
         f->stmt->kind == BZ_AST_INCLUDE_ALL))
        return "includes";
    return f->stmt && f->stmt->kind == BZ_AST_ADDFRAGMENTS ? "adds" : "inherits";
}

/* How the file `reached` was reached. */
static void add_notes(struct blame *b, const struct bz_eval_frame *f,
                      const char *reached)
{
    int n = 0;

    for (; f && n < MOST_NOTES; f = f->up, n++) {
        struct bz_diag_place place = locate(b, f, (struct bz_str){0});

        bz_diag_add(&b->list, BZ_DIAG_NOTE, &place, NULL, "%s %s", verb_of(f), reached);
        reached = f->path;
    }
    for (n = 0; f; f = f->up)
        n++;
    if (n > 0)
        bz_buf_addf(&b->text, "(and %d more files around these)\n", n);
}

/* A file with diagnostics of its own needs no others, but the way to it is told, once
 * for each place that leads there. */
static void tell_way(struct bz_eval *e, struct blame *b)
{
    add_notes(b, e->top, e->broken);
}

static void tell_failure(struct bz_eval *e, struct blame *b, const struct bz_err *err)
{
    struct bz_diag_place place = locate(b, e->top, e->culprit);

    bz_diag_add(&b->list, BZ_DIAG_ERROR, &place, e->expected, "%s", err->msg);
    add_notes(b, e->top->up, e->top->path);
}

void bz_blame_tell(struct bz_eval *e, const struct bz_err *err)
{
    struct blame b = {.list.arena = &b.arena};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_str key;

    if (e->broken)
        tell_way(e, &b);
    else
        tell_failure(e, &b, err);
    for (const struct bz_diag *d = b.list.first; d; d = d->next)
        bz_diag_format(d, &out);
    bz_buf_add_str(&out, bz_buf_str(&b.text));
    key = bz_arena_printf(&b.arena, "%s:%s:%u", e->broken ? e->broken : e->top->path,
                          e->top->path, e->top->line);
    if (e->notes)
        bz_buf_add_str(e->notes, bz_buf_str(&out));
    else
        bz_library_tell(e->library, key, bz_buf_str(&out));
    bz_buf_release(&b.text);
    bz_arena_release(&b.arena);
}
