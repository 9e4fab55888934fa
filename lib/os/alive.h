/* alive.h - a name for this process by which others can tell that it is gone.
 *
 * A process number alone says little: it is reused, and another container or machine
 * has its own. The name therefore holds the kernel's boot id, the pid namespace and the
 * process's start time. Only a process of the same boot and namespace can judge; for
 * any other the answer is that it is not known. In a name are letters, digits and '.',
 * so it can be a part of a file's name.
 */
#ifndef BZ_OS_ALIVE_H
#define BZ_OS_ALIVE_H

#include "base/str.h"

#define BZ_ALIVE_MAX 128

struct bz_alive {
    char name[BZ_ALIVE_MAX];
};

enum bz_alive_state {
    BZ_ALIVE_UNKNOWN, /* of another machine or container, or not such a name */
    BZ_ALIVE_RUNNING,
    BZ_ALIVE_GONE,
};

/* Ask again after fork. Without /proc, a name that nobody can judge. */
void bz_alive_self(struct bz_alive *out);
enum bz_alive_state bz_alive_check(const struct bz_alive *self, struct bz_str name);

#endif
