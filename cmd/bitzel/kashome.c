#include "kashome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"

#define ENVIRON_MAX ((size_t)4 << 20)
#define DEPTH_MAX 64

struct process {
    struct bz_str name; /* of its program, cut to 15 bytes */
    pid_t parent;
};

/* A file of a process, in the arena; {0} if it is not ours to read. */
static struct bz_str read_proc(struct bz_arena *a, const char *proc, pid_t pid,
                               const char *name)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_err ignored;
    char path[256];
    size_t n = 0;

    snprintf(path, sizeof(path), "%.200s/%d/%s", proc, (int)pid, name);
    if (bz_fs_read(AT_FDCWD, path, ENVIRON_MAX, &text, &n, &ignored) < 0)
        return (struct bz_str){0};
    return bz_arena_dup(a, bz_str_of(text, n));
}

/* "PID (NAME) STATE PARENT ...": a name may have anything in it. */
static bool read_stat(struct bz_arena *a, const char *proc, pid_t pid,
                      struct process *out)
{
    struct bz_str text = read_proc(a, proc, pid, "stat");
    size_t begin = bz_str_find(text, BZ_STR("(")), end = bz_str_rfind_byte(text, ')');

    if (begin == BZ_STR_NONE || end == BZ_STR_NONE || end + 4 > text.n)
        return false;
    out->name = bz_str_sub(text, begin + 1, end);
    out->parent = (pid_t)strtol(text.p + end + 4, NULL, 10);
    return true;
}

/* Also `python3 -m kas`. */
static bool is_kas(struct bz_arena *a, const char *proc, pid_t pid,
                   const struct process *p)
{
    static const char module[] = "\0-m\0kas";

    if (bz_str_eq(p->name, BZ_STR("kas")) || bz_str_eq(p->name, BZ_STR("run-kas")))
        return true;
    return bz_str_starts(p->name, BZ_STR("python")) &&
           bz_str_find(read_proc(a, proc, pid, "cmdline"),
                       bz_str_of(module, sizeof(module))) != BZ_STR_NONE;
}

static bool is_ours(const char *proc, pid_t pid)
{
    char path[256];
    struct stat st;

    snprintf(path, sizeof(path), "%.200s/%d", proc, (int)pid);
    return stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* The value of a variable, or NULL. */
static const char *value_of(struct bz_str block, const char *name)
{
    struct bz_str entry;
    bool more = block.n > 0;

    while (more) {
        more = bz_str_cut(block, '\0', &entry, &block);
        if (bz_str_cut_prefix(&entry, bz_str_from(name)) &&
            bz_str_cut_prefix(&entry, BZ_STR("=")))
            return entry.p;
    }
    return NULL;
}

struct bz_str bz_kashome_find(struct bz_arena *a, const char *proc, pid_t pid,
                              const char *home)
{
    struct bz_str found = {0};
    const char *given = home; /* HOME of the process below */
    struct process p;

    if (!read_stat(a, proc, pid, &p))
        return found;
    for (int depth = 0; depth < DEPTH_MAX && p.parent > 0; depth++) {
        pid_t below = pid;
        struct bz_str block;
        const char *own;

        pid = p.parent;
        if (!read_stat(a, proc, pid, &p))
            break;
        if (!is_kas(a, proc, pid, &p) || !is_ours(proc, pid))
            continue;
        if (depth > 0)
            given = value_of(read_proc(a, proc, below, "environ"), "HOME");
        block = read_proc(a, proc, pid, "environ");
        own = value_of(block, "HOME");
        if (!given || !own || strcmp(given, home) != 0)
            break;
        if (own[0] != '/' || strcmp(own, home) == 0)
            continue;
        found = block;
        home = own;
    }
    return found;
}

/* kas makes it by mkdtemp(3). */
static bool may_be_made(const char *home)
{
    struct stat st;

    return stat(home, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 07777) == S_IRWXU;
}

void bz_kashome_adopt(void)
{
    static const char *const names[] = {"XDG_CONFIG_HOME", "XDG_CACHE_HOME",
                                        "XDG_STATE_HOME"};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    const char *home = getenv("HOME");
    struct bz_str block;

    if (!home || getenv("BITZEL_HOME") || !may_be_made(home))
        return;
    block = bz_kashome_find(&a, "/proc", getpid(), home);
    if (block.n == 0)
        return;
    (void)!setenv("BITZEL_HOME", value_of(block, "HOME"), 0);
    for (size_t i = 0; i < BZ_COUNTOF(names); i++) {
        const char *value = value_of(block, names[i]);

        if (value)
            (void)!setenv(names[i], value, 0);
    }
}
