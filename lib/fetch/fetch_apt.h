/* fetch_apt.h - the parts of fetching Debian source packages that are plain text.
 *
 * The host's lists of binary packages are turned into lists of sources, kept with apt's
 * state below DL_DIR/apt2: the host's own configuration is read and not touched. For
 * the files of this module only. Pure; any thread.
 */
#ifndef BZ_FETCH_FETCH_APT_H
#define BZ_FETCH_FETCH_APT_H

#include "fetch/scheme.h"

struct bz_fetch_apt_file {
    struct bz_str name, sha256;
};

struct bz_fetch_apt_list BZ_VEC(struct bz_fetch_apt_file);

/* A line of sources.list: "deb ..." becomes "deb-src ...", all else nothing. */
void bz_fetch_apt_line(struct bz_str line, struct bz_buf *out);

/* The same for a stanza of a .sources file. */
void bz_fetch_apt_stanza(struct bz_str text, struct bz_buf *out);

/* What a .dsc lists, in its order. BZ_E_CORRUPT for a name that is no plain file's. */
int bz_fetch_apt_files(struct bz_arena *arena, struct bz_str dsc,
                       struct bz_fetch_apt_list *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
