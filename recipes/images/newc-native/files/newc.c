/* newc - writes a directory as a cpio archive of the format "newc", which is what the
 * kernel unpacks as its first root file system.
 *
 *     newc DIRECTORY TABLE > ARCHIVE
 *
 * The archive depends on names, modes, contents and the table alone: entries are
 * sorted, everything belongs to root unless the table says otherwise, and all times are
 * $SOURCE_DATE_EPOCH. Lines of the table, and what they do:
 *
 *     PATH f MODE UID GID               changes a file that is there
 *     PATH d MODE UID GID               changes a directory, or adds one
 *     PATH c MODE UID GID MAJOR MINOR   adds a character device; b: a block device
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    char *path; /* without a slash before it */
    unsigned mode, uid, gid, major, minor;
};

struct list {
    struct entry *at;
    size_t n, room;
};

static unsigned epoch;

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *fmt, ...)
{
    va_list ap;

    fputs("newc: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(1);
}

static void *check(void *p)
{
    if (!p)
        die("out of memory");
    return p;
}

static struct entry *add(struct list *l, const char *path)
{
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 256;
        l->at = check(realloc(l->at, l->room * sizeof(*l->at)));
    }
    l->at[l->n] = (struct entry){.path = check(strdup(path))};
    return &l->at[l->n++];
}

static struct entry *find(struct list *l, const char *path)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->at[i].path, path) == 0)
            return &l->at[i];
    return NULL;
}

static void walk(struct list *l, int dir, const char *prefix)
{
    DIR *d = fdopendir(dir);
    struct dirent *de;

    if (!d)
        die("%s: %s", prefix, strerror(errno));
    while ((errno = 0, de = readdir(d)) != NULL) {
        struct stat st;
        char *path;
        int sub;

        if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
            continue;
        if (asprintf(&path, "%s%s%s", prefix, *prefix ? "/" : "", de->d_name) < 0)
            die("out of memory");
        if (fstatat(dir, de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            die("%s: %s", path, strerror(errno));
        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode))
            die("%s is neither a file nor a directory nor a link", path);
        add(l, path)->mode = S_ISLNK(st.st_mode) ? S_IFLNK | 0777 : st.st_mode;
        if (S_ISDIR(st.st_mode)) {
            sub = openat(dir, de->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
            if (sub < 0)
                die("%s: %s", path, strerror(errno));
            walk(l, sub, path);
        }
        free(path);
    }
    if (errno)
        die("%s: %s", prefix, strerror(errno));
    closedir(d);
}

static unsigned kind_of(char c)
{
    return c == 'f'   ? S_IFREG
           : c == 'd' ? S_IFDIR
           : c == 'c' ? S_IFCHR
           : c == 'b' ? S_IFBLK
                      : 0;
}

static void read_table(struct list *l, const char *name)
{
    FILE *f = fopen(name, "r");
    char line[1024], path[512], kind;
    unsigned number = 0;

    if (!f)
        die("%s: %s", name, strerror(errno));
    while (fgets(line, sizeof(line), f)) {
        unsigned mode, uid, gid, major = 0, minor = 0;
        struct entry *e;
        int n = sscanf(line, "%511s %c %o %u %u %u %u", path, &kind, &mode, &uid, &gid,
                       &major, &minor);
        unsigned type = n >= 5 ? kind_of(kind) : 0;

        number++;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (!type || mode > 07777 || n != (kind == 'c' || kind == 'b' ? 7 : 5))
            die("%s:%u: expected PATH KIND MODE UID GID [MAJOR MINOR]", name, number);
        e = find(l, path);
        if (e && (e->mode & S_IFMT) != type)
            die("%s:%u: %s is something else", name, number, path);
        if (!e && type == S_IFREG)
            die("%s:%u: there is no file %s", name, number, path);
        if (!e)
            e = add(l, path);
        e->mode = type | mode;
        e->uid = uid;
        e->gid = gid;
        e->major = major;
        e->minor = minor;
    }
    fclose(f);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

static void pad(size_t n)
{
    while (n++ % 4 != 0)
        putchar(0);
}

static void header(const struct entry *e, unsigned inode, size_t size)
{
    size_t name = strlen(e->path) + 1;

    if (size > 0xffffffff)
        die("%s is too big for the format", e->path);
    printf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s%c", inode,
           e->mode, e->uid, e->gid, (e->mode & S_IFMT) == S_IFDIR ? 2u : 1u, epoch,
           (unsigned)size, 0u, 0u, e->major, e->minor, (unsigned)name, 0u, e->path, 0);
    pad(110 + name);
}

static void write_file(int dir, const struct entry *e, unsigned inode)
{
    char buf[65536];
    size_t left, n;
    struct stat st;
    int fd = openat(dir, e->path, O_RDONLY | O_NOFOLLOW);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

    if (!f || fstat(fd, &st) < 0)
        die("%s: %s", e->path, strerror(errno));
    header(e, inode, (size_t)st.st_size);
    for (left = (size_t)st.st_size; left > 0; left -= n) {
        n = fread(buf, 1, left < sizeof(buf) ? left : sizeof(buf), f);
        if (n == 0)
            die("%s got shorter while it was read", e->path);
        fwrite(buf, 1, n, stdout);
    }
    pad((size_t)st.st_size);
    fclose(f);
}

static void write_link(int dir, const struct entry *e, unsigned inode)
{
    char to[4096];
    ssize_t n = readlinkat(dir, e->path, to, sizeof(to));

    if (n < 0 || n == sizeof(to))
        die("%s: %s", e->path, n < 0 ? strerror(errno) : "leads too far");
    header(e, inode, (size_t)n);
    fwrite(to, 1, (size_t)n, stdout);
    pad((size_t)n);
}

int main(int argc, char **argv)
{
    const char *time = getenv("SOURCE_DATE_EPOCH");
    struct entry trailer = {.path = (char[]){"TRAILER!!!"}};
    struct list all = {0};
    int dir, top;

    if (argc != 3)
        die("usage: newc DIRECTORY TABLE > ARCHIVE");
    epoch = time ? (unsigned)strtoul(time, NULL, 10) : 0;
    dir = open(argv[1], O_RDONLY | O_DIRECTORY);
    top = dir < 0 ? -1 : dup(dir);
    if (top < 0)
        die("%s: %s", argv[1], strerror(errno));
    add(&all, ".")->mode = S_IFDIR | 0755;
    walk(&all, top, "");
    read_table(&all, argv[2]);
    qsort(all.at, all.n, sizeof(*all.at), by_path);
    for (size_t i = 0; i < all.n; i++) {
        const struct entry *e = &all.at[i];
        unsigned inode = (unsigned)i + 1;

        switch (e->mode & S_IFMT) {
        case S_IFREG:
            write_file(dir, e, inode);
            break;
        case S_IFLNK:
            write_link(dir, e, inode);
            break;
        default:
            header(e, inode, 0);
        }
    }
    header(&trailer, 0, 0);
    if (fflush(stdout) != 0 || ferror(stdout))
        die("the archive cannot be written: %s", strerror(errno));
    return 0;
}
