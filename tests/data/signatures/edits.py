"""The table of edits: what each changes. A row has a name; file, old and new text; the
tasks that it changes by themselves (all that wait for them change, too); and, where
BitBake decides otherwise, why that is so."""

from project import DEPENDS, TASKS

BASE = "meta/classes/base.bbclass"
CONF = "meta/conf/bitbake.conf"
LOCAL = "build/conf/local.conf"


def recipe(name):
    return f"meta/recipes/{name}_1.0.bb"


def each(task, but=()):
    return [f"{r}:{task}" for r in DEPENDS if r not in but]


ALL = [f"{r}:{t}" for r in DEPENDS for t in TASKS]
TARGET = [t for t in ALL if not t.startswith("iota:")]

EDITS = [
    # name, file, old, new, tasks, why BitBake differs
    ("a comment in a class", BASE, "# What every", "# All that every", [], ""),
    ("a blank line in a recipe", recipe("alpha"), "FLAGS =", "\nFLAGS =", [], ""),
    ("a variable that nothing reads", recipe("alpha"), 'UNUSED = "1"', 'UNUSED = "2"', [], ""),
    ("variables in another order", recipe("beta"), 'inherit lib\nFLAGS = "-b"\n',
     'FLAGS = "-b"\ninherit lib\n', [], ""),
    ("the same text by another operator", recipe("beta"), "FLAGS =", "FLAGS ?=", [], ""),
    ("other quotes", recipe("beta"), '"-b"', "'-b'", [], ""),
    ("an append instead of +=", recipe("theta"), 'LIST += "z"', 'LIST:append = " z"', [], ""),
    ("an override that is not active", recipe("alpha"), "-arm", "-arm7", [], ""),
    ("what [vardepsexclude] names", BASE, '"noon"', '"night"', [], ""),
    ("what BB_BASEHASH_IGNORE_VARS names", CONF, '"then"', '"later"', [], ""),
    ("a feature that nobody asks for", CONF, "ipv4 small", "ipv4 large", [], ""),
    ("a flag that does not count", BASE, "do_build () {", 'do_build[doc] = "d"\ndo_build () {',
     [], ""),
    ("a file that no recipe uses", "meta/recipes/files/unused.patch", "one", "two", [], ""),
    ("a file touched", "meta/recipes/files/x.patch", "one", "one", [], ""),
    ("a line continued", recipe("alpha"), 'FLAGS = "-a"', 'FLAGS = "\\\n-a"', [], ""),
    ("a variable of one recipe", recipe("alpha"), '"-a"', '"-A"', ["alpha:do_compile"], ""),
    ("the source of one recipe", recipe("delta"), ".tar", ".tgz", ["delta:do_fetch"], ""),
    ("a default of all", CONF, '"-O2"', '"-O3"', each("do_compile", ["gamma"]), ""),
    ("a body in a class", BASE, "make install", "make -k install", each("do_install"), ""),
    ("white space in a body", BASE, "make install", "make  install", each("do_install"), ""),
    ("a function that a body calls", BASE, 'test "${STAGE}"', 'test "${STAGE}" = x',
     each("do_compile"), ""),
    ("a variable that such a function reads", BASE, 'STAGE = "one"', 'STAGE = "two"',
     each("do_compile"), ""),
    ("a class that two inherit", "meta/classes/lib.bbclass", '"--shared"', '"--static"',
     ["alpha:do_configure", "beta:do_configure"], ""),
    ("an included file", "meta/recipes/common.inc", '"c"', '"C"',
     ["delta:do_compile", "zeta:do_configure"], ""),
    ("an append of a bbappend", "more/recipes/gamma_%.bbappend", "-more", "-most",
     ["gamma:do_compile"], ""),
    ("a body of a bbappend", "more/recipes/gamma_%.bbappend", "strip", "strip -x",
     ["gamma:do_install"], ""),
    ("an override in local.conf", LOCAL, "-local", "-here", ["beta:do_compile"], ""),
    ("an override of the machine", recipe("eta"), "-board", "-plank", ["eta:do_compile"], ""),
    ("what := was computed from", recipe("theta"), '"r"', '"R"', ["theta:do_compile"], ""),
    ("what [vardeps] names", recipe("kappa"), '"h"', '"H"', ["kappa:do_compile"], ""),
    ("a default in a recipe", recipe("kappa"), '"l"', '"L"', ["kappa:do_configure"], ""),
    ("a feature that is asked for", CONF, "ipv4 small", "ipv6 small", each("do_configure"), ""),
    ("an exported variable", CONF, 'LANG = "C"', 'LANG = "C.UTF-8"', ALL, ""),
    ("a local source", "meta/recipes/files/x.patch", "one", "two", ["epsilon:do_fetch"], ""),
    ("a dependency", recipe("kappa"), "iota theta", "iota epsilon theta", ["kappa:do_configure"],
     ""),
    ("the machine", LOCAL, '"board"', '"other"', ["eta:do_compile"], ""),
    ("a moved checkout", None, None, None, [],
     "where a checkout lies is no input: ${TOPDIR} stands for it"),
]
