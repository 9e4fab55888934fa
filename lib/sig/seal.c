#include "sig/seal.h"

#include "base/mem.h"
#include "os/fs.h"
#include "os/path.h"

struct head {
    char kind[8];
    uint64_t size; /* of the content; its bytes also tell another byte order */
    struct bz_digest digest;
};

int bz_seal_read(const char *path, struct bz_seal_kind kind,
                 struct bz_digest_hasher *hasher, char **bytes, struct bz_str *content,
                 struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *all = NULL;
    struct bz_digest digest;
    struct head head;
    size_t n = 0;
    int rc = bz_fs_read(AT_FDCWD, path, BZ_SEAL_MAX + sizeof(head), &all, &n, err);

    if (rc < 0)
        return rc;
    if (n < sizeof(head))
        return bz_fail(err, BZ_E_CORRUPT, "%s is cut short", path);
    memcpy(&head, all, sizeof(head));
    if (memcmp(head.kind, kind.name, sizeof(head.kind)) != 0 ||
        head.size != n - sizeof(head))
        return bz_fail(err, BZ_E_CORRUPT, "%s is of another kind or size", path);
    bz_digest_bytes(hasher, all + sizeof(head), n - sizeof(head), &digest);
    if (!bz_digest_eq(&digest, &head.digest))
        return bz_fail(err, BZ_E_CORRUPT, "%s is damaged", path);
    *content = bz_str_of(all + sizeof(head), n - sizeof(head));
    *bytes = all;
    all = NULL; /* the caller owns it now */
    return 0;
}

int bz_seal_write(const char *path, struct bz_seal_kind kind,
                  struct bz_digest_hasher *hasher, struct bz_str content,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_temp_release) struct bz_fs_temp temp = {0};
    struct head head = {.size = content.n};
    struct bz_path dir;
    int rc;

    if (content.n > BZ_SEAL_MAX)
        return bz_fail(err, BZ_E_LIMIT, "%s would be too large", path);
    memcpy(head.kind, kind.name, sizeof(head.kind));
    bz_digest_bytes(hasher, content.p, content.n, &head.digest);
    rc = bz_path_join(bz_path_dirname(bz_str_from(path)), BZ_STR(""), &dir, err);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, dir.s, 0777, err);
    if (rc == 0)
        rc = bz_fs_temp_open(&temp, AT_FDCWD, path, 0644, err);
    if (rc == 0)
        rc = bz_fs_write_all(temp.fd, path, &head, sizeof(head), err);
    if (rc == 0)
        rc = bz_fs_write_all(temp.fd, path, content.p, content.n, err);
    return rc < 0 ? rc : bz_fs_temp_commit(&temp, BZ_FS_NOSYNC, err);
}
