#!/usr/bin/env python3
"""Measures the tab key: what `bitzel complete` takes, against what completes for ninja.

The project, which parse/synth.py writes, has 1,429 recipes, and a command has been run in
it, as in one that somebody works on. `ninja -t targets all`, which the completion of ninja
runs, is asked about as many targets; `bash -c :` is what any program started by a shell
costs. They take turns, round after round.

Exits 0 whatever the ratios are; 1 if a program failed or a name was missing.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parse"), str(HERE.parent)]
import meter  # noqa: E402
import synth  # noqa: E402

TIMEOUT = 600
RECIPES = {"full": 1428, "quick": 1428, "smoke": 8}  # and the one called all
ROUNDS = {"full": 41, "quick": 11, "smoke": 1}
GOAL = 50  # milliseconds: nobody sees that


class Project:
    """A project, and as many targets for ninja."""

    def __init__(self, bitzel, work, recipes):
        self.build, self.ninja = work / "layer/build", work / "ninja"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BB", "BITZEL"))}
        self.env.update(BITZEL_CACHE_DIR=str(work / "store"), HOME=str(work))
        self.names = {"all", *map(synth.name_of, range(recipes))}
        synth.Layer(work / "layer", recipes, **synth.SHAPES["flat"]).write_all()
        subprocess.run([bitzel, "recipes"], cwd=self.build, env=self.env, check=True, stdout=subprocess.DEVNULL)
        self.ninja.mkdir()
        rules = "".join(f"build {name}: run\n" for name in sorted(self.names))
        (self.ninja / "build.ninja").write_text(f"rule run\n  command = :\n{rules}", encoding="ascii")
        complete = [str(bitzel), "complete", "build"]
        first = synth.name_of(0)
        self.rows = {
            "all recipes": ([*complete, ""], self.build, self.names),
            "one recipe": ([*complete, first], self.build, {first}),
            "tasks of it": ([*complete, f"{first}:"], self.build, {f"{first}:do_compile"}),
            "ninja -t targets": (["ninja", "-t", "targets", "all"], self.ninja, {n + ":" for n in self.names}),
            "bash -c :": (["bash", "-c", ":"], self.build, set()),
        }

    def run(self, row):
        command, where, expected = self.rows[row]
        run = meter.run_counted(command, where, self.env, TIMEOUT)
        missing = expected - {line.split()[0] for line in run["out"].splitlines()}
        if missing:
            raise meter.Failure(f"{row}: {len(missing)} names are missing, one is {min(missing)}")
        return run


def show(project, runs):
    print(f"{len(project.names)} recipes; best of {len(runs['bash -c :'])} rounds; goal: {GOAL} ms")
    print(f"{'':18}{'wall, ms':>10}{'cpu, ms':>10}{'of ninja':>10}")
    theirs = min(run["wall"] for run in meter.quiet_runs(runs["ninja -t targets"])[0])
    all_quiet = True
    for row, done in runs.items():
        chosen, quiet = meter.quiet_runs(done)
        wall, cpu = (min(run[what] for run in chosen) for what in ("wall", "cpu"))
        all_quiet &= quiet
        print(f"{row:18}{wall * 1e3:10.1f}{cpu * 1e3:10.1f}{wall / theirs:9.2f}x{'' if quiet else '*'}")
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
            runs = {row: [] for row in project.rows}
            for _ in range(options.rounds or ROUNDS[options.size]):
                for row, done in runs.items():
                    done.append(project.run(row))
        except (meter.Failure, subprocess.CalledProcessError) as failure:
            print(f"failed: {failure}", file=sys.stderr)
            return 1
        show(project, runs)
        if options.json:
            meter.write_json(options.json, runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
