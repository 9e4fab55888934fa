"""The table of features is true: each test that it names exists.

usage: features.py ROOT

A row of a FEATURES.md is | id | feature | supported | test |. A test is named as ctest
names its program, then the function: unit/recipe/parse: lines_comments_and_ends.
"""

import pathlib
import re
import sys

import tree

STATES = {"yes", "needs Python", "not yet"}
ROW = re.compile(r"\| *([A-Z]\w*) *\|(.*)\|([^|]*)\|([^|]*)\| *")
TEST = re.compile(r"(unit/\w+|e2e)/(\w+): (\w+)")


def defines(root, where, program, name):
    """Whether the test program has the function."""
    if where == "e2e":
        path, definition = root / f"tests/e2e/test_{program}.py", rf"^ +def {name}\(self\)"
    else:
        path, definition = root / f"tests/{where}/test_{program}.c", rf"^static void {name}\("
    return path.is_file() and re.search(definition, path.read_text(), re.M) is not None


def check_row(root, path, number, row, findings):
    _, _, state, tests = (part.strip() for part in row.groups())
    if state not in STATES:
        findings.add(path, number, f"'{state}' is no state: write one of {sorted(STATES)}")
    names = [] if tests == "-" else tests.split(", ")
    if state == "yes" and not names:
        findings.add(path, number, "is supported without a test: name one")
    for name in names:
        found = TEST.fullmatch(name)
        if not found:
            findings.add(path, number, f"'{name}' names no test: write PROGRAM: FUNCTION")
        elif not defines(root, *found.groups()):
            findings.add(path, number, f"there is no test '{name}'")


def main(root):
    root = pathlib.Path(root).resolve()
    findings = tree.Findings(root)
    for path in tree.files(root):
        if path.name != "FEATURES.md":
            continue
        seen = set()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            row = ROW.fullmatch(line)
            if not row:
                continue
            if row[1] in seen:
                findings.add(path, number, f"has {row[1]} a second time")
            seen.add(row[1])
            check_row(root, path, number, row, findings)
        if not seen:
            findings.add(path, 1, "has no rows: | id | feature | supported | test |")
    findings.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
