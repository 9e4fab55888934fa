"""The table of kinds of edits. README.md says how to add one.

A kind is a function that writes its part of a project into a Checkout, and knobs: the values
that this part depends on. An edit gives one knob another value.
"""

import hashlib
import types

# Words of one length: an edit of a word keeps the size of its file.
WORDS = ("amber", "birch", "cedar", "delta", "ember", "frost", "grape", "hazel")
TABLE = {}  # name -> Kind


def word(rng):
    return rng.choice(WORDS)


class Kind:
    """One kind of edit.

    group     the heading in reports
    knobs     name -> function of a random generator, or a sequence of values; a project
              starts with any of these, in the table with the first value of a sequence
    nothing   the edit must not execute any task
    changes   a from-empty build gives other bytes after most edits
    reach     "own": only tasks of the kind's recipes may run again; "all": any task may
    exclusive kinds with the same word here are never in one project
    may_fail  builds may fail, if both do
    needs     a function that returns why this machine cannot run the kind, or None
    between   called with (site, checkout, rng) after the files are edited
    style     how files are written, see checkout.STYLES; None: any
    rounds    edits of each knob in the table
    later     why results are stale as yet: the table expects that, other tests leave it out
    """

    def __init__(self, group, render, knobs, *, nothing=False, changes=True, reach="own",
                 exclusive=None, may_fail=False, needs=None, between=None, style=None, rounds=1,
                 later=None):
        self.group, self.render, self.knobs = group, render, knobs
        self.name = render.__name__.replace("_", "-")
        self.nothing, self.changes, self.reach = nothing, changes and not nothing, reach
        self.exclusive, self.may_fail, self.needs = exclusive, may_fail, needs
        self.between, self.style, self.rounds = between, style, rounds
        self.later = later
        self.place = len(TABLE)  # in the table

    def draw(self, knob, rng, but=None):
        """Another value of a knob than `but`."""
        spec = self.knobs[knob]
        while True:
            value = spec(rng) if callable(spec) else rng.choice(spec)
            if value != but:
                return value

    def begin(self, rng=None):
        """Values of all knobs; without a generator the first ones."""
        if rng:
            return {knob: self.draw(knob, rng) for knob in self.knobs}
        return {knob: WORDS[0] if spec is word else spec[0] for knob, spec in self.knobs.items()}


def group(name, **defaults):
    """A decorator that enters functions into the table, under a heading."""
    def entered(knobs=None, **options):
        def enter(function):
            kind = Kind(name, function, knobs or {}, **{**defaults, **options})
            if kind.name in TABLE:
                raise ValueError(f"two kinds are called {kind.name}")
            TABLE[kind.name] = kind
            return function
        return enter
    return entered


def values(state):
    return types.SimpleNamespace(**state)


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()
