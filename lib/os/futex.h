/* futex.h - sleep until a word changes, wake whoever sleeps on it.
 *
 * The kernel's primitive as it is. It orders nothing: the caller's atomic accesses to
 * the word carry the meaning. Waking an address nobody waits on is harmless, also
 * when the memory has been freed meanwhile.
 */
#ifndef BZ_OS_FUTEX_H
#define BZ_OS_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Sleeps while *word == seen, at most until `deadline` (see clock.h). False only when
 * the deadline passed. Returns early on signals: call it in a loop. */
bool bz_futex_wait(atomic_uint *word, unsigned seen, int64_t deadline);
void bz_futex_wake(atomic_uint *word, int count);

/* The same for words in memory that several processes have mapped. */
bool bz_futex_wait_shared(atomic_uint *word, unsigned seen, int64_t deadline);
void bz_futex_wake_shared(atomic_uint *word, int count);

#endif
