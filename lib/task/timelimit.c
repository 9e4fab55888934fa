#include "task/timelimit.h"

#include "os/clock.h"

/* Nothing is as if it were not there. */
static int read_seconds(struct bz_str text, const char *where, int64_t *out,
                        struct bz_err *err)
{
    uint64_t n = 0;

    text = bz_str_trim(text);
    if (text.n == 0)
        return 0;
    if (bz_str_parse_u64(text, 10, BZ_TIMELIMIT_MAX, &n, err) < 0)
        return bz_fail(err, BZ_E_INVAL, "%s is '%.*s': set it to a number of seconds",
                       where, BZ_STR_ARG(text));
    *out = (int64_t)n;
    return 0;
}

int bz_timelimit_get(struct bz_vars *v, struct bz_str task, int64_t asked, int64_t *out,
                     struct bz_err *err)
{
    struct bz_str flag = {0}, variable = {0};
    int64_t seconds = asked;
    int rc = bz_vars_get_flag(v, task, BZ_STR("timeout"), 0, &flag, err);

    if (rc == 0 && asked < 0)
        rc = bz_vars_get(v, BZ_STR("BITZEL_TASK_TIMEOUT"), 0, &variable, err);
    if (rc == 0)
        rc = read_seconds(variable, "BITZEL_TASK_TIMEOUT", &seconds, err);
    if (rc == 0)
        rc = read_seconds(flag, "its flag [timeout]", &seconds, err);
    *out = seconds > 0 ? seconds * BZ_CLOCK_S : 0;
    return rc;
}
