"""The project that the table of edits is about: ten recipes with five tasks each, in the
part of the language that BitBake and bitzel both evaluate without Python code."""

BITBAKE_CONF = '''\
TMPDIR = "${TOPDIR}/tmp"
CACHE = "${TMPDIR}/cache"
PERSISTENT_DIR = "${TMPDIR}/cache"
DL_DIR = "${TMPDIR}/downloads"
STAMPS_DIR = "${TMPDIR}/stamps"
STAMP = "${STAMPS_DIR}/${PN}"
T = "${TMPDIR}/work/${PN}/temp"
B = "${TOPDIR}/work/${PN}"
BB_NUMBER_PARSE_THREADS = "1"
BB_SIGNATURE_HANDLER = "basichash"
BB_BASEHASH_IGNORE_VARS = "BB_ENV TIMESTAMP PATH PWD HOME USER LOGNAME SHELL TERM LC_ALL FILE_DIRNAME FILESPATH FILE"
BB_SIGNATURE_EXCLUDE_FLAGS = "deps depends deptask func task python export exports vardeps vardepsexclude vardepvalue prefuncs postfuncs file-checksums filename lineno dirs doc number_threads"
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
OVERRIDES = "all:${MACHINE}:pn-${PN}:${CLASSOVERRIDE}"
CLASSOVERRIDE ?= "class-target"
FEATURES ?= "ipv4 small"
CFLAGS ?= "-O2"
TIMESTAMP = "then"
export LANG = "C"
require conf/local.conf
require conf/machine/${MACHINE}.conf
'''

BASE = '''\
# What every recipe does.
addtask fetch
addtask configure after do_fetch
addtask compile after do_configure
addtask install after do_compile
addtask build after do_install
do_configure[deptask] = "do_install"
do_fetch[file-checksums] += "${@bb.fetch.get_checksum_file_list(d)}"
SRC_URI ?= ""
FILE_DIRNAME = "${@os.path.dirname(d.getVar('FILE', False))}"
FILESPATH = "${FILE_DIRNAME}/files"

STAGE = "one"
NOTE = "at ${TIMESTAMP} on ${HOUR}"
NOTE[vardepsexclude] = "HOUR"
HOUR = "noon"
NET = "${@bb.utils.contains('FEATURES', 'ipv6', '--six', '--four', d)}"

do_fetch () {
    fetch ${SRC}
}
do_configure () {
    cd ${B}
    configure ${NET} ${CONFIG}
}
do_compile () {
    make CFLAGS="${CFLAGS}" ${FLAGS}
    check_flags
}
do_install () {
    make install
    note "${NOTE}"
}
do_build () {
    :
}
check_flags () {
    test "${STAGE}"
}
'''

LAYER = '''\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*.bb ${LAYERDIR}/recipes/*.bbappend"
BBFILE_COLLECTIONS += "%(name)s"
BBFILE_PATTERN_%(name)s = "^${LAYERDIR}/"
BBFILE_PRIORITY_%(name)s = "%(priority)d"
LAYERSERIES_CORENAMES = "x"
LAYERSERIES_COMPAT_%(name)s = "x"
'''

DEPENDS = {
    "alpha": [], "beta": ["alpha"], "gamma": ["alpha"], "delta": ["beta", "gamma"],
    "epsilon": [], "zeta": ["delta"], "eta": ["epsilon"], "theta": ["zeta", "eta"],
    "iota": [], "kappa": ["iota", "theta"],
}
TASKS = ["do_fetch", "do_configure", "do_compile", "do_install", "do_build"]

MORE = {  # what else the recipes say
    "alpha": 'inherit lib\nFLAGS = "-a"\nFLAGS:arm = "-arm"\nUNUSED = "1"\n',
    "beta": 'inherit lib\nFLAGS = "-b"\n',
    "gamma": 'FLAGS = "-g"\nCFLAGS = "-O1"\n',
    "delta": 'require common.inc\nFLAGS = "${COMMON} -d"\n',
    "epsilon": 'SRC_URI = "file://x.patch"\nSRC .= " ${SRC_URI}"\n',
    "zeta": 'require common.inc\nCONFIG = "${COMMON}"\n',
    "eta": 'FLAGS = "-e"\nFLAGS:append:board = " -board"\n',
    "theta": 'ROOT = "r"\nNOW := "now ${ROOT}"\nFLAGS = "${NOW}"\nLIST = "x y"\nLIST += "z"\n',
    "iota": 'CLASSOVERRIDE = "class-native"\nFLAGS = "-i"\n',
    "kappa": 'CONFIG = "${LATER}"\nLATER ?= "l"\ndo_compile[vardeps] = "HIDDEN"\nHIDDEN = "h"\n',
}


def files():
    """Path to text, of the whole project."""
    out = {
        "build/conf/bblayers.conf": 'BBPATH = "${TOPDIR}"\nBBFILES ?= ""\n'
                                    'BBLAYERS = "${TOPDIR}/../meta ${TOPDIR}/../more"\n',
        "build/conf/local.conf": 'MACHINE = "board"\nFLAGS:append:pn-beta = " -local"\n',
        "meta/conf/layer.conf": LAYER % {"name": "meta", "priority": 5},
        "more/conf/layer.conf": LAYER % {"name": "more", "priority": 6},
        "meta/conf/bitbake.conf": BITBAKE_CONF,
        "meta/conf/machine/board.conf": 'TUNE = "b"\n',
        "meta/conf/machine/other.conf": 'TUNE = "o"\n',
        "meta/classes/base.bbclass": BASE,
        "meta/classes/lib.bbclass": 'CONFIG = "${SHARED}"\nSHARED = "--shared"\n',
        "meta/recipes/common.inc": 'COMMON = "c"\n',
        "meta/recipes/files/x.patch": "one\n",
        "meta/recipes/files/unused.patch": "one\n",
        "more/recipes/gamma_%.bbappend": 'FLAGS:append = " -more"\n'
                                         'do_install:append () {\n    strip\n}\n',
    }
    for recipe, depends in DEPENDS.items():
        out[f"meta/recipes/{recipe}_1.0.bb"] = (
            f'SRC = "{recipe}-${{PV}}.tar"\nDEPENDS = "{" ".join(depends)}"\n' + MORE[recipe])
    return out


def reached(direct):
    """The tasks that change when these do: they, and all that wait for them."""
    out = set(direct)
    grown = True
    while grown:
        grown = False
        for recipe, depends in DEPENDS.items():
            for before, task in zip([None, *TASKS], TASKS):
                waits = {f"{recipe}:{before}"} if before else set()
                if task == "do_configure":
                    waits |= {f"{d}:do_install" for d in depends}
                if waits & out and f"{recipe}:{task}" not in out:
                    out.add(f"{recipe}:{task}")
                    grown = True
    return out
