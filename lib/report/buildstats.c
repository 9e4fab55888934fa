#include "report/buildstats.h"

#include <sys/utsname.h>

#include "base/buf.h"
#include "os/fs.h"
#include "os/fs_output.h"

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* A name from the log as one component of a path. */
static void add_component(struct bz_buf *out, struct bz_str name)
{
    for (size_t i = 0; i < name.n && i < 100; i++) {
        char c = name.p[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c >= '0' && c <= '9') || c == '+' || c == '_' || c == '-' ||
                    (c == '.' && i > 0);

        if (!fine)
            c = '_';
        bz_buf_add_char(out, c);
    }
}

static void add_package(struct bz_buf *out, const struct bz_account_task *t)
{
    add_component(out, t->recipe);
    bz_buf_add_char(out, '-');
    add_component(out, t->version.n > 0 ? t->version : BZ_STR("0"));
    bz_buf_add_str(out, BZ_STR("-r0"));
}

static void add_usage(struct bz_buf *out, const char *who, double cpu, uint64_t memory)
{
    static const char *const counts[] = {"ru_minflt",  "ru_majflt", "ru_inblock",
                                         "ru_oublock", "ru_nvcsw",  "ru_nivcsw"};

    bz_buf_addf(out, "%s ru_utime: %f\n", who, cpu);
    bz_buf_addf(out, "%s ru_stime: %f\n", who, 0.0);
    bz_buf_addf(out, "%s ru_maxrss: %llu\n", who, (unsigned long long)memory / 1024);
    for (size_t i = 0; i < BZ_COUNTOF(counts); i++)
        bz_buf_addf(out, "%s %s: 0\n", who, counts[i]);
}

static void add_task(struct bz_buf *out, const struct bz_account *a,
                     const struct bz_account_task *t)
{
    static const char *const io[] = {"rchar",
                                     "wchar",
                                     "syscr",
                                     "syscw",
                                     "read_bytes",
                                     "write_bytes",
                                     "cancelled_write_bytes"};
    double began = (double)a->wall + seconds(t->start);

    bz_buf_addf(out, "Event: TaskStarted \nStarted: %.2f \n", began);
    add_package(out, t);
    bz_buf_add_str(out, BZ_STR(": "));
    add_component(out, t->task);
    bz_buf_addf(out, "\nElapsed time: %.2f seconds\n", seconds(t->end - t->start));
    bz_buf_add_str(out, BZ_STR("utime: 0\nstime: 0\ncutime: 0\ncstime: 0\n"));
    for (size_t i = 0; i < BZ_COUNTOF(io); i++)
        bz_buf_addf(out, "IO %s: 0\n", io[i]);
    add_usage(out, "rusage", 0, 0);
    add_usage(out, "Child rusage", seconds(t->cpu), t->memory);
    bz_buf_addf(out, "Status: %s \nEnded: %.2f \n",
                t->state == BZ_ACCOUNT_FAILED ? "FAILED" : "PASSED",
                (double)a->wall + seconds(t->end));
}

static void add_build(struct bz_buf *out, const struct bz_account *a,
                      const struct bz_shape *s)
{
    struct utsname host = {0};

    uname(&host);
    bz_buf_addf(out, "Host Info: %s %s %s %s %s \n", host.sysname, host.nodename,
                host.release, host.version, host.machine);
    bz_buf_addf(out, "Build Started: %.2f \n", (double)a->wall);
    for (size_t i = 0; i < s->by_start.len; i++) {
        const struct bz_account_task *t = &a->tasks.at[s->by_start.at[i]];

        if (t->state != BZ_ACCOUNT_FAILED)
            continue;
        bz_buf_add_str(out, BZ_STR("Failed at: "));
        add_package(out, t);
        bz_buf_add_str(out, BZ_STR(" at task: "));
        add_component(out, t->task);
        bz_buf_add_str(out, BZ_STR(" \n"));
    }
    bz_buf_addf(out, "Elapsed time: %.2f seconds \n", seconds(a->took));
}

static int put_file(struct bz_buf *path, const struct bz_buf *text, struct bz_err *err)
{
    return bz_fs_output(bz_buf_text(path), bz_buf_text(text), text->len, err);
}

int bz_buildstats_write(const struct bz_account *a, const struct bz_shape *s,
                        const char *dir, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0}, text = {0};
    int rc;

    if (bz_fs_exists(AT_FDCWD, dir))
        return bz_fail(err, BZ_E_EXISTS, "%s is there already", dir);
    rc = bz_fs_mkdirs(AT_FDCWD, dir, 0755, err);
    for (size_t i = 0; rc == 0 && i < s->by_start.len; i++) {
        const struct bz_account_task *t = &a->tasks.at[s->by_start.at[i]];

        /* Of one without its end the programs that read this refuse the directory. */
        if (t->state == BZ_ACCOUNT_UNFINISHED)
            continue;
        bz_buf_truncate(&path, 0);
        bz_buf_truncate(&text, 0);
        bz_buf_addf(&path, "%s/", dir);
        add_package(&path, t);
        rc = bz_fs_mkdirs(AT_FDCWD, bz_buf_text(&path), 0755, err);
        bz_buf_add_char(&path, '/');
        add_component(&path, t->task.n > 0 ? t->task : BZ_STR("task"));
        add_task(&text, a, t);
        if (rc == 0)
            rc = put_file(&path, &text, err);
    }
    if (rc < 0)
        return rc;
    bz_buf_truncate(&path, 0);
    bz_buf_truncate(&text, 0);
    bz_buf_addf(&path, "%s/build_stats", dir);
    add_build(&text, a, s);
    return put_file(&path, &text, err);
}
