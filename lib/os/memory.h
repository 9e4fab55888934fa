/* memory.h - how much memory there is for more processes, and how much they lack.
 *
 * In a container that is the smallest of what the machine has left and what the groups
 * of this process may still use; what holds only copies of files counts as free. Reads
 * a dozen small files. Any thread.
 */
#ifndef BZ_OS_MEMORY_H
#define BZ_OS_MEMORY_H

#include <stdint.h>

struct bz_memory {
    uint64_t available; /* bytes; UINT64_MAX: not known */
    unsigned pressure;  /* percent of the last ten seconds in which some process waited
                           for memory; 0 also if the kernel does not tell */
};

/* `root` goes before every path that is read ("" for the real system). */
void bz_memory_read(const char *root, struct bz_memory *out);

/* How many processes the kernel has killed for lack of memory: of the group of this
 * process, since that exists, or where there is none, of the machine. -1: not known. */
int64_t bz_memory_kills(const char *root);

#endif
