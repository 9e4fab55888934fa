#include "code/sh_execs.h"

#include "base/buf.h"
#include "code/sh_parse.h"
#include "code/sh_quote.h"

struct finder {
    struct bz_arena arena; /* tokens, and the keys of both */
    struct bz_map found;
    struct bz_map defined;
    unsigned texts; /* that are open, one within the other */
    unsigned depth; /* of lists in all of them */
};

static int find(struct finder *f, struct bz_str text, uint32_t line,
                struct bz_err *err);

static void note_function(void *ctx, struct bz_str name)
{
    struct finder *f = ctx;

    (void)bz_map_put(&f->defined, name);
}

/* Looks into the command substitutions of a word. True in *any if it has some. */
static int look_into(struct finder *f, const struct bz_sh_parse_word *w, bool *any,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_sh_quote_spans spans = {0};
    struct bz_sh_quote quote = {.out = &text, .commands = &spans};
    int rc = bz_sh_quote_word(&quote, w->text, err);

    bz_sh_quote_release(&quote);
    if (rc < 0)
        return bz_err_wrap(err, "line %u", w->line);
    *any = spans.len > 0;
    for (size_t i = 0; i < spans.len && rc == 0; i++)
        rc = find(f, bz_str_sub(bz_buf_str(&text), spans.at[i].from, spans.at[i].to),
                  w->line, err);
    return rc;
}

/* What "eval" evaluates is all words but the first, whichever that is. */
static int look_into_eval(struct finder *f, const struct bz_sh_parse_words *words,
                          struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    for (size_t i = 1; i < words->len; i++) {
        if (i > 1)
            bz_buf_add_char(&text, ' ');
        bz_buf_add_str(&text, words->at[i].text);
    }
    return find(f, bz_buf_str(&text), words->at[0].line, err);
}

/* The first word that is no assignment is the name of the command. */
static int note_command(struct finder *f, const struct bz_sh_parse_words *words,
                        struct bz_err *err)
{
    size_t i = 0;

    while (i < words->len && words->at[i].kind != BZ_SH_PARSE_VALUE &&
           bz_str_find_byte(words->at[i].text, '=') != BZ_STR_NONE)
        i++;
    if (i == words->len || words->at[i].kind == BZ_SH_PARSE_VALUE ||
        words->at[i].text.p[0] == '$')
        return 0;
    if (bz_str_eq(words->at[i].text, BZ_STR("eval")))
        return look_into_eval(f, words, err);
    (void)bz_map_put(&f->found, words->at[i].text);
    return 0;
}

static int note_words(void *ctx, const struct bz_sh_parse_words *words,
                      struct bz_err *err)
{
    struct finder *f = ctx;
    bool named = words->at[0].kind == BZ_SH_PARSE_COMMAND;

    for (size_t i = 0; i < words->len; i++) {
        bool any = false;
        int rc = look_into(f, &words->at[i], &any, err);

        if (rc < 0)
            return rc;
        if (i == 0 && named && any) {
            named = false; /* the command is what the substitution gives */
            i++;           /* and the next word is passed over */
        }
    }
    return named ? note_command(f, words, err) : 0;
}

static int find(struct finder *f, struct bz_str text, uint32_t line, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_sh_lex_tokens tokens = {0};
    const struct bz_sh_parse_fns fns = {note_words, note_function, f, &f->depth};
    int rc;

    if (++f->texts > BZ_SH_EXECS_DEPTH)
        return bz_fail(err, BZ_E_LIMIT, "line %u: commands are nested too deeply",
                       line);
    rc = bz_sh_lex_text(text, line, &f->arena, &tokens, err);
    if (rc == 0)
        rc = bz_sh_parse_tokens(&tokens, &fns, err);
    f->texts--;
    return rc;
}

int bz_sh_execs_find(struct bz_str text, struct bz_refs *refs, struct bz_err *err)
{
    struct finder f = {.depth = 0};
    const struct bz_map_entry *e;
    int rc = find(&f, text, 1, err);

    for (e = bz_map_next(&f.found, NULL); e && rc == 0; e = bz_map_next(&f.found, e))
        if (!bz_map_get(&f.defined, e->key))
            bz_refs_exec(refs, e->key);
    bz_map_release(&f.found);
    bz_map_release(&f.defined);
    bz_arena_release(&f.arena);
    return rc;
}
