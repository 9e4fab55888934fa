/* image.h - the program init.c, carried in our own binary, as a file to execute. */
#ifndef BZ_SANDBOX_IMAGE_H
#define BZ_SANDBOX_IMAGE_H

#include "base/err.h"

/* A file in memory; the caller closes *fd. */
int bz_image_open(int *fd, struct bz_err *err) BZ_MUST_CHECK;

#endif
