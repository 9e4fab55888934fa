"""From a name to its file: bz_dag_order() is in dag.c, and there is one dag.c.

usage: names.py ROOT OBJECTS   (OBJECTS is described in objects.py)
"""

import collections
import pathlib
import re
import sys

import objects
import tree

VAGUE = {"util", "utils", "common", "misc", "helper", "helpers"}
PUBLIC = pathlib.PurePath("lib/include")  # installed headers: bitzel/*.h
EXPORTS = "abi"  # the one file that defines bitzel_* functions


def check_files(root, findings):
    homes = collections.defaultdict(dict)  # stem -> {folder: a file}
    for path in tree.c_files(root, *tree.LIBRARY, "cmd"):
        inside = path.relative_to(root)
        if vague := VAGUE & {*inside.parts[:-1], path.stem}:
            findings.add(path, 1, f"'{vague.pop()}' says nothing: name what it does")
        if path.suffix == ".h":
            check_guard(root, path, findings)
        if not inside.is_relative_to(PUBLIC) and inside.parts[0] in tree.LIBRARY:
            homes[path.stem].setdefault(path.parent, path)
    for where in homes.values():
        first, *others = where.values()
        for path in others:
            findings.add(path, 1, f"{first.relative_to(root)} has this name already: "
                         "a name leads to one file")


def check_guard(root, path, findings):
    inside = path.relative_to(root)
    if inside.is_relative_to(PUBLIC):
        words = inside.relative_to(PUBLIC).with_suffix("").parts
    else:
        words = ("BZ", tree.module_of(root, path), path.stem)
    guard = re.sub(r"\W", "_", "_".join(words)).upper() + "_H"
    text = tree.without_comments(path.read_text()).strip()
    if not re.match(rf"#ifndef {guard}\n#define {guard}\n", text) or not text.endswith("#endif"):
        findings.add(path, 1, f"guard the whole header with {guard}")


def check_symbols(sources, symbols, findings):
    stems = {stem for _, stem in sources}
    for symbol in symbols:
        path = sources.get((symbol.module, symbol.file))
        if not path or not symbol.kind.isupper() or symbol.kind == "U":
            continue
        if (symbol.name, symbol.module) == ("main", "cmd"):
            continue
        if symbol.file == EXPORTS and symbol.name.startswith("bitzel_"):
            continue
        # fetch_http.c owns bz_fetch_http_get(), though fetch.c is a prefix of it as well.
        owners = [s for s in stems if f"{symbol.name}_".startswith(f"bz_{s}_")]
        if max(owners, key=len, default=None) != symbol.file:
            findings.add(path, tree.line_of(path, symbol.name),
                         f"{symbol.name} is global: make it static or call it bz_{symbol.file}_...")


def main(root, list_of_objects):
    root = pathlib.Path(root).resolve()
    findings = tree.Findings(root)
    check_files(root, findings)
    sources = {(tree.module_of(root, path), path.stem): path
               for path in tree.c_files(root, *tree.LIBRARY, "cmd") if path.suffix == ".c"}
    symbols, compiled = objects.read(list_of_objects)
    check_symbols(sources, symbols, findings)
    for key, path in sources.items():
        if key not in compiled:
            findings.add(path, 1, "is compiled into nothing: list it in CMakeLists.txt or delete it")
    findings.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
