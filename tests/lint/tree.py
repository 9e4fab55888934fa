"""What the lints share: the files of the tree, and how a finding is told."""

import os
import pathlib
import re
import sys

LIBRARY = ("lib", "cache")  # what is linked into programs, as opposed to cmd and tests
NOT_OURS = {".git", "build", "bitzel-out", "__pycache__"}

COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def files(root, *tops):
    """Every file below the given folders of root (all of it if none), in order."""
    for top in tops or ("",):
        for folder, folders, names in os.walk(root / top):
            folders[:] = sorted(set(folders) - NOT_OURS)
            yield from (pathlib.Path(folder) / name for name in sorted(names))


def c_files(root, *tops):
    return (path for path in files(root, *tops) if path.suffix in (".c", ".h"))


def module_of(root, path):
    """The module a C file belongs to, by its folder; None for tests and the like."""
    parts = path.relative_to(root).parts
    if parts[0] == "lib" and len(parts) > 2:
        return parts[1]
    return parts[0] if parts[0] in ("cache", "cmd") else None


def without_comments(text):
    """C text with its comments blanked, every line where it was."""

    def blank(match):
        found = match[0]
        return re.sub(r"[^\n]", " ", found) if found.startswith("/") else found

    return COMMENT_OR_STRING.sub(blank, text)


def line_of(path, word):
    """The first line of the code that has this word; 1 if a macro hides it."""
    found = re.search(rf"\b{re.escape(word)}\b", without_comments(path.read_text()))
    return 1 + path.read_text()[: found.start()].count("\n") if found else 1


class Findings:
    """Collects `path:line: what is wrong and what to do`."""

    def __init__(self, root):
        self.root = root
        self.found = []

    def add(self, path, line, text):
        path = pathlib.Path(path)
        if path.is_absolute() and path.is_relative_to(self.root):
            path = path.relative_to(self.root)
        self.found.append((str(path), line, text))

    def finish(self):
        """Prints what was found; the exit code is 1 if that is anything."""
        for path, line, text in sorted(set(self.found)):
            print(f"{path}:{line}: {text}")
        if self.found:
            print(f"{len(set(self.found))} found", file=sys.stderr)
        sys.exit(1 if self.found else 0)
