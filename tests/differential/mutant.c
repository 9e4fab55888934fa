/* mutant.c - what the program that leaves fields out of keys has besides
 * (sig/leftout.h): a list of these fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sig/taskspec.h"

__attribute__((constructor)) static void list_fields(void)
{
    static const char *const others[] = {"file-name",  "file-content", "file-mode",
                                         "policy",     "commit",       "dependency",
                                         "own-layers", "shared-layers"};
    const char *without = getenv("BITZEL_KEY_WITHOUT");

    if (!without || strcmp(without, "list") != 0)
        return;
    for (size_t i = 0; i < BZ_TASKSPEC_KINDS; i++)
        puts(bz_taskspec_kinds[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        puts(others[i]);
    exit(0);
}
