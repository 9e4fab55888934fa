#include "task/parallel.h"

#include <string.h>

#include "base/buf.h"

/* Gives its words back for ninjas that know no jobserver, or none like ours. */
#define ASK "bz_ninja"
#define DEFINITION                                                                     \
    ASK "() { case \"$MAKEFLAGS\" in *--jobserver-auth=fifo:*) case "                  \
        "\"$(ninja --version)\" in 1.[0-9]|1.[0-9].*|1.1[0-2]|1.1[0-2].*) ;; *) "      \
        "return 0 ;; esac ;; esac; echo \"$@\"; }; "

/* Takes the option for jobs out of the words; false if it is for one at a time, or not
 * there. */
static bool drop_option(struct bz_str words, struct bz_buf *rest)
{
    static const struct bz_str one = {"1", 1};
    struct bz_str word;
    bool several = false, number = false;

    while (bz_str_next_word(&words, &word)) {
        bool digits = word.n > 0 && word.p[0] >= '0' && word.p[0] <= '9';

        if (number && digits) {
            several = several && !bz_str_eq(word, one);
            number = false;
        } else if (bz_str_cut_prefix(&word, BZ_STR("-j"))) {
            number = word.n == 0;
            several = !bz_str_eq(word, one);
        } else {
            number = false;
            if (rest->len > 0)
                bz_buf_add(rest, " ", 1);
            bz_buf_add_str(rest, word);
        }
    }
    return several;
}

static bool ends_word(struct bz_str s, size_t at)
{
    static const char ends[] = " \t\n\"';)";

    return at >= s.n || memchr(ends, s.p[at], sizeof(ends)) != NULL;
}

/* Whether a make is called here: make, gmake, oe_runmake, but not cmake, whose options
 * are others. */
static bool calls_make(struct bz_str s, size_t at)
{
    return bz_str_starts(bz_str_drop(s, at), BZ_STR("make")) && ends_word(s, at + 4) &&
           (at == 0 || s.p[at - 1] != 'c');
}

static bool calls_ninja(struct bz_str s, size_t at)
{
    static const char before[] = " \t\n;&|(/";

    return bz_str_starts(bz_str_drop(s, at), BZ_STR("ninja")) && ends_word(s, at + 5) &&
           (at == 0 || memchr(before, s.p[at - 1], sizeof(before)));
}

static bool is_at(struct bz_str s, size_t at, struct bz_str value)
{
    return bz_str_starts(bz_str_drop(s, at), value) && ends_word(s, at + value.n) &&
           (at == 0 || ends_word(s, at - 1));
}

/* What a line that is read has so far. */
struct line {
    enum { OTHER, MAKE, NINJA } called; /* last */
    bool literal;                       /* within single quotes */
};

static void read_on(struct line *l, struct bz_str s, size_t at)
{
    if (s.p[at] == '\n' && (at == 0 || s.p[at - 1] != '\\'))
        *l = (struct line){0};
    else if (s.p[at] == '\'')
        l->literal = !l->literal;
    else if (calls_make(s, at))
        l->called = MAKE;
    else if (calls_ninja(s, at))
        l->called = NINJA;
}

/* What stands in the place of the option. */
static void add_place(struct bz_buf *out, const struct line *l, struct bz_str less,
                      struct bz_str value)
{
    if (l->called == NINJA)
        bz_buf_addf(out, "%.*s $(" ASK " %.*s)", BZ_STR_ARG(less), BZ_STR_ARG(value));
    else
        bz_buf_add_str(out, less);
}

/* Defines what ninjas need: in the second line, so that the others stay where they are
 * and the first one may say what runs the script. */
static void define(struct bz_buf *script)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf all = {0};
    struct bz_str first, rest;

    bz_str_cut(bz_buf_str(script), '\n', &first, &rest);
    bz_buf_addf(&all, "%.*s\n" DEFINITION "%.*s", BZ_STR_ARG(first), BZ_STR_ARG(rest));
    bz_buf_truncate(script, 0);
    bz_buf_add_str(script, bz_buf_str(&all));
}

bool bz_parallel_share(struct bz_str *script, struct bz_str value, struct bz_arena *a)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf less = {0}, out = {0};
    const struct bz_str s = *script;
    struct line line = {0};
    bool asks = false;
    size_t done = 0;

    value = bz_str_trim(value);
    if (!drop_option(value, &less))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        read_on(&line, s, i);
        if (line.called == OTHER || (line.called == NINJA && line.literal) ||
            !is_at(s, i, value))
            continue;
        bz_buf_add(&out, s.p + done, i - done);
        add_place(&out, &line, bz_buf_str(&less), value);
        asks = asks || line.called == NINJA;
        i += value.n - 1;
        done = i + 1;
    }
    if (done == 0)
        return false;
    bz_buf_add(&out, s.p + done, s.n - done);
    if (asks && bz_str_find(s, BZ_STR(DEFINITION)) == BZ_STR_NONE)
        define(&out);
    *script = bz_arena_dup(a, bz_buf_str(&out));
    return true;
}
