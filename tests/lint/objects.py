"""Reads the symbols of compiled modules with nm.

The list of objects is written by CMake: a line for each archive or object file, the
module's name before it. Symbols that sanitizers, coverage and fuzzing put into an
object are left out, so that every preset can be checked.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

INSTRUMENTATION = re.compile(
    r"_{2,3}(asan|odr_asan|lsan|msan|tsan|ubsan|sanitizer|sancov|gcov|llvm|profc|profd|unnamed_|start_|stop_)"
    r"|_?\.L|(asan|tsan|sancov)\.")
SYMBOL = re.compile(r"^(\S+) *\|[^|]*\| *(\S) *\|[^|]*\|[^|]*\|[^|]*\|(\S+)$")

# file: the stem of the source; kind: nm's letter; section: "*UND*" if undefined
Symbol = collections.namedtuple("Symbol", "module file name kind section")


def read(path):
    """Every symbol of every object in the list, and {(module, stem)} of the objects."""
    lines = pathlib.Path(path).read_text().splitlines()
    modules = {where: module for module, _, where in (line.partition(" ") for line in lines)}
    done = subprocess.run(["nm", "--format=sysv", *modules], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "LC_ALL": "C"})
    if done.returncode:
        sys.exit("the objects cannot be read; are they built?")
    symbols, objects = [], set()
    for line in done.stdout.splitlines():
        if line.lstrip().startswith("Symbols from "):
            where = line.removeprefix("Symbols from ").removesuffix(":")
            if where in modules:
                module, member = modules[where], pathlib.PurePath(where).name
            else:  # archive[member]
                archive, _, member = where.removesuffix("]").rpartition("[")
                module = modules[archive]
            file = member.removesuffix(".c.o")
            objects.add((module, file))
        elif (found := SYMBOL.match(line)) and not INSTRUMENTATION.match(found[1]):
            symbols.append(Symbol(module, file, found[1], found[2], found[3]))
    return symbols, objects
