"""A module uses only what it declares, and declares only what modules.txt allows.

usage: layers.py ROOT LAYERS [MODULES]

LAYERS is written by CMake, a line for each bz_module(): name, folder, DEPS. MODULES is
the table of what each module may use, by default the one beside this program. Also
checks that CONTRIBUTING.md tells about every module, and about no other.
"""

import pathlib
import re
import sys

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
ROW = re.compile(r"^\| `(\w+)` \|", re.M)


def read_table(path, findings):
    """{module: what it may use}; a name is known from its own line on."""
    table = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        name, colon, uses = line.partition("#")[0].partition(":")
        if not colon:
            continue
        for use in uses.split():
            if use not in table:
                findings.add(path, number, f"{name} may use {use}, which is not above it: "
                             "a module uses only modules above it")
        table[name.strip()] = set(uses.split())
    return table


def read_layers(path):
    """{module: (folder, DEPS)} as declared by bz_module()."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0]: (row[1], row[2:]) for row in rows if row}


def check_declared(root, layers, table, findings):
    known = set()
    for name, (folder, deps) in layers.items():
        where = root / folder / "CMakeLists.txt"
        if name not in table:
            findings.add(where, 1, f"module {name} is not in tests/lint/modules.txt: "
                         "add it there and say why no other module could hold it")
        if folder not in (f"lib/{name}", name, f"{name}/bitzel"):
            findings.add(where, 1, f"module {name} lives in {folder}: a folder is a module, "
                         "name both alike")
        for dep in deps:
            if dep not in known:
                findings.add(where, 1, f"{name} names {dep} in DEPS, which no bz_module() "
                             "above it declares")
            elif dep not in table.get(name, ()):
                findings.add(where, 1, f"{name} may not use {dep}: see tests/lint/modules.txt")
        known.add(name)


def check_include(path, line, quote, name, own, allowed, modules, root, findings):
    top, slash, _ = name.partition("/")
    if quote == "<":
        if slash and top in modules:
            findings.add(path, line, f'include "{name}" with quotes: it is ours')
    elif own == "cmd" and (root / "cmd/bitzel" / name).is_file():
        pass  # a program's own headers, which nobody else includes
    elif not slash or top not in modules:
        findings.add(path, line, f'"{name}" names no module: write "<module>/<file>.h"')
    elif top != own and top not in allowed:
        findings.add(path, line, f"{own} may not use {top}: pass what it needs down to it, "
                     "or name it in DEPS if tests/lint/modules.txt allows it")


def check_includes(root, layers, table, findings):
    allowed = {name: set(deps) for name, (_, deps) in layers.items()}
    modules = set(table) | set(layers)
    for path in tree.c_files(root, *tree.LIBRARY, "cmd"):
        own = tree.module_of(root, path)
        if own == "include":
            continue  # the installed headers, which stand alone
        if own not in allowed:
            findings.add(path, 1, f"{path.parent.name} has no bz_module(): its folder is unknown")
            continue
        text = tree.without_comments(path.read_text())
        for found in INCLUDE.finditer(text):
            line = 1 + text[: found.start()].count("\n")
            check_include(path, line, found[1], found[2], own, allowed[own], modules, root,
                          findings)


def check_told(root, layers, findings):
    path = root / "CONTRIBUTING.md"
    told = set(ROW.findall(path.read_text())) if path.is_file() else set()
    for name in sorted(set(layers) - told):
        findings.add(path, 1, f"the table of modules lacks {name}")
    for name in sorted(told - set(layers)):
        findings.add(path, 1, f"the table of modules names {name}, which is not in the tree")


def main(root, layers, modules=pathlib.Path(__file__).parent / "modules.txt"):
    root = pathlib.Path(root).resolve()
    findings = tree.Findings(root)
    table = read_table(pathlib.Path(modules).resolve(), findings)
    declared = read_layers(pathlib.Path(layers))
    check_declared(root, declared, table, findings)
    check_includes(root, declared, table, findings)
    check_told(root, declared, findings)
    findings.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
