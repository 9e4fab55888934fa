/* causes.h - the causes between two records as a line: "NAME file:line *reaches, ...".
 */
#ifndef BZ_SIG_CAUSES_H
#define BZ_SIG_CAUSES_H

#include "tests/unit/sig/records.h"

#include "sig/cause.h"

struct causes_case {
    const char *was, *is, *causes;
};

static inline void causes_show(const struct bz_causes *c, struct bz_buf *out)
{
    static const char *const marks[] = {
        [BZ_CAUSE_VARIABLE] = "",      [BZ_CAUSE_FILE] = "file ",
        [BZ_CAUSE_COMMIT] = "commit ", [BZ_CAUSE_DEPENDENCY] = "dep ",
        [BZ_CAUSE_MACHINE] = "",       [BZ_CAUSE_DISTRO] = "",
        [BZ_CAUSE_POLICY] = "",        [BZ_CAUSE_TAINT] = "taint ",
        [BZ_CAUSE_OLDER] = "older ",   [BZ_CAUSE_OTHER] = "other ",
    };

    for (size_t i = 0; i < c->all.len; i++) {
        const struct bz_cause *cause = &c->all.at[i];

        bz_buf_addf(out, "%s%s%.*s", i ? ", " : "", marks[cause->kind],
                    BZ_STR_ARG(cause->name));
        if (cause->on.n > 0)
            bz_buf_addf(out, "%s%.*s", cause->is_there ? "+" : "-",
                        BZ_STR_ARG(cause->on));
        for (size_t k = 0; k < cause->places.len; k++)
            bz_buf_addf(out, " %.*s:%u", BZ_STR_ARG(cause->places.at[k].file),
                        cause->places.at[k].is ? cause->places.at[k].is
                                               : cause->places.at[k].was);
        bz_buf_addf(out, " *%zu", cause->reaches);
    }
}

static inline void causes_check(const struct causes_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        BZ_CLEANUP(bz_record_release) struct bz_record was = {0}, is = {0};
        BZ_CLEANUP(bz_cause_release) struct bz_causes c = {0};
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
        struct bz_err err;

        records_make(&was, cases[i].was);
        records_make(&is, cases[i].is);
        assert_ok(bz_cause_find(&c, &was, &is, &err), &err);
        causes_show(&c, &out);
        if (strcmp(bz_buf_text(&out), cases[i].causes) != 0)
            fail_msg("case %zu: %s, expected %s", i, bz_buf_text(&out),
                     cases[i].causes);
    }
}

#endif
