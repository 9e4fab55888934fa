/* leftout.h - a key without one of its fields, to prove that each of them is needed.
 *
 * Only in a program that is built for tests/differential (BZ_SIG_LEFTOUT): it leaves
 * out of every key what the environment variable BITZEL_KEY_WITHOUT names, and the test
 * must find a wrong result.
 */
#ifndef BZ_SIG_LEFTOUT_H
#define BZ_SIG_LEFTOUT_H

#include <stdbool.h>

#ifdef BZ_SIG_LEFTOUT
#include <stdlib.h>
#include <string.h>

static inline bool bz_leftout(const char *field)
{
    const char *without = getenv("BITZEL_KEY_WITHOUT");

    return without && strcmp(without, field) == 0;
}
#else
static inline bool bz_leftout(const char *field)
{
    (void)field;
    return false;
}
#endif

#endif
