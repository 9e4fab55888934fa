/* serve_socket.h - where `bitzel serve` listens.
 *
 * By default that is bitzel/serve.sock in $XDG_RUNTIME_DIR, which is private to the
 * user; without one, in the directory of the user's state (~/.local/state). Whoever
 * holds the lock beside a socket is the server there, and its file says who that is; a
 * socket without one was left behind.
 */
#ifndef BZ_CMD_SERVE_SOCKET_H
#define BZ_CMD_SERVE_SOCKET_H

#include "base/arena.h"

/* The path that an option or a setting names, absolute; NULL and "auto" stand for the
 * default. BZ_E_INVAL if there is none. */
int bz_serve_socket_path(struct bz_arena *a, const char *const *env, const char *named,
                         const char **out, struct bz_err *err) BZ_MUST_CHECK;

/* The socket that whoever started us listens on already (LISTEN_FDS, as systemd has
 * it); *fd is -1 if there is none. */
int bz_serve_socket_given(const char *const *env, int *fd,
                          struct bz_err *err) BZ_MUST_CHECK;

/* Becomes the server at a path, whose directory is made. *lock is to be closed at the
 * end. BZ_E_EXISTS, with its number, if another process is. */
int bz_serve_socket_claim(const char *path, int *lock,
                          struct bz_err *err) BZ_MUST_CHECK;

#endif
