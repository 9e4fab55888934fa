#include "sandbox/host.h"

struct row {
    enum bz_spec_kind kind;
    const char *target;
    const char *source;
};

static const struct row rows[] = {
    {BZ_SPEC_HOST,   "/usr",              ""                                   },
    {BZ_SPEC_HOST,   "/bin",              ""                                   },
    {BZ_SPEC_HOST,   "/sbin",             ""                                   },
    {BZ_SPEC_HOST,   "/lib",              ""                                   },
    {BZ_SPEC_HOST,   "/lib32",            ""                                   },
    {BZ_SPEC_HOST,   "/lib64",            ""                                   },
    {BZ_SPEC_HOST,   "/libx32",           ""                                   },
    {BZ_SPEC_HOST,   "/etc/alternatives", ""                                   },
    {BZ_SPEC_HOST,   "/etc/ld.so.cache",  ""                                   },
    {BZ_SPEC_HOST,   "/etc/ld.so.conf",   ""                                   },
    {BZ_SPEC_HOST,   "/etc/ld.so.conf.d", ""                                   },
    {BZ_SPEC_HOST,   "/etc/protocols",    ""                                   },
    {BZ_SPEC_HOST,   "/etc/services",     ""                                   },
    {BZ_SPEC_FILE,   "/etc/passwd",
     "root:x:0:0:root:/tmp:/bin/sh\nbuilder:x:1000:1000:builder:/tmp:/bin/sh\n"},
    {BZ_SPEC_FILE,   "/etc/group",        "root:x:0:\nbuilder:x:1000:\n"       },
    {BZ_SPEC_PROC,   "/proc",             ""                                   },
    {BZ_SPEC_DIR,    "/sys",              ""                                   },
    {BZ_SPEC_DIR,    "/run",              ""                                   },
    {BZ_SPEC_LINK,   "/var/tmp",          "/tmp"                               },
    {BZ_SPEC_DEVICE, "/dev/null",         "/dev/null"                          },
    {BZ_SPEC_DEVICE, "/dev/zero",         "/dev/zero"                          },
    {BZ_SPEC_DEVICE, "/dev/full",         "/dev/full"                          },
    {BZ_SPEC_DEVICE, "/dev/random",       "/dev/random"                        },
    {BZ_SPEC_DEVICE, "/dev/urandom",      "/dev/urandom"                       },
    {BZ_SPEC_PTS,    "/dev/pts",          ""                                   },
    {BZ_SPEC_LINK,   "/dev/ptmx",         "pts/ptmx"                           },
    {BZ_SPEC_TMPFS,  "/dev/shm",          "256m"                               },
    {BZ_SPEC_LINK,   "/dev/fd",           "/proc/self/fd"                      },
    {BZ_SPEC_LINK,   "/dev/stdin",        "/proc/self/fd/0"                    },
    {BZ_SPEC_LINK,   "/dev/stdout",       "/proc/self/fd/1"                    },
    {BZ_SPEC_LINK,   "/dev/stderr",       "/proc/self/fd/2"                    },
};

static const struct row alone[] = {
    {BZ_SPEC_FILE, "/etc/hosts",         "127.0.0.1 localhost bitzel\n::1 localhost\n"},
    {BZ_SPEC_FILE, "/etc/nsswitch.conf",
     "passwd: files\ngroup: files\nhosts: files dns\n"                                },
};

static const struct row online[] = {
    {BZ_SPEC_HOST, "/etc/hosts",           ""},
    {BZ_SPEC_HOST, "/etc/resolv.conf",     ""},
    {BZ_SPEC_HOST, "/etc/nsswitch.conf",   ""},
    {BZ_SPEC_HOST, "/etc/ssl",             ""},
    {BZ_SPEC_HOST, "/etc/pki",             ""},
    {BZ_SPEC_HOST, "/etc/ca-certificates", ""},
};

static void add(struct bz_spec *spec, const struct row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct bz_err err;

        BZ_ASSERT(bz_spec_add(spec, row[i].kind, row[i].target,
                              bz_str_from(row[i].source), &err) == 0);
    }
}

void bz_host_add(struct bz_spec *spec)
{
    add(spec, rows, BZ_COUNTOF(rows));
    if (spec->network)
        add(spec, online, BZ_COUNTOF(online));
    else
        add(spec, alone, BZ_COUNTOF(alone));
}
