#include "plan_cost.h"

#include "os/clock.h"

void bz_plan_cost_text(int64_t ns, struct bz_buf *out)
{
    int64_t ms = (ns + BZ_CLOCK_MS / 2) / BZ_CLOCK_MS, s = (ms + 500) / 1000;

    if (ms < 1000)
        bz_buf_addf(out, "%dms", (int)ms);
    else if (ms < 9950)
        bz_buf_addf(out, "%d.%ds", (int)((ms + 50) / 1000),
                    (int)((ms + 50) / 100 % 10));
    else if (s < 60)
        bz_buf_addf(out, "%ds", (int)s);
    else if (s < 3600)
        bz_buf_addf(out, "%dm%02ds", (int)(s / 60), (int)(s % 60));
    else
        bz_buf_addf(out, "%lldh%02dm", (long long)(s / 3600), (int)(s / 60 % 60));
}
