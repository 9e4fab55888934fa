#include "project/plainpath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/digest.h"
#include "os/fs.h"

#define NAME_DIGITS 16 /* of the digest of a path */

static bool is_plain(const char *path)
{
    return !strpbrk(path, " \t\n\r\f\v\"'\\${}");
}

/* It may be in /tmp, which is everybody's: what is there may not be ours. */
static int make_links(const char *links, struct bz_err *err)
{
    struct stat st;

    if (mkdir(links, S_IRWXU) < 0 && errno != EEXIST)
        return bz_fail_sys(err, "make %s", links);
    if (lstat(links, &st) < 0)
        return bz_fail_sys(err, "look at %s", links);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
        (st.st_mode & (S_IWGRP | S_IWOTH)))
        return bz_fail(
            err, BZ_E_INVAL,
            "%s is not a directory that this user alone may write to: remove "
            "it, layers whose paths have blanks are named there",
            links);
    return 0;
}

static int name_link(const char *links, const char *dir, struct bz_path *out,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    char hex[BZ_DIGEST_HEX_LEN + 1], name[sizeof("dir-") + NAME_DIGITS];
    struct bz_digest digest;
    int rc = bz_digest_hasher_new(&hasher, err);

    if (rc < 0)
        return rc;
    bz_digest_bytes(hasher, dir, strlen(dir), &digest);
    bz_digest_hex(&digest, hex);
    snprintf(name, sizeof(name), "dir-%.*s", NAME_DIGITS, hex);
    return bz_path_join(bz_str_from(links), bz_str_from(name), out, err);
}

static bool leads_to(const char *link, const char *dir)
{
    struct bz_err ignored;
    char *to = NULL;
    bool yes =
        bz_fs_readlink(AT_FDCWD, link, &to, &ignored) == 0 && strcmp(to, dir) == 0;

    free(to);
    return yes;
}

int bz_plainpath_make(const char *links, const char *dir, struct bz_path *out,
                      struct bz_err *err)
{
    int rc;

    if (is_plain(dir))
        return bz_path_join(BZ_STR("/"), bz_str_from(dir), out, err);
    if (!is_plain(links))
        return bz_fail(err, BZ_E_INVAL, "%s: words cannot name a link there", links);
    rc = make_links(links, err);
    if (rc == 0)
        rc = name_link(links, dir, out, err);
    if (rc < 0 || leads_to(out->s, dir))
        return rc;
    if (symlink(dir, out->s) == 0)
        return 0;
    if (errno != EEXIST)
        return bz_fail_sys(err, "make the link %s", out->s);
    if (leads_to(out->s, dir))
        return 0; /* another process has made it in between */
    return bz_fail(err, BZ_E_INVAL, "%s is in the way of a link to %s: remove it",
                   out->s, dir);
}
