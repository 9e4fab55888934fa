#!/usr/bin/env python3
"""Measures how long it takes to read many recipes, with bitzel and with BitBake.

Both read the same layers, which synth.py writes. They take turns, round after round, and
of each measurement the best of the quiet runs counts. CPU time is that of the program and
of everything it started, BitBake's server included.

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
sys.path[:0] = [str(HERE), str(HERE.parent)]
import bitbakes  # noqa: E402
import meter  # noqa: E402
import synth  # noqa: E402

TIMEOUT = 900
# Shape, recipes, and who reads them: where only the growth of our own cost is of
# interest, BitBake need not wait.
SIZES = {
    "full": [("flat", 1000, True), ("flat", 3000, True), ("flat", 10000, True),
             ("flat", 30000, False), ("deep", 1000, True)],
    "quick": [("flat", 1000, True), ("flat", 10000, False), ("deep", 300, True)],
    "smoke": [("flat", 60, True), ("deep", 10, True)],
}
ROUNDS = {"full": 3, "quick": 2, "smoke": 1}
STEPS = ["cold", "warm", "getvar", "getvar-cold"]

# Row by row: step, label, unit, value of a run of so many recipes.
ROWS = [
    ("cold", "cold parse", "CPU ms", lambda run, _n: run["cpu"] * 1e3),
    ("cold", "", "wall ms", lambda run, _n: run["wall"] * 1e3),
    ("cold", "", "CPU us/recipe", lambda run, n: run["cpu"] * 1e6 / n),
    ("cold", "", "peak MB", lambda run, _n: run["peak"] / 1e6),
    ("warm", "warm parse", "CPU ms", lambda run, _n: run["cpu"] * 1e3),
    ("warm", "", "wall ms", lambda run, _n: run["wall"] * 1e3),
    ("getvar-cold", "getvar, cold", "CPU ms", lambda run, _n: run["cpu"] * 1e3),
    ("getvar-cold", "", "wall ms", lambda run, _n: run["wall"] * 1e3),
    ("getvar", "getvar, warm", "CPU ms", lambda run, _n: run["cpu"] * 1e3),
    ("getvar", "", "wall ms", lambda run, _n: run["wall"] * 1e3),
]


class Program:
    """What is measured: its commands, and how the summary of a parse reads, one pattern
    for each way to put it: recipes from the cache, and recipes parsed."""

    def __init__(self, name, parse, getvar, summaries, env):
        self.name, self.parse, self.getvar = name, parse, getvar
        self.summaries, self.env = summaries, env

    def counts(self, text):
        for summary in self.summaries:
            found = re.search(summary, text)
            if found:
                return tuple(int(group or 0) for group in found.groups())
        raise meter.Failure(f"no summary in its output: {text[-200:]!r}")


def bitzel(path):
    return Program("bitzel", [path, "parse"], [path, "getvar"],
                   [r"(\d+) from the snapshot, (\d+) parsed"], {})


def bitbake(folder):
    return Program("bitbake", [folder / "bitbake", "-p"], [folder / "bitbake-getvar"],
                   [r"\((\d+) cached, (\d+) parsed\)",
                    r"Loaded (\d+) entries from dependency cache()"],  # nothing to parse
                   bitbakes.ENV)


class Measurement:
    """One program on one layer."""

    def __init__(self, program, layer, shape, count):
        self.program, self.build = program, layer / "build"
        self.shape, self.count = shape, count
        self.recipe = synth.name_of(count // 2)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("BB")}
        self.env.update(program.env, BBPATH=str(self.build))

    def run(self, command):
        return meter.run_counted([str(word) for word in command], self.build, self.env,
                                 TIMEOUT)

    def parse(self, cold):
        if cold:
            bitbakes.forget(self.build)
        run = self.run(self.program.parse)
        counts, wanted = self.program.counts(run["out"]), (0, self.count + 1)
        if counts != (wanted if cold else wanted[::-1]):
            raise meter.Failure(f"took {counts[0]} recipes from its cache and parsed "
                                f"{counts[1]}")
        return run

    def getvar(self, cold):
        if cold:
            bitbakes.forget(self.build)
        run = self.run(self.program.getvar + ["--value", "-r", self.recipe, "VAR0"])
        run["answer"] = run["out"].splitlines()[-1:]
        return run

    def step(self, name):
        run = {"cold": lambda: self.parse(True), "warm": lambda: self.parse(False),
               "getvar": lambda: self.getvar(False),
               "getvar-cold": lambda: self.getvar(True)}[name]()
        del run["out"]
        return run


def measure_layer(programs, layer, shape, count, steps):
    """The runs of one round, as {(program, step): run}, and the failures, as text."""
    runs, failures = {}, []
    for program in programs:
        measurement = Measurement(program, layer, shape, count)
        for step in steps:
            meter.progress(f"{shape} {count}: {program.name} {step}")
            try:
                runs[program.name, step] = measurement.step(step)
            except meter.Failure as failure:
                failures.append(f"{program.name} {shape} {count} {step}: {failure}")
    return runs, failures


def disagreements(results):
    """Every program must have given the same value of a variable."""
    found = []
    for (shape, count), by_step in results.items():
        answers = {}
        for (name, _step), runs in by_step.items():
            for run in runs:
                if "answer" in run:
                    answers.setdefault(tuple(run["answer"]), set()).add(name)
        if len(answers) > 1:
            found.append(f"{shape} {count}: different values: {answers}")
    return found


def run_all(programs, root, opts):
    """{(shape, count): {(program, step): [run, ...]}}, and the failures."""
    results, failures = {}, []
    for shape, count, both in SIZES[opts.size]:
        layer = root / f"{shape}-{count}"
        meter.progress(f"writing {count} recipes")
        synth.Layer(layer, count, **synth.SHAPES[shape]).write_all()
        chosen = programs if both else programs[:1]
        into = results.setdefault((shape, count), {})
        for _round in range(opts.rounds):
            runs, failed = measure_layer(chosen, layer, shape, count, opts.steps)
            failures += failed
            for key, run in runs.items():
                into.setdefault(key, []).append(run)
        shutil.rmtree(layer)
    meter.progress("")
    return results, failures + disagreements(results)


def summarise(results):
    """{(shape, count, program, row number): {best, quiet}}"""
    out = {}
    for (shape, count), by_step in results.items():
        for (name, step), all_runs in by_step.items():
            runs, quiet = meter.quiet_runs(all_runs)
            for number, (row_step, _label, _unit, value) in enumerate(ROWS):
                if row_step == step:
                    best = min(value(run, count + 1) for run in runs)
                    out[shape, count, name, number] = {"best": best, "quiet": quiet,
                                                       "runs": len(all_runs)}
    return out


def table(summary, shape, count):
    lines = [f"{shape}, {count} recipes",
             f"{'':28}{'bitzel':>12}{'bitbake':>12}{'bitbake/bitzel':>16}"]
    for number, (_step, label, unit, _value) in enumerate(ROWS):
        ours, theirs = (summary.get((shape, count, name, number))
                        for name in ("bitzel", "bitbake"))
        if ours or theirs:
            lines.append(f"{label:13} {unit:14}{meter.cell(ours):>12}{meter.cell(theirs):>12}"
                         f"{meter.ratio_text(ours, theirs):>16}")
    return "\n".join(lines)


def report(machine, summary, sizes, missing):
    head = [meter.machine_text(machine), f"rounds: {machine['rounds']}, best of the quiet runs"]
    if missing:
        head.append(f"no ratios, bitbake is missing: {missing}")
    parts = ["\n".join(head)]
    parts += [table(summary, shape, count) for shape, count, _both in sizes]
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
    if "warm" in opts.steps and "cold" not in opts.steps:
        parser.error("a warm parse needs a cold one before it")
    return opts


def main(argv=None):
    opts = parse_args(argv)
    if not os.access(opts.bitzel, os.X_OK):
        print(f"no program at {opts.bitzel}", file=sys.stderr)
        return 2
    programs, (folder, missing) = [bitzel(opts.bitzel.resolve())], bitbakes.find(opts.bitbake)
    if folder:
        programs.append(bitbake(folder))
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
            "summary": [{"shape": shape, "recipes": count, "program": name,
                         "row": ROWS[row][0], "unit": ROWS[row][2], **entry}
                        for (shape, count, name, row), entry in summary.items()],
            "runs": [{"shape": shape, "recipes": count, "program": name, "step": step,
                      "runs": runs} for (shape, count), by_step in results.items()
                     for (name, step), runs in by_step.items()]})
    if opts.json != "-":
        print(report(machine, summary, SIZES[opts.size], missing))
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
