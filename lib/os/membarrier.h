/* membarrier.h - a full memory barrier on every running thread of this process.
 *
 * One side of a store-then-load race that runs a billion times can go without a
 * fence if the other side, which runs rarely, pays for both: after
 * bz_membarrier_all() every thread's earlier stores are visible to the caller, and
 * every thread's later loads see the caller's earlier stores.
 */
#ifndef BZ_OS_MEMBARRIER_H
#define BZ_OS_MEMBARRIER_H

#include <stdbool.h>

/* Registers the process. False where the kernel or a sandbox refuses: then the
 * frequent side must use a read-modify-write. Idempotent. */
bool bz_membarrier_register(void);

/* Only after a successful registration. A few microseconds. */
void bz_membarrier_all(void);

#endif
