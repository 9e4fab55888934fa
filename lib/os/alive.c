#include "os/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/defs.h"
#include "os/fs.h"

#define SMALL_FILE 4096
#define UUID_LEN 36

/* Reads a small file of /proc; false if that is not possible. */
static bool read_small(const char *path, char text[SMALL_FILE])
{
    BZ_CLEANUP(bz_fs_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, SMALL_FILE - 1);

    if (n <= 0)
        return false;
    text[n] = '\0';
    return true;
}

static unsigned long long namespace_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (unsigned long long)st.st_ino : 0;
}

/* When a process started, in ticks since boot; 0 if that cannot be learnt. The second
 * field is the program's name, which may hold anything, so what counts is the last
 * parenthesis: after it follow the third field and so on. */
static unsigned long long start_of(const char *path)
{
    char text[SMALL_FILE];
    const char *at;

    if (!read_small(path, text))
        return 0;
    at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* What the processes that can judge each other have in common: the boot, and the
 * namespaces in which numbers and start times mean the same. Empty if not known. */
static void realm(char out[BZ_ALIVE_MAX])
{
    char boot[SMALL_FILE], hex[UUID_LEN + 1] = "";
    size_t n = 0;

    out[0] = '\0';
    if (!read_small("/proc/sys/kernel/random/boot_id", boot))
        return;
    for (size_t i = 0; boot[i] && boot[i] != '\n' && n < UUID_LEN; i++)
        if (boot[i] != '-')
            hex[n++] = boot[i];
    snprintf(out, BZ_ALIVE_MAX, "%s.%llx.%llx.", hex, namespace_of("/proc/self/ns/pid"),
             namespace_of("/proc/self/ns/time"));
}

void bz_alive_self(struct bz_alive *out)
{
    char where[BZ_ALIVE_MAX];

    realm(where);
    snprintf(out->name, sizeof(out->name), "%.80s%lld.%llx", where, (long long)getpid(),
             start_of("/proc/self/stat"));
}

/* Cuts the process's own part, "pid.start", off a name. */
static struct bz_str cut_process(struct bz_str *name)
{
    struct bz_str all = *name;
    size_t dot = bz_str_rfind_byte(all, '.');

    if (dot != BZ_STR_NONE)
        dot = bz_str_rfind_byte(bz_str_sub(all, 0, dot), '.');
    if (dot == BZ_STR_NONE) {
        *name = (struct bz_str){0};
        return all;
    }
    *name = bz_str_sub(all, 0, dot);
    return bz_str_sub(all, dot + 1, all.n);
}

enum bz_alive_state bz_alive_check(const struct bz_alive *self, struct bz_str name)
{
    struct bz_str ours = bz_str_from(self->name), theirs = name;
    struct bz_str process, pid, start;
    char path[64];
    uint64_t number, then;
    unsigned long long now;
    struct bz_err err;

    cut_process(&ours);
    process = cut_process(&theirs);
    if (ours.n == 0 || !bz_str_eq(ours, theirs) ||
        !bz_str_cut(process, '.', &pid, &start) ||
        bz_str_parse_u64(pid, 10, INT32_MAX, &number, &err) < 0 || number == 0 ||
        bz_str_parse_u64(start, 16, UINT64_MAX, &then, &err) < 0)
        return BZ_ALIVE_UNKNOWN;
    /* /proc may hide the processes of others; kill(2) does not. */
    if (kill((pid_t)number, 0) < 0 && errno == ESRCH)
        return BZ_ALIVE_GONE;
    snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)number);
    now = start_of(path);
    return now != 0 && then != 0 && now != then ? BZ_ALIVE_GONE : BZ_ALIVE_RUNNING;
}
