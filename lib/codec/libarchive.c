#include "codec/libarchive.h"

#include <dlfcn.h>
#include <string.h>

#define NAME "libarchive.so.13"

#define SYMBOL(name)                                                                   \
    {                                                                                  \
        "archive_" #name, offsetof(struct bz_libarchive, name)                         \
    }

int bz_libarchive_load(struct bz_libarchive *out, struct bz_err *err)
{
    static const struct {
        const char *name;
        size_t at;
    } symbols[] = {
        SYMBOL(entry_filetype),
        SYMBOL(entry_hardlink),
        SYMBOL(entry_mtime),
        SYMBOL(entry_mtime_is_set),
        SYMBOL(entry_mtime_nsec),
        SYMBOL(entry_nlink),
        SYMBOL(entry_pathname),
        SYMBOL(entry_perm),
        SYMBOL(entry_size),
        SYMBOL(entry_size_is_set),
        SYMBOL(entry_sparse_count),
        SYMBOL(entry_symlink),
        {"archive_errno", offsetof(struct bz_libarchive, error_code)},
        SYMBOL(error_string),
        SYMBOL(filter_bytes),
        SYMBOL(filter_count),
        SYMBOL(read_data_block),
        SYMBOL(read_free),
        SYMBOL(read_new),
        SYMBOL(read_next_header),
        SYMBOL(read_open),
        SYMBOL(read_open_fd),
        SYMBOL(read_support_filter_bzip2),
        SYMBOL(read_support_filter_compress),
        SYMBOL(read_support_filter_gzip),
        SYMBOL(read_support_filter_lz4),
        SYMBOL(read_support_filter_lzip),
        SYMBOL(read_support_filter_lzma),
        SYMBOL(read_support_filter_rpm),
        SYMBOL(read_support_filter_xz),
        SYMBOL(read_support_filter_zstd),
        SYMBOL(read_support_format_ar),
        SYMBOL(read_support_format_cpio),
        SYMBOL(read_support_format_empty),
        SYMBOL(read_support_format_raw),
        SYMBOL(read_support_format_tar),
        SYMBOL(read_support_format_zip),
        SYMBOL(set_error),
    };
    void *lib = dlopen(NAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (!lib)
        return bz_fail(err, BZ_E_NOSUP,
                       "unpacking needs %s, which cannot be loaded: install "
                       "libarchive13",
                       NAME);
    for (size_t i = 0; i < BZ_COUNTOF(symbols); i++) {
        void *p = dlsym(lib, symbols[i].name);

        if (!p)
            return bz_fail(err, BZ_E_NOSUP, "%s has no %s: it is too old", NAME,
                           symbols[i].name);
        memcpy((char *)out + symbols[i].at, &p, sizeof(p));
    }
    dlclose(lib); /* it stays loaded all the same */
    return 0;
}
