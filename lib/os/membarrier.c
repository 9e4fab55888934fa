#include "os/membarrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

static long membarrier(int cmd)
{
    return syscall(SYS_membarrier, cmd, 0, 0);
}

bool bz_membarrier_register(void)
{
    long can = membarrier(MEMBARRIER_CMD_QUERY);

    if (can < 0 || !(can & MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        return false;
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

void bz_membarrier_all(void)
{
    long rc = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);

    BZ_ASSERT(rc == 0);
}
