"""Random edits that accumulate: several kinds share a project, edits follow each other, and
the cache grows. After each step the cached build must give the bytes of a build from an empty
cache, and run nothing that the edits do not reach.

BITZEL_EDITS says how many edits to try (60), BITZEL_SEED which ones (1), BITZEL_SEQUENCE
runs one sequence only, BITZEL_KINDS chooses kinds or groups.
"""

import concurrent.futures
import itertools
import os
import random
import threading
import unittest

import trial  # first: it finds the modules of tests/e2e
import all_kinds
import bitzel
import checkout
import score

EDITS = int(os.environ.get("BITZEL_EDITS", "60"))
SEED = os.environ.get("BITZEL_SEED", "1")
ONLY = os.environ.get("BITZEL_SEQUENCE")
REPEAT = " ".join(f"{name}={os.environ[name]!r}" for name in ("BITZEL_EDITS", "BITZEL_SEED", "BITZEL_KINDS")
                  if name in os.environ)
THREADS = 3
KINDS = 6    # in a project
STEPS = 20   # of a sequence


def project_of(members, rng):
    """Some kinds that can share a project."""
    found, taken = [], set()
    for kind in rng.sample(members, len(members)):
        if len(found) < KINDS and (kind.exclusive is None or kind.exclusive not in taken):
            found.append(kind)
            taken.add(kind.exclusive)
    return found


class Sequence:
    """Edits of one project, one after the other."""

    def __init__(self, number, members, board):
        self.number, self.board = number, board
        self.rng = random.Random(f"{SEED}/{number}")
        self.kinds = project_of(members, self.rng)
        self.failing = False  # builds fail since the last edit

    def choose(self):
        """What to edit: mostly one knob, sometimes more at once."""
        members = [kind for kind in self.kinds if kind.may_fail or not self.failing]
        several = 1 if self.failing else min(len(members), self.rng.choice((1, 1, 1, 1, 2, 3)))
        return [(kind, self.rng.choice(sorted(kind.knobs)) if kind.knobs else None)
                for kind in self.rng.sample(members, several)]

    def describe(self, tried, verdict):
        names = " ".join(kind.name for kind in self.kinds)
        lines = [f"seed {SEED}, sequence {self.number}, step {len(tried.history)}; kinds: {names}", "edits so far:"]
        lines += [f"  {step}: " + "; ".join(map(str, edits)) for step, edits in enumerate(tried.history, 1)]
        lines += ["stale:" if verdict.stale else "needless:", verdict.describe(),
                  f"to repeat: {REPEAT} BITZEL_SEQUENCE={self.number}"]
        return "\n".join(lines)

    def run(self, take):
        """Goes on until the sequence or the number of edits is at its end."""
        with trial.temporary() as where:
            tried = trial.Trial(where, self.kinds, self.rng)
            if tried.before.code:
                return  # a kind began with a value that makes builds fail
            for _ in range(STEPS):
                if not take():
                    return
                choices = self.choose()
                style = choices[0][0].style or self.rng.choice(checkout.STYLES)
                verdict = tried.try_edits(choices, self.rng, style)
                self.board.add(verdict)
                self.failing = verdict.empty.code != 0
                if verdict.stale or verdict.needless:
                    self.board.report(self.describe(tried, verdict))
                if verdict.stale:
                    return  # what the cache has now is wrong


class Random(unittest.TestCase):
    def test_builds_after_random_edits_give_the_bytes_of_builds_from_an_empty_cache(self):
        board = score.Board()
        members = all_kinds.chosen(board.skipped)
        lock, left, numbers = threading.Lock(), itertools.count(1), itertools.count(1)

        def take():
            with lock:
                return next(left) <= EDITS

        def run(_):
            while True:
                with lock:
                    number = ONLY or next(numbers)
                sequence = Sequence(number, members, board)
                try:
                    sequence.run(take)
                except trial.Broken as broken:
                    board.report(f"seed {SEED}, sequence {number}: {broken}\n"
                                 f"to repeat: {REPEAT} BITZEL_SEQUENCE={number}")
                if ONLY or not take():
                    return

        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            try:
                list(pool.map(run, range(1 if ONLY else THREADS)))
            except trial.NoSandbox as why:
                if "BITZEL_MUST_WORK" in os.environ:
                    raise
                self.skipTest(str(why))
        board.print()
        if board.reports:
            self.fail("\n" + "\n\n".join(board.reports))


if __name__ == "__main__":
    bitzel.main()
