/* machine.h - a machine with a few packages, below a scratch directory. */
#ifndef BZ_TEST_TOOLS_MACHINE_H
#define BZ_TEST_TOOLS_MACHINE_H

#include "tests/unit/os/scratch.h"

/* A package with the same file list in its name. */
static inline void put_list(int dir, const char *package, const char *text)
{
    char path[256];

    snprintf(path, sizeof(path), "var/lib/dpkg/info/%s.list", package);
    put(dir, path, text);
}

static inline void put_program(int dir, const char *path, const char *text)
{
    put(dir, path, text);
    assert_int_equal(fchmodat(dir, path, 0755, 0), 0);
}

#define MACHINE_STATUS                                                                 \
    "Package: dash\nStatus: install ok installed\nArchitecture: amd64\n"               \
    "Essential: yes\nDepends: libc6\n\n"                                               \
    "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\n"              \
    "Multi-Arch: same\n\n"                                                             \
    "Package: gcc\nStatus: install ok installed\nArchitecture: amd64\n"                \
    "Depends: libc6, cpp\n\n"                                                          \
    "Package: cpp\nStatus: install ok installed\nArchitecture: amd64\n\n"              \
    "Package: mawk\nStatus: install ok installed\nArchitecture: amd64\n\n"             \
    "Package: dpkg\nStatus: install ok installed\nArchitecture: amd64\n\n"             \
    "Package: game\nStatus: install ok installed\nArchitecture: amd64\n\n"

static inline void make_machine(int dir)
{
    static const char *const dirs[] = {
        "usr/bin",           "usr/sbin",        "usr/lib/gcc",
        "usr/local/bin",     "usr/share/doc/x", "etc/alternatives",
        "var/lib/dpkg/info", "usr/share/games", "var/lib/dpkg/alternatives",
    };

    for (size_t i = 0; i < BZ_COUNTOF(dirs); i++)
        make_dirs(dir, dirs[i]);
    assert_int_equal(symlinkat("usr/bin", dir, "bin"), 0);
    assert_int_equal(symlinkat("usr/lib", dir, "lib"), 0);
    put_program(dir, "usr/bin/dash", "dash");
    assert_int_equal(symlinkat("dash", dir, "usr/bin/sh"), 0);
    put(dir, "usr/lib/libc.so.6", "libc");
    put_program(dir, "usr/bin/gcc-12", "gcc");
    assert_int_equal(symlinkat("gcc-12", dir, "usr/bin/gcc"), 0);
    put(dir, "usr/lib/gcc/cc1", "cc1");
    put_program(dir, "usr/bin/mawk", "mawk");
    assert_int_equal(symlinkat("/etc/alternatives/awk", dir, "usr/bin/awk"), 0);
    assert_int_equal(symlinkat("/usr/bin/mawk", dir, "etc/alternatives/awk"), 0);
    put_program(dir, "usr/bin/game", "game");
    put(dir, "usr/share/games/data", "data");
    put(dir, "usr/share/doc/x/text", "text");
    put_program(dir, "usr/local/bin/own", "own");
    put(dir, "var/lib/dpkg/status", MACHINE_STATUS);
    put_list(dir, "dash", "/.\n/bin\n/bin/sh\n/bin/dash\n/usr/share/doc/x/text\n");
    put_list(dir, "libc6:amd64", "/.\n/lib\n/lib/libc.so.6\n/etc/other\n/lib/gone\n");
    put_list(dir, "gcc", "/.\n/usr\n/usr/bin\n/usr/bin/gcc-12\n/usr/bin/gcc\n");
    put_list(dir, "cpp", "/.\n/usr/lib/gcc\n/usr/lib/gcc/cc1\n");
    put_list(dir, "mawk", "/.\n/usr/bin/mawk\n");
    put_list(dir, "dpkg", "/.\n");
    put_list(dir, "game",
             "/.\n/usr/bin/game\n/usr/share/games\n/usr/share/games/data\n");
    put(dir, "var/lib/dpkg/alternatives/awk",
        "auto\n/usr/bin/awk\n\n/usr/bin/mawk\n5\n\n");
}

#endif
