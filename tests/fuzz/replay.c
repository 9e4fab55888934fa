/* Runs the entry point over files and over all files of directories, without libFuzzer:
 * each file as it is, and a small one also cut short at every byte. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum {
    CUT_BELOW = 512, /* bytes; beyond, all prefixes would take too long */
};

/* nftw(3) gives its callback nothing to keep state in. */
static unsigned files;

/* In memory of its exact size, so that the sanitizer sees every step beyond the end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int run_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
    FILE *f;
    uint8_t *data;
    size_t size;

    (void)at;
    if (type != FTW_F)
        return 0;
    f = fopen(path, "rb");
    data = malloc((size_t)st->st_size + 1);
    if (!f || !data) {
        perror(path);
        exit(1);
    }
    size = fread(data, 1, (size_t)st->st_size, f);
    fclose(f);
    run(data, size);
    for (size_t cut = 0; size < CUT_BELOW && cut < size; cut++)
        run(data, cut);
    free(data);
    files++;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (nftw(argv[i], run_file, 16, FTW_PHYS) < 0) {
            perror(argv[i]);
            return 1;
        }
    }
    printf("%u files\n", files);
    return files == 0;
}
