#include "jobs/callargs.h"

int bz_callargs_read(struct bz_call *c, const struct bz_doc **args)
{
    struct bz_err err;

    return bz_call_args(c, args, &err) < 0
               ? bz_call_fail(c, BZ_TASK_INVALID_JSON, "%s", err.msg)
               : 0;
}

/* What a member turned out to be; one that is left out may be so. */
static int judge(struct bz_call *c, const char *name, int rc, const struct bz_err *err)
{
    return rc == 0 || rc == BZ_E_NOENT
               ? 0
               : bz_call_fail(c, BZ_TASK_INVALID_JSON, "%s: %s", name, err->msg);
}

int bz_callargs_count(struct bz_call *c, const struct bz_doc *args, const char *name,
                      uint64_t *out)
{
    int64_t n = 0;
    struct bz_err err;
    int rc = bz_doc_get_int(args, name, 0, INT64_MAX, &n, &err);

    if (rc == 0)
        *out = (uint64_t)n;
    return judge(c, name, rc, &err);
}

int bz_callargs_flag(struct bz_call *c, const struct bz_doc *args, const char *name,
                     bool *out)
{
    struct bz_err err;

    return judge(c, name, bz_doc_get_bool(args, name, out, &err), &err);
}

int bz_callargs_text(struct bz_call *c, const struct bz_doc *args, const char *name,
                     struct bz_str *out)
{
    struct bz_err err;

    return bz_doc_get_str(args, name, out, &err) < 0
               ? bz_call_fail(c, BZ_TASK_INVALID_JSON, "%s: %s", name, err.msg)
               : 0;
}
