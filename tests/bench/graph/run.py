#!/usr/bin/env python3
"""Measures how long it takes to work out a task graph and the signatures of its tasks,
with bitzel and with BitBake.

Both have read the same recipes before, which parse/synth.py writes. They take turns, round
after round, and of each measurement the best of the quiet runs counts. CPU time is that of
the program and of everything it started, BitBake's server and workers included.

Exits 0 whatever the ratios are; 1 if a program failed, or did not do the work that was
asked for; 2 on wrong usage.
"""

import argparse
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parse"), str(HERE.parent)]
import bitbakes  # noqa: E402
import meter  # noqa: E402
import synth  # noqa: E402

TIMEOUT = 3600
TARGET = "all:do_build"
# Recipes, and who works on them: a dry run of BitBake takes minutes for a thousand.
SIZES = {
    "full": [(100, True), (1000, True), (3571, False), (14285, False)],
    "quick": [(100, True), (1000, False)],
    "smoke": [(20, True)],
}
ROUNDS = {"full": 3, "quick": 2, "smoke": 1}
# Signatures from nothing but a parse, and with nothing changed since; for BitBake these
# are the same: a dry run.
STEPS = ["first", "again"]

# Row by row: step, label, unit, value of a run over so many tasks.
ROWS = [
    ("first", "signed first", "CPU ms", lambda run: run["cpu"] * 1e3),
    ("first", "", "wall ms", lambda run: run["wall"] * 1e3),
    ("first", "", "CPU us/task", lambda run: run["cpu"] * 1e6 / run["tasks"]),
    ("first", "", "peak MB", lambda run: run["peak"] / 1e6),
    ("again", "signed again", "CPU ms", lambda run: run["cpu"] * 1e3),
    ("again", "", "wall ms", lambda run: run["wall"] * 1e3),
    ("again", "", "CPU us/task", lambda run: run["cpu"] * 1e6 / run["tasks"]),
    ("again", "", "peak MB", lambda run: run["peak"] / 1e6),
]


class Bitzel:
    name = "bitzel"
    env = {}

    def __init__(self, path):
        self.parse = [path, "parse"]
        self.sign = [path, "sig", "--all", TARGET]

    @staticmethod
    def tasks(out):
        return len(re.findall(r"^[0-9a-f]{64}  \S+:do_\w+$", out, re.M))

    @staticmethod
    def forget_signatures(build):
        (build / "cache/bitzel.catalog").unlink(missing_ok=True)


class BitBake:
    name = "bitbake"
    env = bitbakes.ENV

    def __init__(self, folder):
        self.parse = [folder / "bitbake", "-p"]
        self.sign = [folder / "bitbake", "-n", TARGET]

    @staticmethod
    def tasks(out):
        found = re.search(r"Attempted (\d+) tasks .* all succeeded", out)
        return int(found.group(1)) if found else 0

    @staticmethod
    def forget_signatures(_build):
        """It keeps none."""


class Measurement:
    """One program on one layer, which it has parsed."""

    def __init__(self, program, layer):
        self.program, self.build = program, layer / "build"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("BB")}
        self.env.update(program.env, BBPATH=str(self.build))

    def run(self, command):
        return meter.run_counted([str(word) for word in command], self.build, self.env,
                                 TIMEOUT)

    def prepare(self):
        bitbakes.forget(self.build)
        for _ in range(2):  # BitBake settles with the second one
            self.run(self.program.parse)

    def step(self, name):
        if name == "first":
            self.program.forget_signatures(self.build)
        run = self.run(self.program.sign)
        run["tasks"] = self.program.tasks(run.pop("out"))
        if run["tasks"] == 0:
            raise meter.Failure("signed no tasks")
        return run


def measure_layer(programs, layer, count, steps):
    """The runs of one round, as {(program, step): run}, and the failures, as text."""
    runs, failures = {}, []
    for program in programs:
        measurement = Measurement(program, layer)
        try:
            meter.progress(f"{count} recipes: {program.name} parses")
            measurement.prepare()
            for step in steps:
                if program.name == "bitbake" and step != "again":
                    continue
                meter.progress(f"{count} recipes: {program.name}, {step}")
                runs[program.name, step] = measurement.step(step)
        except meter.Failure as failure:
            failures.append(f"{program.name}, {count} recipes: {failure}")
    return runs, failures


def disagreements(results):
    """Every program must have found the same number of tasks."""
    found = []
    for count, by_step in results.items():
        tasks = {}
        for (name, _step), runs in by_step.items():
            for run in runs:
                tasks.setdefault(run["tasks"], set()).add(name)
        if len(tasks) > 1:
            found.append(f"{count} recipes: different numbers of tasks: {tasks}")
    return found


def run_all(programs, root, opts):
    """{count: {(program, step): [run, ...]}}, and the failures."""
    results, failures = {}, []
    for count, both in SIZES[opts.size]:
        layer = root / str(count)
        meter.progress(f"writing {count} recipes")
        synth.Layer(layer, count).write_all()
        (layer / "build/conf/local.conf").write_text(
            'BB_SIGNATURE_HANDLER = "basichash"\n', encoding="ascii")
        into = results.setdefault(count, {})
        for _round in range(opts.rounds):
            runs, failed = measure_layer(programs if both else programs[:1], layer, count,
                                         opts.steps)
            failures += failed
            for key, run in runs.items():
                into.setdefault(key, []).append(run)
        shutil.rmtree(layer)
    meter.progress("")
    return results, failures + disagreements(results)


def summarise(results):
    """{(count, program, row number): {best, quiet, runs, tasks}}. What BitBake has only
    one figure for stands in both rows."""
    out = {}
    for count, by_step in results.items():
        for (name, step), all_runs in by_step.items():
            runs, quiet = meter.quiet_runs(all_runs)
            for number, (row_step, _label, _unit, value) in enumerate(ROWS):
                if row_step == step or name == "bitbake":
                    out[count, name, number] = {"best": min(value(run) for run in runs),
                                                "quiet": quiet, "runs": len(all_runs),
                                                "tasks": runs[0]["tasks"]}
    return out


def table(summary, count):
    tasks = [entry["tasks"] for (of, _name, _row), entry in summary.items() if of == count]
    lines = [f"{count + 1} recipes, {tasks[0] if tasks else 0} tasks",
             f"{'':28}{'bitzel':>12}{'bitbake':>12}{'bitbake/bitzel':>16}"]
    for number, (_step, label, unit, _value) in enumerate(ROWS):
        ours, theirs = (summary.get((count, name, number)) for name in ("bitzel", "bitbake"))
        if ours or theirs:
            lines.append(f"{label:13} {unit:14}{meter.cell(ours):>12}{meter.cell(theirs):>12}"
                         f"{meter.ratio_text(ours, theirs):>16}")
    return "\n".join(lines)


def report(machine, summary, sizes, missing):
    head = [meter.machine_text(machine), f"rounds: {machine['rounds']}, best of the quiet runs"]
    if missing:
        head.append(f"no ratios, bitbake is missing: {missing}")
    parts = ["\n".join(head)] + [table(summary, count) for count, _both in sizes]
    if any(not entry["quiet"] for entry in summary.values()):
        parts.append(meter.NOT_QUIET)
    return "\n\n".join(parts)


def parse_args(argv):
    top = HERE.parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bitzel", type=Path, metavar="FILE", help="the program",
                        default=top / "build" / "release" / "cmd" / "bitzel" / "bitzel")
    parser.add_argument("--bitbake", metavar="DIR", help="a checkout of BitBake, or its bin/")
    parser.add_argument("--only", action="append", metavar="STEP", choices=STEPS,
                        help=f"this step (repeatable), of {', '.join(STEPS)}")
    parser.add_argument("--rounds", type=int, metavar="R", help="default 3")
    parser.add_argument("--json", metavar="FILE", help="also write JSON; - for stdout only")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="where the layers are written")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick")
    size.add_argument("--smoke", dest="size", action="store_const", const="smoke",
                      help="tiny sizes: only shows that everything runs")
    parser.set_defaults(size="full")
    opts = parser.parse_args(argv)
    opts.rounds = ROUNDS[opts.size] if opts.rounds is None else opts.rounds
    if opts.rounds < 1:
        parser.error("--rounds is at least 1")
    opts.steps = [step for step in STEPS if not opts.only or step in opts.only]
    return opts


def main(argv=None):
    opts = parse_args(argv)
    if not os.access(opts.bitzel, os.X_OK):
        print(f"no program at {opts.bitzel}", file=sys.stderr)
        return 2
    programs, (folder, missing) = [Bitzel(opts.bitzel.resolve())], bitbakes.find(opts.bitbake)
    if folder:
        programs.append(BitBake(folder))
    elif opts.bitbake:
        print(missing, file=sys.stderr)
        return 2
    machine = {**meter.machine(), "rounds": opts.rounds, "size": opts.size}
    meter.adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left
    with tempfile.TemporaryDirectory(dir=opts.dir) as root:
        results, failures = run_all(programs, Path(root), opts)
    summary = summarise(results)
    if opts.json:
        meter.write_json(opts.json, {
            "machine": machine, "missing": missing, "failures": failures,
            "summary": [{"recipes": count, "program": name, "row": ROWS[row][0],
                         "unit": ROWS[row][2], **entry}
                        for (count, name, row), entry in summary.items()],
            "runs": [{"recipes": count, "program": name, "step": step, "runs": runs}
                     for count, by_step in results.items()
                     for (name, step), runs in by_step.items()]})
    if opts.json != "-":
        print(report(machine, summary, SIZES[opts.size], missing))
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
