"""What a plan says is what the build does: random graphs, stores and edits.

BITZEL_GRAPHS says how many graphs, BITZEL_SEED which come first.
"""

import json
import os
import random
import shutil
import unittest

import bitzel
import test_build

GRAPHS = int(os.environ.get("BITZEL_GRAPHS", "30"))
SEED = int(os.environ.get("BITZEL_SEED", "1"))
STEPS = 2  # changes of each graph, with a build after each

BASE = {name: text for name, text in test_build.FILES.items() if "recipes" not in name and "files" not in name}
BASE["meta-kitchen/classes/base.bbclass"] = ""


class Task:
    """A task that prints a value, and perhaps what its dependencies have written."""

    def __init__(self, rng, recipe, number, before):
        self.recipe, self.name = recipe, f"do_t{number}"
        self.needs = rng.sample(before, min(len(before), rng.choice((0, 1, 1, 2, 3))))
        self.reads = rng.random() < 0.6
        self.value = self.edits = 0
        self.noexec = rng.random() < 0.12
        self.nostamp = rng.random() < 0.05

    def __str__(self):
        return f"{self.recipe}:{self.name}"

    def text(self):
        files = " ".join(f"${{SYSROOTS}}/{need.recipe}-{need.name}" for need in self.needs)
        lines = [f"addtask {self.name}", f"{self.name}() {{", f"    : {self.edits}", "    mkdir -p ${SYSROOTS}",
                 f"    {{ echo {self.value}; for f in {files if self.reads else ''}; do "
                 f"test ! -e $f || cat $f; done; }} > ${{SYSROOTS}}/{self.recipe}-{self.name}", "}"]
        if self.needs:
            lines.append(f'{self.name}[depends] = "{" ".join(map(str, self.needs))}"')
        lines += [f'{self.name}[{flag}] = "1"' for flag in ("noexec", "nostamp") if getattr(self, flag)]
        return "\n".join(lines) + "\n"


class Random(test_build.Kitchen):
    def setUp(self):
        bitzel.Case.setUp(self)
        for name, text in BASE.items():
            self.write(name, text)
        self.store, self.shared = self.dir / "store", self.dir / "shared"
        self.env = {"BITZEL_CACHE_DIR": str(self.store), "BITZEL_CACHE_SYNC": "off"}

    def begin(self, rng):
        for path in (self.store, self.shared, self.dir / "build/cache", self.dir / "build/builds",
                     self.dir / "meta-kitchen/recipes"):
            shutil.rmtree(path, ignore_errors=True)
        self.shared.mkdir()
        self.env["BITZEL_CACHE_TIERS"] = f"dir:{self.shared} rw" if rng.random() < 0.4 else ""
        self.tasks = []
        for number in range(rng.randint(3, 7)):
            self.tasks.append(Task(rng, rng.choice(("a", "b")), number, list(self.tasks)))
        self.write_recipes()

    def write_recipes(self):
        for recipe in "ab":
            self.write(f"meta-kitchen/recipes/{recipe}.bb",
                       "".join(task.text() for task in self.tasks if task.recipe == recipe))

    def results(self, root):
        return sorted(root.glob("ac/*/*"))

    def change(self, rng):
        """Changes tasks or the store; returns options of the build that make it run more."""
        task = rng.choice(self.needed())
        what = rng.choice(("value", "value", "edit", "edit", "edit", "nostamp", "noexec", "evict", "evict", "forget",
                           "force", "clear", "no-cache", "nothing"))
        if what == "value":
            task.value += 1
        elif what == "edit":
            task.edits += 1
        elif what in ("nostamp", "noexec"):
            setattr(task, what, not getattr(task, what))
        elif what == "evict":
            for root in (self.store, self.shared) if rng.random() < 0.5 else (self.store,):
                for path in self.results(root):
                    if rng.random() < 0.5:
                        path.unlink()
        elif what == "forget":
            shutil.rmtree(self.store, ignore_errors=True)
        self.write_recipes()
        return {"force": ["-f"], "no-cache": ["--no-cache"],
                "clear": ["-C", rng.choice([t.name for t in self.needed() if t.recipe == self.target.recipe])]}.get(what, [])

    def plan(self):
        result = self.run_bitzel("--directory", self.dir / "build", "plan", "--json", str(self.target), env=self.env)
        self.assert_exit(result, 0)
        tasks = [task for wave in result.json["waves"] for task in wave]
        return ({task["name"] for task in tasks if not task["unless"]},
                {task["name"] for task in tasks if task["unless"]}, set(result.json["restored_tasks"]))

    def run_build(self, *args, code=0):
        """What the events of a build tell: by kind the tasks."""
        events = self.dir / "events"
        events.unlink(missing_ok=True)
        self.build("-j2", "--events", events, *args, str(self.target), env=self.env, code=code)
        told = {}
        for line in events.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            told.setdefault(event["event"], []).append(event)
        return told

    def names(self, told, kind):
        return {event["task"] for event in told.get(kind, ())}

    def check(self, rng):
        """The next build does what is planned."""
        options = [] if self.first else self.change(rng)
        self.first = False
        dry = self.run_build("-n", *options)
        wanted = {event["task"]: event["unless"] for event in dry.get("wanted", ())}
        run = {task for task, unless in wanted.items() if not unless}
        unless = set(wanted) - run
        restored = self.names(dry, "cached")
        self.assertLessEqual(self.fleeting(), run)
        if not options:
            self.assertEqual(self.plan(), (run, unless, restored))
        told = self.run_build(*options)
        executed, cached = self.names(told, "done"), self.names(told, "cached")
        self.assertLessEqual(run, executed)
        self.assertLessEqual(executed, run | unless)
        self.assertLessEqual(restored, cached)
        self.assertLessEqual(cached, restored | unless)
        self.assertEqual(executed & cached, set())
        self.counted["run"] += len(run)
        self.counted["unless, ran"] += len(unless & executed)
        self.counted["unless, restored"] += len(unless & cached)
        self.counted["restored"] += len(restored)

    def needed(self):
        """The target and all that it needs."""
        todo, seen = [self.target], []
        while todo:
            task = todo.pop()
            if task not in seen:
                seen.append(task)
                todo += task.needs
        return seen

    def fleeting(self):
        """Tasks that the target needs and that run every time: nostamp, or behind one that is."""
        found = []
        for task in self.tasks:  # each after those that it needs
            if task.nostamp or any(need in found for need in task.needs):
                found.append(task)
        return {str(task) for task in found if task in self.needed() and not task.noexec}

    def test_a_build_does_what_is_planned(self):
        self.counted = dict.fromkeys(("run", "unless, ran", "unless, restored", "restored"), 0)
        for seed in range(SEED, SEED + GRAPHS):
            rng = random.Random(seed)
            self.begin(rng)
            self.target, self.first = rng.choice(self.tasks[-2:]), True
            if seed % 4:  # what there is to say of an empty store is soon said
                self.run_build()
                self.first = False
            for step in range(self.first + STEPS):
                with self.subTest(seed=seed, step=step):
                    self.check(rng)
        for what, number in self.counted.items():  # or nothing was tested
            self.assertGreater(number, 0, what)


if __name__ == "__main__":
    unittest.main()
