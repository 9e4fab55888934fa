"""What a build left, and how two builds differ."""

import os
import pathlib
import stat

PARTS = ("image", "work", "deploy")

# How git packs the objects of a clone depends on all branches that the server had.
PACKED = ("/.git/objects", "/.git/packed-refs")


def entry_of(path):
    st = path.lstat()
    if stat.S_ISLNK(st.st_mode):
        return ("link", os.readlink(path))
    mode = oct(stat.S_IMODE(st.st_mode))
    if stat.S_ISDIR(st.st_mode):
        return ("directory", mode)
    if stat.S_ISREG(st.st_mode):
        return ("file", mode, path.read_bytes())
    return ("special", oct(st.st_mode))


def outputs(build, targets):
    """All that bitzel-out of a build directory has for targets, by name: kind, mode, bytes
    or link target. Directories are entries of their own, so an empty one counts."""
    found = {}
    for target in targets:
        for part in PARTS:
            link = pathlib.Path(build) / "bitzel-out" / target / part
            if not link.exists():
                continue
            top = pathlib.Path(os.path.realpath(link))
            found[f"{target}/{part}"] = entry_of(top)
            for where, dirs, files in os.walk(top):
                for name in dirs + files:
                    path = pathlib.Path(where) / name
                    found[f"{target}/{part}/{path.relative_to(top)}"] = entry_of(path)
    return {name: entry for name, entry in found.items() if not any(part in name for part in PACKED)}


def shown(entry):
    if entry is None:
        return "absent"
    text = " ".join(part if isinstance(part, str) else repr(part[:60]) for part in entry)
    return text


def differences(left, right):
    """Sorted paths at which two outputs differ, each with both entries."""
    return [(path, left.get(path), right.get(path))
            for path in sorted(left.keys() | right.keys()) if left.get(path) != right.get(path)]


def describe(found, limit=8):
    lines = [f"    {path}\n      cached: {shown(a)}\n      empty:  {shown(b)}" for path, a, b in found[:limit]]
    if len(found) > limit:
        lines.append(f"    and {len(found) - limit} more")
    return "\n".join(lines)
