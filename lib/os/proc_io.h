/* proc_io.h - the standard descriptors of a child to be, and our ends of them.
 *
 * All have numbers above those a child uses (BZ_PROC_IO_FREE), so that moving one to
 * its place in the child never overwrites another, and are closed on exec.
 */
#ifndef BZ_OS_PROC_IO_H
#define BZ_OS_PROC_IO_H

#include "os/proc.h"

#define BZ_PROC_IO_FREE 8

struct bz_proc_io {
    int child[3]; /* become the child's 0, 1 and 2 */
    int out, err; /* our ends of the pipes, non-blocking; -1 if there are none */
};
#define BZ_PROC_IO_NONE                                                                \
    {                                                                                  \
        {-1, -1, -1}, -1, -1                                                           \
    }

/* Fills *io, which is BZ_PROC_IO_NONE, and must be released also on failure. */
int bz_proc_io_open(struct bz_proc_io *io, const struct bz_proc_spec *spec,
                    struct bz_err *err) BZ_MUST_CHECK;
void bz_proc_io_release(struct bz_proc_io *io);

/* The descriptor, or one for the same with a number above those a child uses; the given
 * one is closed then. -1 and errno if there is none left. */
int bz_proc_io_lift(int fd);

#endif
