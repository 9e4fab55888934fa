#include "report/memuse.h"

#include <fcntl.h>
#include <unistd.h>

#include "os/fs.h"

/* "MemTotal:  7654321 kB"; -1 if there is no such line. */
static int64_t number_of(struct bz_str text, struct bz_str name)
{
    struct bz_str line, word;
    struct bz_err ignored;
    uint64_t n = 0;

    while (bz_str_next_part(&text, '\n', &line)) {
        if (!bz_str_cut_prefix(&line, name))
            continue;
        if (!bz_str_next_word(&line, &word) ||
            bz_str_parse_u64(word, 10, INT64_MAX / 100, &n, &ignored) < 0)
            return -1;
        return (int64_t)n;
    }
    return -1;
}

uint64_t bz_memuse_parse_used(struct bz_str meminfo)
{
    int64_t total = number_of(meminfo, BZ_STR("MemTotal:"));
    int64_t left = number_of(meminfo, BZ_STR("MemAvailable:"));

    return total <= 0 || left < 0 || left > total ? 0 : (uint64_t)(total - left) * 1024;
}

int bz_memuse_parse(struct bz_str meminfo)
{
    int64_t total = number_of(meminfo, BZ_STR("MemTotal:"));
    int64_t left = number_of(meminfo, BZ_STR("MemAvailable:"));

    if (total <= 0 || left < 0 || left > total)
        return -1;
    return (int)((total - left) * 100 / total);
}

/* As much as there is room for. */
static struct bz_str read_some(const char *path, char *text, size_t size)
{
    BZ_CLEANUP(bz_fs_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t got = fd < 0 ? 0 : 1;

    while (got > 0 && n < size) {
        got = read(fd, text + n, size - n);
        n += got > 0 ? (size_t)got : 0;
    }
    return bz_str_of(text, n);
}

int bz_memuse_read(void)
{
    char text[512]; /* it is in the first lines */

    return bz_memuse_parse(read_some("/proc/meminfo", text, sizeof(text)));
}

uint64_t bz_memuse_used(void)
{
    char text[512];

    return bz_memuse_parse_used(read_some("/proc/meminfo", text, sizeof(text)));
}
