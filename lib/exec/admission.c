#include "exec/admission.h"

#include "base/err.h"
#include "os/clock.h"

#define FRESH (100 * BZ_CLOCK_MS)

/* Reading takes as long as starting a small task: once for many of these. */
static void read_memory(struct bz_admission *a, struct bz_memory *out)
{
    int64_t now = bz_clock_now();

    if (a->read) {
        a->read(a->ctx, out);
        return;
    }
    if (a->until <= now) {
        bz_memory_read("", &a->last);
        a->until = now + FRESH;
    }
    *out = a->last;
}

/* Those that run may not have reached their peaks yet: both what they will need and
 * what is left now must do. */
static bool fits(const struct bz_admission *a, uint64_t peak,
                 const struct bz_memory *now)
{
    if (now->pressure >= BZ_ADMISSION_PRESSURE)
        return false;
    return peak <= now->available &&
           (a->needed <= a->room ? peak <= a->room - a->needed : peak == 0);
}

bool bz_admission_ask(struct bz_admission *a, uint64_t peak)
{
    struct bz_memory now;

    read_memory(a, &now);
    if (a->running == 0)
        a->room = now.available;
    a->full = a->running > 0 && !fits(a, peak, &now);
    return !a->full;
}

void bz_admission_enter(struct bz_admission *a, uint64_t peak)
{
    a->running++;
    a->needed += peak;
}

void bz_admission_leave(struct bz_admission *a, uint64_t peak)
{
    BZ_ASSERT(a->running > 0 && a->needed >= peak);
    a->running--;
    a->needed -= peak;
}
