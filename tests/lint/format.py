"""The layout of C is clang-format's business: it would change nothing.

usage: format.py ROOT

Exits with 77, which ctest shows as skipped, where clang-format is missing; with
BITZEL_MUST_WORK=1 that is a failure.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import tree


def main(root):
    root = pathlib.Path(root).resolve()
    if not shutil.which("clang-format"):
        print("SKIPPED: clang-format is not installed, the layout of C was not checked")
        sys.exit(1 if os.environ.get("BITZEL_MUST_WORK") == "1" else 77)
    paths = [str(path.relative_to(root)) for path in tree.c_files(root, *tree.LIBRARY, "cmd", "tests")]
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *paths], cwd=root,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        print("run: clang-format -i FILE", flush=True)
    sys.exit(1 if done.returncode else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
