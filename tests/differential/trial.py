"""Builds, edits and the judgement: a cached build against one from an empty cache."""

import itertools
import json
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import bitzel  # noqa: E402
import checkout  # noqa: E402
import compare  # noqa: E402
import kinds  # noqa: E402


class Broken(Exception):
    """The test itself is wrong: a project that should build does not."""


class NoSandbox(Exception):
    """This machine cannot run tasks in a sandbox."""


class Built:
    """How a build ended."""

    def __init__(self, code, executed, failed, outputs, text):
        self.code, self.executed, self.failed = code, executed, failed
        self.outputs, self.text = outputs, text


class Edit:
    """A knob with another value; `knob` is None if the kind only acts between builds."""

    def __init__(self, kind, knob, was, now, style):
        self.kind, self.knob, self.was, self.now, self.style = kind, knob, was, now, style

    def __str__(self):
        how = f" ({self.style})" if self.style != "write" else ""
        what = f" {self.knob}: {self.was!r} -> {self.now!r}" if self.knob else ""
        return f"{self.kind.name}{what}{how}"


class Project:
    """Kinds in one checkout, and the values of their knobs."""

    def __init__(self, members, rng=None):
        self.kinds = members
        self.exclude_flags = bool(rng and rng.random() < 0.5)
        self.state = {kind.name: kind.begin(rng) for kind in members}

    def checkout(self, shared):
        made = checkout.Checkout(shared, self.exclude_flags)
        for kind in self.kinds:
            made.name = kind.name
            kind.render(made, kinds.values(self.state[kind.name]))
        return made

    def edit(self, kind, knob, rng, style):
        state = self.state[kind.name]
        if knob is None:
            return Edit(kind, None, None, None, style)
        was = state[knob]
        state[knob] = kind.draw(knob, rng, was)
        return Edit(kind, knob, was, state[knob], style)


class Verdict:
    """What edits, made together, showed."""

    def __init__(self, edits, cached, empty, before):
        self.edits, self.cached, self.empty = edits, cached, empty
        self.found = compare.differences(cached.outputs, empty.outputs)
        self.stale = bool(self.found) or (cached.code, cached.failed) != (empty.code, empty.failed)
        self.changed = (before.code, before.outputs) != (empty.code, empty.outputs)
        if self.changed and edits and all(edit.kind.nothing for edit in edits) and before.code == 0:
            self.found = compare.differences(before.outputs, empty.outputs)
            self.stale = True  # if an edit that changes nothing does, caches cannot be right
        self.needless = []  # tasks that ran and need not
        self.blamed = set()  # names of kinds

    def blame(self, now):
        """The kinds of the edits that the differences belong to; all of them if that is unclear."""
        owners = {now.owners.get(path.split("/")[0]) for path, _, _ in self.found}
        owners |= {now.owners.get(task.rsplit(":", 1)[0]) for task in self.cached.failed ^ self.empty.failed}
        kinds_edited = {edit.kind.name for edit in self.edits}
        self.blamed = owners & kinds_edited or kinds_edited

    def judge_executed(self, now):
        """Finds tasks that no edit is a reason to run."""
        owners = {edit.kind.name for edit in self.edits if not edit.kind.nothing}
        if any(edit.kind.reach == "all" and not edit.kind.nothing for edit in self.edits) or now.harmed:
            return
        self.needless = sorted(task for task in self.cached.executed - now.always
                               if now.owners.get(task.rsplit(":", 1)[0]) not in owners)

    def describe(self):
        lines = [f"  {edit}" for edit in self.edits]
        if (self.cached.code, self.cached.failed) != (self.empty.code, self.empty.failed):
            for name, built in (("cached", self.cached), ("empty", self.empty)):
                lines.append(f"    {name}: exit status {built.code} {' '.join(sorted(built.failed))}")
                if built.code:
                    lines.append("      " + built.text.strip().replace("\n", "\n      ")[-1200:])
        if self.found:
            lines.append(compare.describe(self.found))
        if self.needless:
            lines.append(f"    needlessly executed: {' '.join(self.needless)}")
        return "\n".join(lines)


class Site(bitzel.Case):
    """A directory with a checkout, a cache and the caller's home."""

    def __init__(self, where, mutant=None, env=None):
        super().__init__()
        self.dir = pathlib.Path(where).resolve()
        self.program = os.path.abspath(shutil.which(bitzel.PROGRAM) or bitzel.PROGRAM)
        self.mutant = mutant  # builds with the cache, instead of the program under test
        self.dir.chmod(0o755)  # other users build here too
        self.extra = env or {}
        self.shared = self.dir / "shared"
        self.entries, self.outside, self.where, self.user = {}, {}, None, None
        self.count = itertools.count(1)
        for name in ("home", "shared", "cache", "state"):
            (self.dir / name).mkdir()

    @property
    def root(self):
        return self.dir / self.where

    @property
    def build_dir(self):
        return self.root / "build"

    # ---- the checkout ----

    def sync(self, now, style="write"):
        """Brings the checkout to another state."""
        if self.where is None:
            self.where = now.where
            self.root.mkdir(parents=True)
        elif self.where != now.where:
            before, self.where = self.root, now.where
            self.root.parent.mkdir(parents=True, exist_ok=True)
            before.rename(self.root)
        files = now.files()
        checkout.sync(self.root, self.entries, files, style)
        checkout.sync(self.shared, self.outside, now.outside, style)
        self.entries, self.outside = files, now.outside

    def own(self, user, *paths):
        """Gives everything to the user who builds."""
        for top in paths:
            for where, dirs, files in os.walk(top):
                for name in [".", *dirs, *files]:
                    os.chown(os.path.join(where, name), user or 0, user or 0, follow_symlinks=False)

    # ---- builds ----

    def run_build(self, now, build, cache, state, program=None, extra=()):
        number = next(self.count)
        events = self.dir / f"events-{number}"
        env = {"HOME": str(self.dir / "home"), "BITZEL_CACHE_DIR": str(cache),
               "BITZEL_STATE_DIR": str(state), **dict(extra), **now.env}
        how = {"umask": now.umask}
        program = program or self.program
        if now.user is not None or self.user is not None:
            if now.user != self.user:
                self.own(now.user, self.dir)
            self.user = now.user
            program = str(self.program_for_all()) if program == self.program else program
            events.touch()
            os.chown(events, now.user or 0, now.user or 0)
            how.update(user=now.user or 0, group=now.user or 0, extra_groups=[])
        command = [*now.prefix, program, "--directory", str(build), "build", "-j2",
                   "--events", str(events), *now.args, *now.targets]
        result = self.run_bitzel(*command[1:], env=env, program=command[0], **how)
        if "user namespaces do not work here" in result.err:
            raise NoSandbox(result.err.strip())
        lines = events.read_text().splitlines() if events.exists() else []
        seen = [json.loads(line) for line in lines]
        events.unlink(missing_ok=True)
        failed = {e["task"] for e in seen if e["event"] == "failed"}
        executed = {e["task"] for e in seen if e["event"] == "started"}
        if result.code not in (0, 1, 2, 3):
            raise Broken(f"bitzel ended with {result.code}: {result.err}")
        outputs = compare.outputs(build, now.targets) if result.code == 0 else {}
        return Built(result.code, executed, failed, outputs, result.err)

    def cached(self, now):
        return self.run_build(now, self.build_dir, self.dir / "cache", self.dir / "state", self.mutant,
                              self.extra)

    def empty(self, now):
        """Builds the same checkout in a fresh build directory, with an empty cache."""
        number = next(self.count)
        build = self.root / f"build-{number}"
        place = self.dir / f"empty-{number}"
        for name in ("cache", "state"):
            (place / name).mkdir(parents=True)
        for path, entry in now.files(build.name).items():
            if path.startswith(build.name + "/"):
                checkout.store(self.root / path, entry)
        if now.user is not None:
            self.own(now.user, place, build)
        built = self.run_build(now, build, place / "cache", place / "state")
        shutil.rmtree(build)
        shutil.rmtree(place)
        return built


class Trial:
    """A project at a site: builds it, and tries edits one after the other."""

    def __init__(self, where, members, rng=None, mutant=None, env=None):
        self.site = Site(where, mutant, env)
        self.project = Project(members, rng)
        self.history = []
        self.now = self.project.checkout(self.site.shared)
        self.site.sync(self.now)
        self.first = None  # of a mutant: the verdict on its first build, which may be wrong already
        built = self.site.cached(self.now)
        if mutant:
            self.before = self.site.empty(self.now)
            self.first = Verdict([], built, self.before, self.before)
        else:
            self.before = built
        self.accept(self.before)

    def accept(self, built):
        if built.code != 0 and not any(kind.may_fail for kind in self.project.kinds):
            names = ", ".join(kind.name for kind in self.project.kinds)
            raise Broken(f"{names}: a build from an empty cache ends with {built.code}: {built.text}")

    def try_edits(self, choices, rng, style):
        """Changes (kind, knob) pairs, builds with the cache and without, and compares."""
        edits = [self.project.edit(kind, knob, rng, style) for kind, knob in choices]
        self.history.append(edits)
        self.now = self.project.checkout(self.site.shared)
        self.site.sync(self.now, style)
        for kind, _ in choices:
            if kind.between:
                kind.between(self.site, self.now, rng)
        cached = self.site.cached(self.now)
        empty = self.site.empty(self.now)
        self.accept(empty)
        verdict = Verdict(edits, cached, empty, self.before)
        verdict.blame(self.now)
        if self.before.code == 0 and cached.code == 0:
            verdict.judge_executed(self.now)
        self.before = empty
        return verdict


def memory():
    """A file system in memory that overlays work on, or None: tasks are a fifth of the work there."""
    try:
        with tempfile.TemporaryFile(dir="/dev/shm") as file:
            os.setxattr(file.fileno(), "user.bitzel", b"x")
        return "/dev/shm"
    except OSError:
        return None


WHERE = None if "TMPDIR" in os.environ else memory()


def temporary():
    return tempfile.TemporaryDirectory(prefix="bitzel-differential-", dir=WHERE, ignore_cleanup_errors=True)
