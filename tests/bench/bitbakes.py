"""Where BitBake is, and how it is run, for the drivers that compare with it."""

import os
import shutil
from pathlib import Path

# No server is to stay behind, and the locale is one that it accepts.
ENV = {"LC_ALL": "en_US.UTF-8", "LANG": "en_US.UTF-8", "BB_SERVER_TIMEOUT": "0"}


def find(given):
    """The folder with the program, or why there is none."""
    for place in filter(None, [given, os.environ.get("BITBAKE")]):
        for folder in (Path(place), Path(place) / "bin"):
            if os.access(folder / "bitbake", os.X_OK) and (folder / "bitbake").is_file():
                return folder.resolve(), None
        return None, f"there is no bitbake in {place}"
    found = shutil.which("bitbake")
    if found:
        return Path(found).resolve().parent, None
    return None, "not found; --bitbake DIR or BITBAKE names its folder"


def forget(build):
    """Leaves nothing of an earlier run but the configuration."""
    for entry in build.iterdir():
        if entry.name == "conf":
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
