"""Results by kind, and how they are printed."""

import collections
import threading


class Score:
    """Counts of one kind."""

    def __init__(self):
        self.edits = self.stale = self.needless = self.changed = 0
        self.error = None


class Board:
    """Counts of all kinds, filled by several threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.scores = collections.defaultdict(Score)
        self.reports = []
        self.skipped = {}

    def add(self, verdict):
        """Counts a verdict for the kinds of its edits, and what is stale for those to blame."""
        with self.lock:
            for edit in verdict.edits:
                score = self.scores[edit.kind]
                score.edits += 1
                score.changed += verdict.changed
                score.stale += verdict.stale and edit.kind.name in verdict.blamed
                score.needless += bool(verdict.needless)

    def report(self, text):
        with self.lock:
            self.reports.append(text)

    def error(self, kind, text):
        with self.lock:
            self.scores[kind].error = text

    def unmoved(self):
        """Kinds of which less than half of the edits changed any byte: they prove nothing."""
        return [kind for kind, score in self.scores.items()
                if kind.changes and score.edits and 2 * score.changed < score.edits]

    def print(self):
        print(f"{'kind':<45} {'edits':>5} {'bytes':>5} {'stale':>5} {'needless':>8}")
        group = None
        for kind, score in sorted(self.scores.items(), key=lambda item: item[0].place):
            if kind.group != group:
                group = kind.group
                print(f"{group}:")
            marks = [mark for mark, true in (("expected, " + (kind.later or ""), kind.later),
                                             ("STALE", score.stale and not kind.later), ("NEEDLESS", score.needless),
                                             ("ERROR", score.error), ("PROVES NOTHING", kind in self.unmoved()))
                     if true]
            print(f"  {kind.name:<43} {score.edits:>5} {score.changed if kind.changes else '-':>5} "
                  f"{score.stale if not kind.nothing or score.stale else '-':>5} "
                  f"{score.needless:>8}  {' '.join(marks)}".rstrip())
        for kind, why in self.skipped.items():
            print(f"skipped {kind.name}: {why}")
        scores = list(self.scores.items())
        forward = [score for kind, score in scores if not kind.nothing and not kind.later]
        later = [kind for kind, _ in scores if kind.later]
        reverse = [score for kind, score in scores if kind.nothing]
        moving = [kind for kind, _ in scores if kind.changes]
        print(f"{len(forward)} kinds, {sum(s.edits for s in forward)} edits: "
              f"{sum(s.stale for s in forward)} stale, of {sum(bool(s.stale) for s in forward)} kinds")
        print(f"{len(reverse)} kinds that must run nothing, {sum(s.edits for s in reverse)} edits: "
              f"{sum(s.needless for s in reverse)} needlessly rebuilt, {sum(s.stale for s in reverse)} stale")
        if later:
            print(f"{len(later)} kinds are known to be stale and not counted")
        print(f"at least half of the edits change bytes: {len(moving) - len(self.unmoved())} of {len(moving)} kinds")

    def problems(self):
        """Everything that is wrong, as text; empty if all is right."""
        text = list(self.reports)
        text += [f"{kind.name}: less than half of the edits change the bytes of a build from an empty cache"
                 for kind in self.unmoved()]
        text += [f"{kind.name}: {score.error}" for kind, score in self.scores.items() if score.error]
        return "\n".join(text)
