"""Records which task hashes each edit of edits.py changes in BitBake, to bitbake.json.

    record.py DIRECTORY-OF-BITBAKE

Not part of the tests, which only read the result: BitBake is not needed for these.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import edits
import project

HERE = pathlib.Path(__file__).parent


def write(root):
    for name, text in project.files().items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def hashes(bitbake, root):
    """Task to hash, as BitBake names the files it would write with -S."""
    shutil.rmtree(root / "build" / "tmp", ignore_errors=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "LC_ALL": "en_US.UTF-8",
           "BBPATH": str(root / "build"), "USER": "me"}
    done = subprocess.run([str(bitbake / "bin" / "bitbake"), "-S", "none", *project.DEPENDS],
                          cwd=root / "build", env=env, capture_output=True, text=True,
                          check=False)
    found = {}
    for path in (root / "build" / "tmp" / "stamps").rglob("*.sigdata.*"):
        name, _, key = path.name.partition(".sigdata.")
        recipe, _, task = name.rpartition(".")
        found[f"{recipe}:{task}"] = key
    if len(found) != len(project.DEPENDS) * len(project.TASKS):
        sys.exit(f"{len(found)} tasks have a hash:\n{done.stdout}{done.stderr}")
    return found


def record(bitbake, root):
    write(root)
    before = hashes(bitbake, root)
    out = {}
    for name, file, old, new, _, _ in edits.EDITS:
        if file:
            text = (root / file).read_text()
            (root / file).write_text(text.replace(old, new))
            after = hashes(bitbake, root)
            (root / file).write_text(text)
        else:
            moved = root.with_name(root.name + "-moved")
            shutil.copytree(root, moved)
            after = hashes(bitbake, moved)
            shutil.rmtree(moved)
        out[name] = sorted(t for t in before if before[t] != after[t])
        print(f"{len(out[name]):3} {name}", flush=True)
    return out


def main():
    bitbake = pathlib.Path(sys.argv[1]).resolve()
    version = subprocess.run([str(bitbake / "bin" / "bitbake"), "--version"], check=True,
                             env={**os.environ, "LC_ALL": "en_US.UTF-8"}, text=True,
                             capture_output=True).stdout.split()[-1]
    with tempfile.TemporaryDirectory() as name:
        changed = record(bitbake, pathlib.Path(name).resolve() / "p")
    with open(HERE / "bitbake.json", "w", encoding="utf-8") as out:
        json.dump({"version": version, "changed": changed}, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
