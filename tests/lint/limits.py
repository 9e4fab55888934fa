"""Files stay short, finished and clean.

usage: limits.py ROOT
"""

import pathlib
import re
import sys

import tree

MAX_LINES = 1500
TEXT = {".c", ".h", ".py", ".sh", ".md", ".cmake"}
FINISHED = ("cmd", "lib", "cache", "recipes")  # where no note to oneself may stay
NOTE = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def is_text(path):
    if path.suffix in TEXT or path.name == "CMakeLists.txt":
        return True
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def check_lines(path, lines, findings):
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            findings.add(path, number, "has a tab: indent with spaces")
        if line != line.rstrip():
            findings.add(path, number, "ends in blanks: remove them")


def main(root):
    root = pathlib.Path(root).resolve()
    findings = tree.Findings(root)
    for path in tree.files(root):
        parts = path.relative_to(root).parts
        if parts[:2] == ("tests", "data") or path.is_symlink() or not is_text(path):
            continue  # data is what a test needs it to be
        text = path.read_bytes().decode("utf-8", "replace")
        lines = text.split("\n")
        check_lines(path, lines, findings)
        if text and not text.endswith("\n"):
            findings.add(path, len(lines), "does not end in a newline: add it")
        if path.suffix in (".c", ".h") and text.count("\n") > MAX_LINES:
            findings.add(path, MAX_LINES + 1, f"is longer than {MAX_LINES} lines: split it")
    for path in tree.files(root, *FINISHED):
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            if found := NOTE.search(line.decode("utf-8", "replace")):
                findings.add(path, number, f"says {found[0]}: do it, or open an issue")
    findings.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
