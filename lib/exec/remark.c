#include "exec/remark.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"

/* The first bytes of it: a task may write more than anybody wants to look through. */
static char *read_start(const char *path, size_t *n)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    char *text;
    size_t size;

    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
        return NULL;
    size = (size_t)st.st_size < BZ_REMARK_READ ? (size_t)st.st_size : BZ_REMARK_READ;
    text = bz_mem_alloc(size);
    *n = 0;
    while (*n < size) {
        ssize_t got = pread(fd, text + *n, size - *n, (off_t)*n);

        if (got <= 0)
            break;
        *n += (size_t)got;
    }
    return text;
}

static bool is_remark(struct bz_str line, bool errors)
{
    return bz_str_starts(line, BZ_STR("WARNING: ")) ||
           (errors && bz_str_starts(line, BZ_STR("ERROR: ")));
}

static void tell(struct bz_exec *x, uint32_t task, struct bz_str line)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};

    if (line.n > BZ_REMARK_LONGEST)
        line.n = BZ_REMARK_LONGEST;
    bz_exec_tell(x, &(struct bz_event){.kind = BZ_EVENT_REMARK,
                                       .task = task,
                                       .what = bz_arena_dup(&a, line).p});
}

void bz_remark_tell(struct bz_exec *x, uint32_t task, const char *log, bool errors)
{
    size_t n = 0, told = 0;
    BZ_CLEANUP(bz_mem_freep) char *text = log ? read_start(log, &n) : NULL;
    struct bz_str rest = bz_str_of(text, text ? n : 0), line;

    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line)) {
        if (!is_remark(line, errors))
            continue;
        if (told++ == BZ_REMARK_MOST) {
            tell(x, task, BZ_STR("WARNING: and more, which its log has"));
            return;
        }
        tell(x, task, line);
    }
}
