/* probes - recipes of a line or two, held against what BitBake says to them.
 *
 * usage: probes FILE
 *
 * Each line of FILE is 'RECIPE' -> ['VALUE', ...] or 'RECIPE' -> SomethingError: ...,
 * the texts as Python writes strings. The value is the final one of A, or else X, or
 * else f; a second value is that of the same variable with the override "a".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "os/fs.h"
#include "recipe/finalize.h"

/* Reads a Python string literal at *p. */
static bool read_text(const char **p, struct bz_buf *out)
{
    char quote = **p;

    if (quote != '\'' && quote != '"')
        return false;
    for ((*p)++; **p && **p != quote; (*p)++) {
        char c = **p;

        if (c == '\\') {
            c = *++*p;
            if (c == 'n')
                c = '\n';
        }
        bz_buf_add_char(out, c);
    }
    return *(*p)++ == quote;
}

/* The name that is asked for. */
static struct bz_str subject(struct bz_vars *v)
{
    static const char *const names[] = {"A", "X", "f"};

    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        if (bz_vars_exists(v, bz_str_from(names[i])))
            return bz_str_from(names[i]);
    return BZ_STR("A");
}

/* The answer to a recipe, written as in the file. */
static void answer(const char *path, struct bz_str text, bool two, struct bz_buf *out)
{
    BZ_CLEANUP(bz_library_freep) struct bz_library *library = bz_library_new();
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *config = bz_meta_new();
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    struct bz_finalize_opts opts = {.path = bz_str_from(path)};
    struct bz_str values[2] = {{0}};
    struct bz_vars *v;
    struct bz_err err;
    int rc = bz_fs_write(AT_FDCWD, path, text.p, text.n, 0600, BZ_FS_NOSYNC, &err);

    if (rc == 0)
        rc = bz_finalize_recipe(config, library, &opts, &f, &err);
    if (rc < 0 || !f) {
        bz_buf_addf(out, "ParseError");
        return;
    }
    v = f->variants.at[0].meta->vars;
    bz_buf_add_str(&name, subject(v));
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        rc = bz_vars_get(v, bz_buf_str(&name), 0, &values[i], &err);
        bz_buf_addf(&name, ":a");
    }
    if (rc < 0) {
        bz_buf_addf(out, "ExpansionError");
        return;
    }
    for (int i = 0; i < (two ? 2 : 1); i++)
        bz_buf_addf(out, "<%.*s>", BZ_STR_ARG(values[i]));
}

/* False if the answer is not the expected one. */
static bool probe(const char *path, const char *line)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0}, want = {0}, have = {0};
    const char *p = line;
    size_t values = 0;

    if (!read_text(&p, &text) || strncmp(p, " -> ", 4) != 0)
        return false;
    p += 4;
    if (*p != '[')
        bz_buf_add(&want, p, strcspn(p, ":"));
    for (; *p == '[' || *p == ','; values++) {
        p += *p == ',' ? 2 : 1;
        bz_buf_add_char(&want, '<');
        if (!read_text(&p, &want))
            return false;
        bz_buf_add_char(&want, '>');
    }
    answer(path, bz_buf_str(&text), values > 1, &have);
    if (bz_str_eq(bz_buf_str(&want), bz_buf_str(&have)))
        return true;
    printf("%s  found: %s\n", line, bz_buf_text(&have));
    return false;
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/bz-probes-XXXXXX", path[64], line[4096];
    size_t lines = 0, wrong = 0;
    FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (!in || !mkdtemp(dir)) {
        fprintf(stderr, "usage: probes FILE\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/probe.bb", dir);
    for (; fgets(line, sizeof(line), in); lines++)
        wrong += !probe(path, line);
    fclose(in);
    unlink(path);
    rmdir(dir);
    printf("%zu probes, %zu different\n", lines, wrong);
    return wrong > 0 || lines == 0;
}
