/* fuzz.h - the entry point that every fuzz_<name>.c defines.
 *
 * It reads the bytes as foreign input and asserts, with BZ_ASSERT, what must hold
 * whatever they are. It keeps nothing from one call to the next.
 */
#ifndef BZ_FUZZ_FUZZ_H
#define BZ_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The name is libFuzzer's. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
