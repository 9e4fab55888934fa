#include "serve_socket.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/xdg.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_lock.h"
#include "os/path.h"

#define NAME "serve.sock"
#define FIRST 3 /* descriptor that is handed over */

static int find_default(struct bz_arena *a, const char *const *env, const char **out,
                        struct bz_err *err)
{
    const char *runtime = bz_xdg_getenv(env, BZ_STR("XDG_RUNTIME_DIR"));
    struct bz_str state;

    if (runtime && runtime[0] == '/') {
        *out = bz_arena_printf(a, "%s/bitzel/" NAME, runtime).p;
        return 0;
    }
    state = bz_xdg_dir(a, env, BZ_XDG_STATE);
    if (state.n == 0)
        return bz_fail(err, BZ_E_INVAL,
                       "there is neither XDG_RUNTIME_DIR nor HOME: name a socket");
    *out = bz_arena_printf(a, "%.*s/" NAME, BZ_STR_ARG(state)).p;
    return 0;
}

int bz_serve_socket_path(struct bz_arena *a, const char *const *env, const char *named,
                         const char **out, struct bz_err *err)
{
    char cwd[PATH_MAX];
    struct bz_path joined, path;
    int rc;

    if (!named || strcmp(named, "auto") == 0)
        return find_default(a, env, out, err);
    if (!getcwd(cwd, sizeof(cwd)))
        return bz_fail_sys(err, "find the working directory");
    rc = bz_path_join(bz_str_from(cwd), bz_str_from(named), &joined, err);
    if (rc == 0)
        rc = bz_path_normalise(bz_path_str(&joined), &path, err);
    if (rc == 0)
        *out = bz_arena_dup(a, bz_path_str(&path)).p;
    return rc;
}

static bool has_number(const char *const *env, struct bz_str name, uint64_t *out)
{
    const char *text = bz_xdg_getenv(env, name);
    struct bz_err ignored;

    return text && bz_str_parse_u64(bz_str_from(text), 10, INT_MAX, out, &ignored) == 0;
}

int bz_serve_socket_given(const char *const *env, int *fd, struct bz_err *err)
{
    uint64_t pid, n;
    int domain = 0, type = 0, listens = 0;
    socklen_t size = sizeof(int);

    *fd = -1;
    if (!has_number(env, BZ_STR("LISTEN_PID"), &pid) || pid != (uint64_t)getpid() ||
        !has_number(env, BZ_STR("LISTEN_FDS"), &n) || n == 0)
        return 0;
    if (n != 1)
        return bz_fail(err, BZ_E_INVAL, "%llu sockets were handed over, not one",
                       (unsigned long long)n);
    if (getsockopt(FIRST, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 ||
        getsockopt(FIRST, SOL_SOCKET, SO_TYPE, &type, &size) < 0 ||
        getsockopt(FIRST, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0)
        return bz_fail_sys(err, "the descriptor that was handed over");
    if (domain != AF_UNIX || type != SOCK_STREAM || !listens)
        return bz_fail(err, BZ_E_INVAL,
                       "what was handed over is no Unix stream socket that listens");
    if (fcntl(FIRST, F_SETFD, FD_CLOEXEC) < 0 ||
        fcntl(FIRST, F_SETFL, fcntl(FIRST, F_GETFL) | O_NONBLOCK) < 0)
        return bz_fail_sys(err, "the socket that was handed over");
    *fd = FIRST;
    return 0;
}

static int tell_other(const char *path, const char *lock, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_err ignored;
    size_t n = 0;
    unsigned long pid = 0;

    if (bz_fs_read(AT_FDCWD, lock, 64, &text, &n, &ignored) == 0)
        pid = strtoul(text, NULL, 10);
    return bz_fail(err, BZ_E_EXISTS,
                   "another server is at %s (pid %lu); 'bitzel serve --stop' ends it",
                   path, pid);
}

int bz_serve_socket_claim(const char *path, int *lock, struct bz_err *err)
{
    struct bz_path dir, file;
    char pid[24];
    int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
    int rc = bz_path_join(BZ_STR(""), bz_path_dirname(bz_str_from(path)), &dir, err);

    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, dir.s, 0700, err);
    if (rc < 0)
        return rc;
    if ((size_t)snprintf(file.s, sizeof(file.s), "%s.lock", path) >= sizeof(file.s))
        return bz_fail(err, BZ_E_LIMIT, "%.200s... is too long", path);
    rc = bz_fs_lock(AT_FDCWD, file.s, BZ_FS_LOCK_EXCLUSIVE, -1, lock, err);
    if (rc == BZ_E_BUSY)
        return tell_other(path, file.s, err);
    if (rc < 0)
        return rc;
    if (ftruncate(*lock, 0) < 0 || pwrite(*lock, pid, (size_t)n, 0) != n)
        return bz_fail_sys(err, "write to %s", file.s);
    return 0;
}
