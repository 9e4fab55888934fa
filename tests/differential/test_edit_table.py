"""Each kind of edit alone, in a small project: the cached build must give the bytes of a build
from an empty cache. The edits are always the same.

BITZEL_KINDS chooses kinds or groups, BITZEL_SEED other values.
"""

import concurrent.futures
import os
import random
import unittest

import trial  # first: it finds the modules of tests/e2e
import all_kinds
import bitzel
import score

SEED = os.environ.get("BITZEL_SEED", "1")
THREADS = 4


def edits_of(kind):
    """The knobs to change, one after the other."""
    return [knob for knob in kind.knobs or [None] for _ in range(kind.rounds)]


def try_kind(kind, board):
    """Tries all edits of a kind, each on top of the one before."""
    rng = random.Random(f"{SEED}/{kind.name}")
    with trial.temporary() as where:
        tried = trial.Trial(where, [kind])
        for knob in edits_of(kind):
            verdict = tried.try_edits([(kind, knob)], rng, kind.style or "write")
            board.add(verdict)
            if kind.later:
                if not verdict.stale:
                    board.report(f"{kind.name} is right now: take the mark `later` away")
            elif verdict.stale or verdict.needless:
                board.report(("stale:\n" if verdict.stale else "") + verdict.describe()
                             + f"\n    to repeat: BITZEL_KINDS={kind.name} BITZEL_SEED={SEED}")


class Table(unittest.TestCase):
    def test_a_cached_build_gives_the_bytes_of_a_build_from_an_empty_cache(self):
        board = score.Board()

        def run(kind):
            try:
                try_kind(kind, board)
            except trial.Broken as broken:
                board.error(kind, str(broken))

        members = all_kinds.chosen(board.skipped, later=True)
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            try:
                list(pool.map(run, members))
            except trial.NoSandbox as why:
                if "BITZEL_MUST_WORK" in os.environ:
                    raise
                self.skipTest(str(why))
        board.print()
        if problems := board.problems():
            self.fail("\n" + problems)


if __name__ == "__main__":
    bitzel.main()
