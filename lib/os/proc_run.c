#include "os/proc_run.h"

static void keep(void *ctx, struct bz_proc_result *r)
{
    struct bz_proc_result *mine = ctx;

    *mine = *r;
    *r = (struct bz_proc_result){0};
}

int bz_proc_run(const struct bz_proc_spec *spec, struct bz_proc_result *result,
                struct bz_err *err)
{
    const struct bz_proc_handler handler = {.done = keep, .ctx = result};
    BZ_CLEANUP(bz_proc_pump_closep) struct bz_proc_pump *pump = NULL;
    int rc;

    rc = bz_proc_pump_open(&pump, err);
    if (rc == 0)
        rc = bz_proc_pump_add(pump, spec, &handler, NULL, err);
    if (rc == 0)
        rc = bz_proc_pump_run(pump, err);
    return rc;
}
