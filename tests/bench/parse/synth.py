#!/usr/bin/env python3
"""Writes a layer of many recipes, and a build directory that uses it.

The same arguments give the same bytes. BitBake and bitzel read it as it stands: nothing
in it needs more than the two programs themselves, and no recipe does any work.

Two shapes:
  flat  a small configuration and many plain recipes: the price of a recipe as such
  deep  2,000 variables in the configuration, OVERRIDES of 30 words, 40 classes that
        inherit each other five deep: what a recipe costs on top of much metadata
"""

import argparse
import sys
from pathlib import Path

TASKS = ["fetch", "unpack", "patch", "configure", "compile", "install",
         "populate_sysroot", "build"]
GROUP = 50  # recipes in a directory, which share one include file
APPEND_EVERY = 20
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]

SETTINGS = {"variables": 20, "fan": 3, "classes": 4, "config": 0, "overrides": 0}
SHAPES = {"flat": {}, "deep": {"classes": 40, "config": 2000, "overrides": 24}}

LAYER_CONF = """\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*/*.bb ${LAYERDIR}/recipes/*/*.bbappend"
BBFILE_COLLECTIONS += "bench"
BBFILE_PATTERN_bench := "^${LAYERDIR}/"
BBFILE_PRIORITY_bench = "5"
LAYERSERIES_CORENAMES = "bench"
LAYERSERIES_COMPAT_bench = "bench"
"""

BBLAYERS_CONF = """\
BBPATH = "${TOPDIR}"
BBFILES ?= ""
BBLAYERS ?= "${TOPDIR}/../layer"
"""

BITBAKE_CONF = """\
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'defaultpkgname'}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
PR = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[2] or 'r0'}"
BPN = "${PN}"
PF = "${PN}-${PV}-${PR}"
P = "${PN}-${PV}"
PROVIDES = ""
PROVIDES:prepend = "${PN} "
PACKAGES = "${PN} ${PN}-dev ${PN}-doc"
RDEPENDS:${PN}-dev = "${PN} (= ${PV}-${PR})"
DEPENDS ?= ""
SECTION ??= "base"
MACHINE ??= "qemubench"
DISTRO ??= "plain"
TARGET_ARCH = "x86_64"
TARGET_OS = "linux"
TMPDIR ?= "${TOPDIR}/tmp"
CACHE = "${TMPDIR}/cache"
PERSISTENT_DIR = "${TOPDIR}/cache"
BASE_WORKDIR ?= "${TMPDIR}/work"
WORKDIR = "${BASE_WORKDIR}/${TARGET_ARCH}-${TARGET_OS}/${PN}/${PV}"
T = "${WORKDIR}/temp"
S = "${WORKDIR}/${BPN}-${PV}"
B = "${S}"
D = "${WORKDIR}/image"
STAMP = "${TMPDIR}/stamps/${TARGET_ARCH}-${TARGET_OS}/${PN}/${PV}-${PR}"
prefix = "/usr"
bindir = "${prefix}/bin"
libdir = "${prefix}/lib"
FILES:${PN} = "${bindir}/* ${libdir}/lib*.so.*"
FILES:${PN}-dev = "${prefix}/include ${libdir}/lib*.so"
DISTRO_FEATURES ?= "alpha gamma epsilon"
OVERRIDES = "${TARGET_OS}:${TARGET_ARCH}:pn-${PN}@MORE@:${MACHINE}:${DISTRO}:forcevariable"
export PATH
BB_NUMBER_THREADS ?= "${@bb.utils.cpu_count()}"
BB_NUMBER_PARSE_THREADS ?= "${BB_NUMBER_THREADS}"
BB_SIGNATURE_HANDLER ?= "noop"
BB_DEFAULT_TASK ?= "build"
BB_HASHCONFIG_IGNORE_VARS = "PATH TOPDIR BB_ORIGENV BB_NUMBER_THREADS"
@SETTINGS@include conf/local.conf
"""


class Layer:
    def __init__(self, root, count, **settings):
        self.root = Path(root)
        self.count = count
        self.set = {**SETTINGS, **settings}

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")

    def write_all(self):
        self.write("layer/conf/layer.conf", LAYER_CONF)
        self.write("build/conf/bblayers.conf", BBLAYERS_CONF)
        self.write("build/conf/local.conf", "")
        self.write_configuration()
        self.write_classes()
        for i in range(self.count):
            self.write_recipe(i)
        everything = " ".join(name_of(i) for i in range(self.count))
        self.write("layer/recipes/all/all_1.0.bb",
                   f'SUMMARY = "Waits for all the others"\nDEPENDS = "{everything}"\n')

    def write_configuration(self):
        files = [f"conf/settings-{k}.inc" for k in range((self.set["config"] + 199) // 200)]
        for k, name in enumerate(files):
            left = min(200, self.set["config"] - 200 * k)
            self.write(f"layer/{name}",
                       "".join(setting_text(200 * k + v) for v in range(left)))
        more = "".join(f":feature-{k}" for k in range(self.set["overrides"]))
        includes = "".join(f"require {name}\n" for name in files)
        self.write("layer/conf/bitbake.conf", BITBAKE_CONF.replace("@MORE@", more)
                   .replace("@SETTINGS@", includes))

    def write_classes(self):
        text = []
        for before, task in zip([None] + TASKS, TASKS):
            text.append(f"addtask {task} after do_{before}\n" if before
                        else f"addtask {task}\n")
            text.append(f"do_{task}() {{\n    :\n}}\n")
            text.append(f'do_{task}[dirs] = "${{WORKDIR}}"\n')
        text.append('do_configure[deptask] = "do_populate_sysroot"\n'
                    'do_build[noexec] = "1"\n')
        self.write("layer/classes/base.bbclass", "".join(text))
        for k in range(self.set["classes"]):
            self.write(f"layer/classes/{class_of(k)}.bbclass", class_text(k))

    def write_recipe(self, i):
        name, folder = name_of(i), f"layer/recipes/g{i // GROUP:04}"
        if i % GROUP == 0:
            self.write(f"{folder}/group.inc", group_text(i // GROUP))
        self.write(f"{folder}/{name}_1.{i % 10}.bb", self.recipe_text(i))
        if i % APPEND_EVERY == 0:
            self.write(f"{folder}/{name}_%.bbappend",
                       f'VAR0:append = " appended"\nEXTRA_{name} = "${{PN}}"\n')

    def recipe_text(self, i):
        name = name_of(i)
        parents = [(i - 1) // 2, (i - 1) // 3, i - 7, i - 13, i - 29][:self.set["fan"]]
        needs = sorted({name_of(j) for j in parents if 0 <= j < i})
        classes = self.set["classes"]
        # The last of each five, which brings the other four along.
        inherits = [class_of(k) for k in range(4, classes, 5) if (i + k) % 3]
        lines = [f'SUMMARY = "Recipe {i} of a benchmark"', 'LICENSE = "MIT"',
                 "require group.inc",
                 "inherit " + " ".join(inherits or [class_of(classes - 1)])]
        if needs:
            lines.append(f'DEPENDS = "{" ".join(needs)}"')
            lines.append(f'RDEPENDS:${{PN}} += "{needs[0]} (>= 1.0)"')
        lines += [variable_text(i, v) for v in range(self.set["variables"])]
        lines += ["do_compile() {", '    : "compile ${PF} with ${VAR0}"', "}",
                  "do_install:append() {", f"    : install {name} ${{VAR5}} ${{D}}", "}",
                  'do_compile[vardeps] += "VAR1"', ""]
        return "\n".join(lines)


def name_of(i):
    return f"r{i:05}"


def class_of(k):
    return f"bench-{k}"


def group_text(group):
    word = WORDS[group % len(WORDS)]
    return (f'HOMEPAGE ?= "https://bench.example/{group}/${{BPN}}"\n'
            f'SECTION = "{word}"\n'
            f'SRC_URI = "https://bench.example/${{BPN}}-${{PV}}.tar.gz"\n'
            f'GROUP_FLAGS = "${{@bb.utils.contains(\'DISTRO_FEATURES\', \'{word}\','
            f' \'--with-{word}\', \'--without-{word}\', d)}}"\n')


def variable_text(i, v):
    """The operators in turn, on a handful of names that read each other."""
    base = v - v % 5
    if v == 4:
        return f'VAR0:remove = "tail{i}"'
    return [f'VAR{v} = "value {v} ${{{f"VAR{v - 5}" if v else "PN"}}}"',
            f'VAR{v} ?= "default ${{VAR{base}}}"',
            f'VAR{base}:append = " tail{i}"',
            f'VAR{base + 1}:qemubench = "machine ${{VAR{base}}} ${{P}}"',
            f'VAR{base} += "x${{PV}}"'][v % 5]


def setting_text(v):
    """One variable of a large configuration."""
    word, other = WORDS[v % len(WORDS)], f"SETTING_{v // 2}"
    return [f'SETTING_{v} = "{word} {v}"\n',
            f'SETTING_{v} ?= "${{{other}}} {word}"\n',
            f'SETTING_{v} ??= "weak {word}"\nSETTING_{v}:feature-{v % 24} = "{word}"\n',
            f'SETTING_{v} = "{word}"\nSETTING_{v}:append = " ${{PN}}-{v}"\n',
            f'SETTING_{v} = "${{@bb.utils.contains(\'DISTRO_FEATURES\', \'{word}\','
            f' \'yes\', \'no\', d)}}"\n',
            f'SETTING_{v}[doc] = "What setting {v} is about"\nSETTING_{v} = ""\n',
            f'SETTING_{v}:pn-{name_of(v)} = "only there"\nSETTING_{v} ?= "elsewhere"\n',
            f'SETTING_{v} := "${{TARGET_ARCH}}-{word}"\n'][v % 8]


def class_text(k):
    """One of a chain of five classes, each of which inherits the one before it."""
    lines = [] if k % 5 == 0 else [f"inherit {class_of(k - 1)}"]
    for v in range(8):
        name = f"CLASS{k}_{v}"
        lines.append([f'{name} = "class {k} of ${{PN}}"', f'{name} ?= "${{CLASS{k}_0}} {v}"',
                      f'{name}:linux = "${{CLASS{k}_1}} on ${{TARGET_OS}}"',
                      f'{name}:append:qemubench = " {v}"'][v % 4])
    lines.append(f'DEPENDS:append:class-{k} = " never"')
    lines.append(f'BENCH_FLAGS += "${{@bb.utils.contains(\'DISTRO_FEATURES\','
                 f' \'{WORDS[k % 8]}\', \'--{k}\', \'\', d)}}"')
    lines += [f"{class_of(k)}_do_configure() {{", f"    : ${{CLASS{k}_2}} ${{BENCH_FLAGS}}", "}",
              "EXPORT_FUNCTIONS do_configure",
              f"bench_helper_{k}() {{", f'    echo "helper {k} of ${{PF}}"', "}",
              f'do_install[vardeps] += "CLASS{k}_3"', ""]
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir", type=Path, help="is created; holds layer/ and build/")
    parser.add_argument("count", type=int, help="recipes, besides the one called all")
    parser.add_argument("--shape", choices=list(SHAPES), default="flat")
    opts = parser.parse_args(argv)
    if opts.count < 1:
        parser.error("at least one recipe")
    Layer(opts.dir, opts.count, **SHAPES[opts.shape]).write_all()
    return 0


if __name__ == "__main__":
    sys.exit(main())
