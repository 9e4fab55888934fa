/* closed.h - opens what its mode keeps even from its owner.
 *
 * Tasks leave files that may be run but not read, and directories that nobody may list
 * or enter. Root reads them as they are. An ordinary user has to change the mode of
 * what is its own for as long as it takes. The name may lead to another file meanwhile:
 * the one that was looked at is the one that is changed and opened.
 */
#ifndef BZ_CACHE_CLOSED_H
#define BZ_CACHE_CLOSED_H

#include <stdbool.h>
#include <sys/stat.h>

/* Opens the file `name`, which openat(2) has refused, for reading; *mode is its mode.
 * Of a file that is set again; a directory lets its owner in until the caller does that
 * by bz_closed_again. -1 and errno, EACCES if it is not ours. */
int bz_closed_file(int dir, const char *name, mode_t *mode);
int bz_closed_dir(int dir, const char *name, mode_t *mode);

/* Lets its owner into a directory that could be opened, but not be entered. False if
 * nothing was changed. */
bool bz_closed_enter(int fd, mode_t mode);
void bz_closed_again(int fd, mode_t mode);

#endif
