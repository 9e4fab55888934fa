#!/usr/bin/env python3
"""Measures a plan in which everything is stored, against `ninja -n` with nothing to do.

Both are asked about the same graph: bitzel about a project that parse/synth.py writes, and
whose results are all in its store; ninja about one edge for each task, with the inputs
that the task waits for, whose outputs are all there. They take turns, round after round.

Exits 0 whatever the ratios are; 1 if a program failed or found something to do.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parse"), str(HERE.parent), str(HERE.parents[1] / "e2e")]
import meter  # noqa: E402
import reapi  # noqa: E402
import synth  # noqa: E402

TIMEOUT = 600
RECIPES = {"full": 1428, "quick": 1428, "smoke": 8}  # seven tasks each are needed
ROUNDS = {"full": 21, "quick": 7, "smoke": 1}
GOAL = 1.0
LONG_AGO = 10**9  # the time of all outputs


class Project:
    """A project, its store, and the same graph for ninja."""

    def __init__(self, bitzel, work, recipes):
        self.bitzel = str(bitzel)
        self.build, self.store, self.ninja = work / "layer/build", work / "store", work / "ninja"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BB", "BITZEL"))}
        self.env.update(BITZEL_CACHE_DIR=str(self.store), HOME=str(work))
        synth.Layer(work / "layer", recipes, **synth.SHAPES["flat"]).write_all()
        self.graph = {task["name"]: task["waits_for"]
                      for task in json.loads(self.ask("graph", "--json", "all"))["tasks"]}
        self.fill_store()
        self.write_ninja()

    def ask(self, *words):
        return subprocess.run([self.bitzel, *words], cwd=self.build, env=self.env, check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def fill_store(self):
        for wave in json.loads(self.ask("plan", "--json", "all"))["waves"]:
            for task in wave:
                path = self.store / "ac" / task["signature"][:2] / task["signature"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(reapi.seal(reapi.result(
                    labels=[("bitzel/key", bytes.fromhex(task["signature"]))])))

    def write_ninja(self):
        """Outputs of one age are up to date once ninja has them in its log."""
        def path(name):
            return "out/" + name.replace(":", ".")
        lines = ["rule run", "  command = :"]
        (self.ninja / "out").mkdir(parents=True)
        for name, waits in self.graph.items():
            lines.append(f"build {path(name)}: run {' '.join(map(path, waits))}")
            (self.ninja / path(name)).touch()
            os.utime(self.ninja / path(name), (LONG_AGO, LONG_AGO))
        lines.append(f"default {path('all:do_build')}\n")
        (self.ninja / "build.ninja").write_text("\n".join(lines), encoding="utf-8")
        subprocess.run(["ninja", "--quiet"], cwd=self.ninja, check=True)

    def edges(self):
        return sum(map(len, self.graph.values()))

    def plan(self):
        run = meter.run_counted([self.bitzel, "plan", "all"], self.build, self.env, TIMEOUT)
        if not re.fullmatch(r"\d+ tasks: .*, 0 run\n", run["out"]):
            raise meter.Failure(f"bitzel plan: {run['out'][:200]!r}")
        return run

    def dry_run(self):
        run = meter.run_counted(["ninja", "-n"], self.ninja, self.env, TIMEOUT)
        if "no work to do" not in run["out"]:
            raise meter.Failure(f"ninja -n: {run['out'][:200]!r}")
        return run


def measure(project, rounds):
    runs = {"bitzel plan": [], "ninja -n": []}
    for number in range(rounds):
        meter.progress(f"round {number + 1} of {rounds}")
        runs["bitzel plan"].append(project.plan())
        runs["ninja -n"].append(project.dry_run())
    meter.progress("")
    return runs


def best(runs, what):
    chosen, quiet = meter.quiet_runs(runs)
    return min(run[what] for run in chosen), quiet


def show(project, runs):
    print(f"{len(project.graph)} tasks, {project.edges()} edges; best of "
          f"{len(runs['ninja -n'])} rounds")
    print(f"{'':10}{'bitzel plan':>12}{'ninja -n':>12}{'ratio':>8}")
    all_quiet = True
    for what, unit, scale in (("wall", "ms", 1e3), ("cpu", "ms", 1e3), ("peak", "MB", 1e-6)):
        (ours, quiet), (theirs, also) = (best(runs[name], what)
                                         for name in ("bitzel plan", "ninja -n"))
        mark = "" if quiet and also else "*"
        all_quiet &= quiet and also
        goal = f"  goal <= {GOAL:.1f}" if what == "wall" else ""
        print(f"{what + ', ' + unit:10}{ours * scale:12.1f}{theirs * scale:12.1f}"
              f"{ours / theirs:7.2f}x{mark}{goal}")
    if not all_quiet:
        print(meter.NOT_QUIET)


def main():
    options = meter.arguments(__doc__).parse_args()
    if not shutil.which("ninja"):
        print("ninja is not installed")
        return 1
    meter.adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="bz-bench-", dir=options.work) as work:
        try:
            print(meter.machine_text(meter.machine()))
            project = Project(options.bitzel, Path(work), RECIPES[options.size])
            runs = measure(project, options.rounds or ROUNDS[options.size])
        except (meter.Failure, subprocess.CalledProcessError) as failure:
            print(f"failed: {failure}", file=sys.stderr)
            return 1
        show(project, runs)
        if options.json:
            meter.write_json(options.json, runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
