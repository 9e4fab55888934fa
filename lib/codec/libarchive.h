/* libarchive.h - libarchive, loaded when it is needed first.
 *
 * Linked the usual way it brings a dozen libraries along, one of them with 30 MB of
 * tables, and each start of the program would take longer, though few commands unpack
 * anything. Therefore it is opened at run time, and called through this table by
 * archive.c alone.
 */
#ifndef BZ_CODEC_LIBARCHIVE_H
#define BZ_CODEC_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "base/err.h"

struct bz_libarchive {
    __typeof__(archive_entry_filetype) *entry_filetype;
    __typeof__(archive_entry_hardlink) *entry_hardlink;
    __typeof__(archive_entry_mtime) *entry_mtime;
    __typeof__(archive_entry_mtime_is_set) *entry_mtime_is_set;
    __typeof__(archive_entry_mtime_nsec) *entry_mtime_nsec;
    __typeof__(archive_entry_nlink) *entry_nlink;
    __typeof__(archive_entry_pathname) *entry_pathname;
    __typeof__(archive_entry_perm) *entry_perm;
    __typeof__(archive_entry_size) *entry_size;
    __typeof__(archive_entry_size_is_set) *entry_size_is_set;
    __typeof__(archive_entry_sparse_count) *entry_sparse_count;
    __typeof__(archive_entry_symlink) *entry_symlink;
    __typeof__(archive_errno) *error_code; /* errno is a macro */
    __typeof__(archive_error_string) *error_string;
    __typeof__(archive_filter_bytes) *filter_bytes;
    __typeof__(archive_filter_count) *filter_count;
    __typeof__(archive_read_data_block) *read_data_block;
    __typeof__(archive_read_free) *read_free;
    __typeof__(archive_read_new) *read_new;
    __typeof__(archive_read_next_header) *read_next_header;
    __typeof__(archive_read_open) *read_open;
    __typeof__(archive_read_open_fd) *read_open_fd;
    __typeof__(archive_read_support_filter_bzip2) *read_support_filter_bzip2;
    __typeof__(archive_read_support_filter_compress) *read_support_filter_compress;
    __typeof__(archive_read_support_filter_gzip) *read_support_filter_gzip;
    __typeof__(archive_read_support_filter_lz4) *read_support_filter_lz4;
    __typeof__(archive_read_support_filter_lzip) *read_support_filter_lzip;
    __typeof__(archive_read_support_filter_lzma) *read_support_filter_lzma;
    __typeof__(archive_read_support_filter_rpm) *read_support_filter_rpm;
    __typeof__(archive_read_support_filter_xz) *read_support_filter_xz;
    __typeof__(archive_read_support_filter_zstd) *read_support_filter_zstd;
    __typeof__(archive_read_support_format_ar) *read_support_format_ar;
    __typeof__(archive_read_support_format_cpio) *read_support_format_cpio;
    __typeof__(archive_read_support_format_empty) *read_support_format_empty;
    __typeof__(archive_read_support_format_raw) *read_support_format_raw;
    __typeof__(archive_read_support_format_tar) *read_support_format_tar;
    __typeof__(archive_read_support_format_zip) *read_support_format_zip;
    __typeof__(archive_set_error) *set_error;
};

/* BZ_E_NOSUP if it is not there. It is never unloaded. Any thread. */
int bz_libarchive_load(struct bz_libarchive *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
