#!/usr/bin/env python3
"""Measures builds: empty tasks in sandboxes, and builds with nothing to do.

  spawn    500 empty tasks, against ninja that runs bubblewrap as often
  bitbake  all tasks of a synthetic layer, and then none, against BitBake
  noop     a build with nothing to do, against ninja with a graph of the same shape
  console  8,008 empty tasks on a terminal, with the lines that people see and without

All take turns, round after round. Every run that builds something has a directory of its
own, and nothing is deleted before the last is over: on ext4 files are made more slowly
right after others were removed.

Exits 0 whatever the ratios are; 1 if a program failed, or did not do the work that was
asked for; 2 on wrong usage.
"""

import argparse
import fcntl
import itertools
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parse"), str(HERE.parent)]
import bitbakes  # noqa: E402
import meter  # noqa: E402
import synth  # noqa: E402

TIMEOUT = 3600
PARTS = ["spawn", "bitbake", "console", "noop"]
SPAWNS = {"full": 500, "quick": 500, "smoke": 5}
RECIPES = {"full": [100], "quick": [20], "smoke": [2]}  # BitBake takes 50 ms a task and more
# Seven tasks each are needed; the last has 100,002.
GRAPHS = {"full": [1428, 14285], "quick": [1428], "smoke": [8]}
SEEN = {"full": 1143, "quick": 142, "smoke": 2}  # recipes of seven tasks, and seven more
ROUNDS = {"full": 5, "quick": 3, "smoke": 1}
NOOPS = 3  # for each round, since they are short
BWRAP = ("bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp"
         " /bin/sh -c :")

CONF = {
    "build/conf/bblayers.conf": synth.BBLAYERS_CONF,
    "build/conf/local.conf": "",
    "layer/conf/layer.conf": synth.LAYER_CONF,
    "layer/conf/bitbake.conf": synth.BITBAKE_CONF.replace("@MORE@", "").replace("@SETTINGS@", ""),
    "layer/classes/base.bbclass": "addtask build\ndo_build() {\n    :\n}\n",
}


class Bitzel:
    """Builds in one directory, with a store beside it."""

    def __init__(self, program, top):
        self.program, self.top, self.build = str(program), top, top / "build"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BB", "BITZEL"))}
        self.env.update(BITZEL_CACHE_DIR=str(top / "store"), HOME=str(top))

    def ask(self, *words):
        return subprocess.run([self.program, *words], cwd=self.build, env=self.env, check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def run(self, target, executed, *options):
        """One build, which must have run so many tasks, or none."""
        run = meter.run_counted([self.program, "--quiet", "build", "--json", *options, target],
                                self.build, self.env, TIMEOUT)
        counts = json.loads(run.pop("out"))
        if counts["executed"] != executed or not counts["success"]:
            raise meter.Failure(f"bitzel executed {counts['executed']} tasks, not {executed}")
        run["tasks"] = executed or counts["tasks"]
        return run


def write_ninja(top, graph, command):
    """One edge for each task, with what it waits for; outputs of one age are up to date
    once ninja has them in its log."""
    def path(name):
        return "out/" + name.replace(":", ".")
    (top / "out").mkdir(parents=True)
    lines = ["rule run", f"  command = {command}"]
    for name, waits in graph.items():
        lines.append(f"build {path(name)}: run {' '.join(map(path, waits))}")
    (top / "build.ninja").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [top / path(name) for name in graph]


def ninja_jobs():
    """How many commands ninja runs at a time if it is not told."""
    count = len(os.sched_getaffinity(0))
    return count + 1 if count <= 2 else count + 2


def run_ninja(top, idle, *options):
    run = meter.run_counted(["ninja", *options], top, None, TIMEOUT)
    if ("no work to do" in run.pop("out")) != idle:
        raise meter.Failure("ninja " + ("has work to do" if idle else "has no work to do"))
    return run


class Spawn:
    """Empty tasks that wait for nothing; both run the same number at a time."""

    def __init__(self, options, work):
        self.options, self.work, self.count = options, work, SPAWNS[options.size]
        self.numbers, self.jobs = itertools.count(), f"-j{options.jobs or ninja_jobs()}"

    def title(self):
        return f"{self.count} empty tasks in sandboxes, {self.jobs}"

    def names(self):
        return [f"r{i:05}" for i in range(self.count)]

    def bitzel(self):
        top = self.work / f"spawn-{next(self.numbers)}"
        texts = {**CONF, **{f"layer/recipes/all/{name}_1.bb": "" for name in self.names()}}
        for name, text in texts.items():
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
        return Bitzel(self.options.bitzel, top).run("world", self.count, self.jobs)

    def ninja(self):
        top = self.work / f"spawn-{next(self.numbers)}"
        write_ninja(top, {name: [] for name in self.names()}, BWRAP)
        return run_ninja(top, False, self.jobs)

    def measure(self, runs, _round):
        runs.setdefault("bitzel", []).append(self.bitzel())
        runs.setdefault("ninja", []).append(self.ninja())

    def show(self, runs):
        yield from rows("all", runs["bitzel"], "ninja, bwrap", runs.get("ninja"),
                        {"wall": "<= 0.35"})


class Full:
    """All tasks of a layer, and then none, with BitBake doing the same."""

    def __init__(self, options, work, count):
        self.options, self.work, self.count = options, work, count
        self.numbers = itertools.count()

    def title(self):
        return f"{self.count} recipes with 7 empty tasks each"

    def layer(self):
        top = self.work / f"full-{self.count}-{next(self.numbers)}"
        synth.Layer(top, self.count).write_all()
        return top

    def bitzel(self, runs):
        b = Bitzel(self.options.bitzel, self.layer())
        runs.setdefault("bitzel", []).append(b.run("all", 7 * self.count + 7))
        for _ in range(NOOPS):
            runs.setdefault("bitzel, none", []).append(b.run("all", 0))

    def bitbake(self, runs):
        build = self.layer() / "build"
        env = {k: v for k, v in os.environ.items() if not k.startswith("BB")}
        env.update(bitbakes.ENV, BBPATH=str(build), BB_SIGNATURE_HANDLER="basichash",
                   BB_ENV_PASSTHROUGH_ADDITIONS="BB_SIGNATURE_HANDLER")
        for name in ("bitbake", "bitbake, none"):
            run = meter.run_counted([str(self.options.folder / "bitbake"), "all"], build, env,
                                    TIMEOUT)
            done = re.search(r"Attempted (\d+) tasks of which (\d+) didn't need", run.pop("out"))
            todo = int(done.group(1)) - int(done.group(2)) if done else -1
            if (todo == 0) != name.endswith("none"):
                raise meter.Failure(f"bitbake ran {todo} tasks")
            runs.setdefault(name, []).append(run)

    def measure(self, runs, number):
        self.bitzel(runs)
        if self.options.folder and number < 2:
            self.bitbake(runs)

    def show(self, runs):
        yield from rows("all run", runs["bitzel"], "BitBake", runs.get("bitbake"),
                        {"cpu": "<= 0.05"})
        yield from rows("none runs", runs["bitzel, none"], "BitBake", runs.get("bitbake, none"),
                        {"cpu": "<= 0.01"})


class Noop:
    """Nothing to do, in a graph that ninja has as well."""

    def __init__(self, options, work, count):
        self.options, self.count = options, count
        self.top, self.ninja = work / f"noop-{count}", work / f"noop-{count}-ninja"
        self.edges, self.tasks = 0, 0

    def title(self):
        return f"nothing to do, {self.tasks} tasks, {self.edges} edges"

    def prepare(self):
        """In a process of its own: what it takes to hold the graph would count as what
        the programs take."""
        counts = self.top.with_suffix(".counts")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                counts.write_text(json.dumps(self.write_both()), encoding="ascii")
                status = 0
            except (meter.Failure, subprocess.CalledProcessError, OSError) as failure:
                print(f"failed: {failure}", file=sys.stderr)
            os._exit(status)
        if os.waitpid(child, 0)[1] != 0:
            raise meter.Failure("could not prepare a build with nothing to do")
        self.tasks, self.edges = json.loads(counts.read_text(encoding="ascii"))

    def write_both(self):
        synth.Layer(self.top, self.count).write_all()
        b = Bitzel(self.options.bitzel, self.top)
        graph = {task["name"]: task["waits_for"]
                 for task in json.loads(b.ask("graph", "--json", "all"))["tasks"]}
        for path in write_ninja(self.ninja, graph, ":"):
            path.touch()
            os.utime(path, (10**9, 10**9))
        run_ninja(self.ninja, idle=False)
        b.run("all", 7 * self.count + 7)
        b.run("world", 0)  # which makes the outputs of all to be seen
        return len(graph), sum(map(len, graph.values()))

    def measure(self, runs, _round):
        if not self.tasks:
            meter.progress(f"{self.count} recipes are built")
            self.prepare()
        b = Bitzel(self.options.bitzel, self.top)
        for _ in range(NOOPS):
            for target in ("all", "world"):
                runs.setdefault(target, []).append(b.run(target, 0))
            runs.setdefault("ninja", []).append(run_ninja(self.ninja, idle=True))

    def show(self, runs):
        goals = {"wall": "<= 0.5", "peak": "<= 2.0"}
        for target in ("all", "world"):
            yield from rows(f"build {target}", runs[target], "ninja", runs["ninja"], goals)


class Console:
    """The same build, seen on a terminal and with --quiet; both have one."""

    WAYS = {"seen": "--console=live", "quiet": "--quiet"}

    def __init__(self, options, work):
        self.options, self.work, self.count = options, work, SEEN[options.size]
        self.numbers = itertools.count()

    def title(self):
        return f"{7 * self.count + 7} empty tasks, seen on a terminal"

    def build(self, way):
        top = self.work / f"console-{next(self.numbers)}"
        synth.Layer(top, self.count).write_all()
        b = Bitzel(self.options.bitzel, top)
        command = [b.program, "build", "--json", self.WAYS[way], "all"]
        out = top / "out"
        run = run_on_terminal(command, b.build, {**b.env, "TERM": "xterm", "LC_ALL": "C.UTF-8"}, out)
        counts = json.loads(out.read_text(encoding="utf-8"))
        if counts["executed"] != 7 * self.count + 7:
            raise meter.Failure(f"bitzel executed {counts['executed']} tasks")
        return run

    def measure(self, runs, number):
        ways = list(self.WAYS)
        for way in ways if number % 2 else reversed(ways):  # neither is always the first
            runs.setdefault(way, []).append(self.build(way))

    def show(self, runs):
        yield from rows("seen", runs["seen"], "--quiet", runs["quiet"], {"cpu": "<= 1.02"})
        pairs = sorted(a["cpu"] / b["cpu"] for a, b in zip(runs["seen"], runs["quiet"]))
        yield f"{'':12}cpu, median of the rounds {pairs[len(pairs) // 2]:.4f}x"


def run_on_terminal(command, cwd, env, out):
    """As meter.run_counted, with a terminal that is read as fast as it is written to."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    watch = meter.Stopwatch()
    with open(out, "wb") as file:
        process = subprocess.Popen(command, cwd=cwd, env=env, stdin=theirs, stdout=file, stderr=theirs)
    os.close(theirs)
    shown = 0
    try:
        while part := os.read(ours, 1 << 16):
            shown += len(part)
    except OSError:  # EIO: nobody has it open any more
        pass
    os.close(ours)
    usage = meter.wait_until(process, time.monotonic() + TIMEOUT)
    wall = watch.wall()
    peak = max(usage.ru_maxrss, meter.wait_for_orphans(TIMEOUT))
    if process.returncode != 0:
        raise meter.Failure(f"bitzel ended with {process.returncode}")
    return {"wall": wall, "cpu": watch.cpu(), "peak": peak * 1024, "others": watch.others(), "shown": shown}


def best(runs, what):
    chosen, quiet = meter.quiet_runs(runs)
    return min(run[what] for run in chosen), quiet


def rows(label, ours, peer, theirs, goals):
    """Lines of the table: what ours took, what the peer took, and the ratio."""
    for what, unit, scale in (("wall", "ms", 1e3), ("cpu", "ms", 1e3), ("peak", "MB", 1e-6)):
        mine, quiet = best(ours, what)
        line = f"{label:12}{what + ', ' + unit:10}{mine * scale:11.1f}{'' if quiet else '*'}"
        if theirs:
            other, also = best(theirs, what)
            mark = "" if quiet and also else "*"
            goal = f"  goal {goals[what]}" if what in goals else ""
            line += f"{other * scale:12.1f} {peer:14}{mine / other:8.4f}x{mark}{goal}"
        yield line
        label = ""


def cases(options, work):
    if "spawn" in options.only:
        yield Spawn(options, work)
    if "bitbake" in options.only:
        for count in options.recipes or RECIPES[options.size]:
            yield Full(options, work, count)
    if "console" in options.only:
        yield Console(options, work)
    if "noop" in options.only:
        for count in options.graphs or GRAPHS[options.size]:
            yield Noop(options, work, count)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bitzel", required=True, type=Path, help="the program")
    parser.add_argument("--bitbake", help="a checkout of BitBake, or its bin/")
    parser.add_argument("--work", type=Path, help="where to work")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--jobs", type=int, help="tasks at a time of 'spawn'; else as ninja does")
    parser.add_argument("--recipes", type=int, action="append", help="how many for BitBake")
    parser.add_argument("--graphs", type=int, action="append", help="how many recipes for ninja")
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--json", help="also write every run there; - for standard output")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick")
    size.add_argument("--smoke", dest="size", action="store_const", const="smoke")
    options = parser.parse_args(argv)
    options.size = options.size or "full"
    options.only = options.only or PARTS
    options.bitzel = options.bitzel.resolve()
    return options


def run(options, work):
    results = {}
    for case in cases(options, work):
        runs = {}
        count = options.rounds or ROUNDS[options.size]
        for number in range(count):
            meter.progress(f"{type(case).__name__.lower()}: round {number + 1} of {count}")
            case.measure(runs, number)
        meter.progress("")
        print(f"\n{case.title()}; best of {count} rounds")
        lines = list(case.show(runs))
        print("\n".join(lines))
        if any("*" in line for line in lines):
            print(meter.NOT_QUIET)
        results[case.title()] = runs
    return results


def main(argv=None):
    options = parse(argv)
    missing = [name for name in ("ninja", "bwrap") if not shutil.which(name)]
    if missing and options.size == "smoke":
        print(f"not installed: {' '.join(missing)}")
        return 77
    if missing:
        print(f"not installed: {' '.join(missing)}", file=sys.stderr)
        return 1
    options.folder, why = bitbakes.find(options.bitbake)
    if why and "bitbake" in options.only:
        print(f"without BitBake: {why}")
    meter.adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="bz-bench-", dir=options.work) as work:
        print(meter.machine_text(meter.machine()))
        try:
            results = run(options, Path(work))
        except (meter.Failure, subprocess.CalledProcessError) as failure:
            print(f"failed: {failure}", file=sys.stderr)
            return 1
    if options.json:
        meter.write_json(options.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
