/* devices.h - whether the devices that every sandbox shows are what their names say.
 *
 * A regular file in the place of /dev/null would be read as input by every task, and a
 * task's result would depend on it without its key telling so.
 */
#ifndef BZ_SANDBOX_DEVICES_H
#define BZ_SANDBOX_DEVICES_H

#include <stdbool.h>

#include "base/err.h"

struct bz_devices_wrong {
    char found[96]; /* "/dev/null is a regular file, not the character device 1:3" */
    char fix[96];   /* commands for root */
};

/* Looks for the first one that is wrong below `root`, "" being the machine's own. */
bool bz_devices_wrong(const char *root, struct bz_devices_wrong *out);

/* BZ_E_IO if one of this machine is wrong: no task may be started then. Takes a few
 * microseconds. */
int bz_devices_check(struct bz_err *err) BZ_MUST_CHECK;

#endif
