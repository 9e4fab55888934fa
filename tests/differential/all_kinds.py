"""The whole table of kinds, and which of them to run.

BITZEL_KINDS names kinds or groups, with commas between them; without it all run.
"""

import os

import kinds
import kinds_variables  # noqa: F401
import kinds_functions  # noqa: F401
import kinds_files  # noqa: F401
import kinds_sources  # noqa: F401
import kinds_subtle  # noqa: F401
import kinds_environment  # noqa: F401
import kinds_results  # noqa: F401
import kinds_nothing  # noqa: F401


def chosen(skipped, later=False):
    """The kinds that are asked for and that this machine can run; says why not of others."""
    wanted = [name.strip() for name in os.environ.get("BITZEL_KINDS", "").split(",") if name.strip()]
    found = []
    for kind in kinds.TABLE.values():
        if wanted and kind.name not in wanted and kind.group not in wanted:
            continue
        if kind.later and not later:
            continue
        why = kind.needs() if kind.needs else None
        if why:
            skipped[kind] = why
        else:
            found.append(kind)
    return found
