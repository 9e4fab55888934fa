#include "tests/fuzz/fuzz.h"

#include "base/log.h"
#include "vars/vars.h"

enum {
    LINES = 64, /* more assignments show nothing new */
};

/* "NAME=value", or "NAME[flag]=value"; a line that begins with '!' does something else.
 * Whether it is allowed is for the store to say. */
static void run_line(struct bz_vars *v, struct bz_str line)
{
    struct bz_str name, value, flag;
    struct bz_err err;
    int rc;

    if (bz_str_cut_prefix(&line, BZ_STR("!code "))) {
        bz_str_cut(line, '=', &name, &value);
        rc = bz_vars_set(v, name, value, 0, NULL, &err);
    } else if (bz_str_cut_prefix(&line, BZ_STR("!rename "))) {
        bz_str_cut(line, ' ', &name, &value);
        rc = bz_vars_rename(v, name, value, NULL, &err);
    } else if (bz_str_cut_prefix(&line, BZ_STR("!del "))) {
        rc = bz_vars_del(v, line, NULL, &err);
    } else if (bz_str_cut_prefix(&line, BZ_STR("!keys"))) {
        rc = bz_vars_expand_keys(v, &err);
    } else {
        bz_str_cut(line, '=', &name, &value);
        if (bz_str_cut_suffix(&name, BZ_STR("]"))) {
            bz_str_cut(name, '[', &name, &flag);
            rc = bz_vars_set_flag(v, name, flag, value, NULL, &err);
        } else {
            rc = bz_vars_set(v, name, value, BZ_VARS_SET_PARSING, NULL, &err);
        }
    }
    BZ_ASSERT(rc <= 0);
}

/* Reads everything. A second time, and in a copy, it must be the same. */
static void check(struct bz_vars *v)
{
    struct bz_vars *copy = bz_vars_new(v);
    const struct bz_str *names;
    struct bz_err err;
    size_t n = 0;

    if (bz_vars_names(copy, &names, &n, &err) < 0)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        struct bz_str one = {0}, two = {0}, raw = {0};
        int rc = bz_vars_get(copy, names[i], 0, &one, &err);

        BZ_ASSERT(i == 0 || bz_str_cmp(names[i - 1], names[i]) < 0);
        BZ_ASSERT(bz_vars_get(copy, names[i], 0, &two, &err) == rc);
        BZ_ASSERT(rc < 0 || (!one.p == !two.p && bz_str_eq(one, two)));
        BZ_ASSERT(rc < 0 || bz_vars_get(copy, names[i], BZ_VARS_RAW, &raw, &err) == 0);
        BZ_ASSERT(rc < 0 || !one.p == !raw.p);
    }
    bz_vars_free(copy);
}

static void drop_line(void *ctx, enum bz_log_level level, const char *line, size_t n)
{
    (void)ctx;
    (void)level;
    (void)line;
    (void)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bz_log_sink quiet = {drop_line, NULL};
    struct bz_str rest = bz_str_of(data ? (const char *)data : "", size), line;
    struct bz_vars *first = bz_vars_new(NULL), *v = first;

    bz_log_set_sink(&quiet);
    for (int i = 0; i < LINES && bz_str_next_part(&rest, '\n', &line); i++) {
        if (bz_str_eq(line, BZ_STR("!copy")) && v == first)
            v = bz_vars_new(first);
        else
            run_line(v, line);
    }
    check(v);
    if (v != first)
        bz_vars_free(v);
    bz_vars_free(first);
    return 0;
}
