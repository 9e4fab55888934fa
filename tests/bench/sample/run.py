#!/usr/bin/env python3
"""Measures builds of the sample layer, from an empty store, its sources being there.

  overhead  the closure of busybox: what the build takes beyond what no order of its tasks
            could save, which is the longest path through them, or their CPU time on all
            CPUs
  waves     the image: tasks that begin when what they need is done, against wave by wave

Every build has a directory of its own. Exits 0 whatever the figures are; 1 if a build
failed; 2 on wrong usage.
"""

import heapq
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import meter  # noqa: E402

ROOT = HERE.parents[2]
TIMEOUT = 7200
# What smoke builds needs no sources from elsewhere, and seconds.
TARGETS = {"overhead": {"full": ["busybox"], "smoke": ["base-files"]},
           "waves": {"full": ["sample-image"], "smoke": ["base-files", "newc-native"]}}
ROUNDS = {"full": 2, "smoke": 1}


class Layer:
    """Builds of the sample layer, one directory after the other."""

    def __init__(self, options, work):
        self.program, self.work, self.count = str(options.bitzel), work, 0
        self.downloads = options.downloads or work / "downloads"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BB", "BITZEL"))}

    def place(self):
        """A fresh one, with no store, and the environment of a build there."""
        self.count += 1
        top = self.work / f"build-{self.count}"
        (top / "build/conf").mkdir(parents=True)
        (top / "build/conf/bblayers.conf").write_text(
            f'BBPATH = "${{TOPDIR}}"\nBBFILES ?= ""\nBBLAYERS = "{ROOT}/recipes"\n')
        (top / "build/conf/local.conf").write_text(f'DL_DIR = "{self.downloads}"\n')
        return top / "build", {**self.env, "HOME": str(top)}

    def fetch(self, targets):
        build, env = self.place()
        subprocess.run([self.program, "--quiet", "fetch", *targets], cwd=build, env=env,
                       check=True, stdout=subprocess.DEVNULL)

    def build(self, targets, schedule):
        build, env = self.place()
        log = build / "events"
        run = meter.run_counted([self.program, "--quiet", "build", "--schedule", schedule,
                                 "--events", str(log), *targets], build, env, TIMEOUT)
        del run["out"]
        run["tasks"] = read_events(log)
        return run


def read_events(log):
    """name -> {after, took, cpu}, of all tasks that the log tells of."""
    tasks = {}
    with open(log, encoding="utf-8") as lines:
        for event in map(json.loads, lines):
            if event["event"] in ("started", "passed", "cached"):
                tasks[event["task"]] = {"after": event["after"], "took": 0.0, "cpu": 0.0}
            elif event["event"] == "done":
                tasks[event["task"]].update(took=event["took"], cpu=event.get("cpu", 0.0))
    return tasks


def remaining(tasks):
    """name -> the longest path from the task's beginning to the end, in seconds."""
    users, ahead = {name: [] for name in tasks}, {}
    for name, task in tasks.items():
        for need in task["after"]:
            if need in tasks:
                users[need].append(name)
    for name in reversed(in_order(tasks, users)):
        ahead[name] = tasks[name]["took"] + max((ahead[u] for u in users[name]), default=0.0)
    return ahead


def in_order(tasks, users):
    """All tasks, each after what it needs."""
    waits = {name: sum(need in tasks for need in task["after"]) for name, task in tasks.items()}
    order = [name for name, count in waits.items() if count == 0]
    for name in order:  # which grows
        for user in users[name]:
            waits[user] -= 1
            if waits[user] == 0:
                order.append(user)
    return order


def longest_path(tasks):
    return max(remaining(tasks).values(), default=0.0)


def simulate(tasks, jobs, waves):
    """How long tasks of these durations take with so many at a time, the longest remaining
    path first: as a machine would do it on which nothing else disturbs."""
    ahead = remaining(tasks)
    level = {}
    users = {name: [u for u in tasks if name in tasks[u]["after"]] for name in tasks}
    for name in in_order(tasks, users):
        level[name] = 1 + max((level[n] for n in tasks[name]["after"] if n in level), default=-1)
    waits = {name: sum(need in tasks for need in task["after"]) for name, task in tasks.items()}
    running, now, done, wave = [], 0.0, 0, 0
    while done < len(tasks):
        ready = sorted((n for n, count in waits.items()
                        if count == 0 and (not waves or level[n] == wave)),
                       key=lambda n: -ahead[n])
        for name in ready[:jobs - len(running)]:
            waits[name] = -1  # it has begun
            heapq.heappush(running, (now + tasks[name]["took"], name))
        if not running:
            wave += 1
            continue
        now, name = heapq.heappop(running)
        done += 1
        for user in users[name]:
            waits[user] -= 1
    return now


def overhead_lines(runs, cpus):
    """Of the quietest build."""
    run = min(runs, key=lambda r: r["wall"])
    tasks = run["tasks"]
    path, cpu = longest_path(tasks), sum(task["cpu"] for task in tasks.values())
    bound = max(path, cpu / cpus)
    mark = "" if run["others"] <= meter.QUIET else "*"
    yield f"{len(tasks)} tasks, wall {run['wall']:.1f} s{mark}, CPU {run['cpu']:.1f} s"
    yield f"longest path of durations {path:.1f} s, CPU time of tasks / {cpus}: {cpu / cpus:.1f} s"
    yield f"beyond the longer of these: {run['wall'] / bound - 1:7.2%}{mark}  goal < 5%"
    spent = run["cpu"] - cpu
    yield f"CPU time that is not the tasks': {spent:.1f} s, {spent / cpu:.2%} of theirs"


def waves_lines(runs, jobs):
    best = {how: min(r["wall"] for r in runs[how]) for how in runs}
    noisy = any(meter.quiet_runs(r)[1] is False for r in runs.values())
    mark = "*" if noisy else ""
    yield (f"completion {best['completion']:.1f} s, waves {best['waves']:.1f} s: "
           f"{best['completion'] / best['waves']:.3f}x{mark}  goal < 1")
    for how, list_of in runs.items():
        tasks = min(list_of, key=lambda r: r["wall"])["tasks"]
        ours, theirs = (simulate(tasks, jobs, waves) for waves in (False, True))
        yield (f"with the durations of '{how}', {jobs} at a time: completion {ours:.1f} s, "
               f"waves {theirs:.1f} s: {ours / theirs:.3f}x")


def run(options, work):
    layer, cpus, results = Layer(options, work), os.cpu_count(), {}
    rounds = options.rounds or ROUNDS[options.size]
    for what in options.only:
        targets = TARGETS[what][options.size]
        layer.fetch(targets)
        ways = ["completion", "waves"] if what == "waves" else ["completion"]
        runs = {how: [] for how in ways}
        for number in range(rounds):
            for how in ways:
                meter.progress(f"{what}: round {number + 1} of {rounds}, {how}")
                runs[how].append(layer.build(targets, how))
        meter.progress("")
        print(f"\n{what}: {' '.join(targets)}; best of {rounds} rounds")
        lines = list(waves_lines(runs, cpus) if what == "waves"
                     else overhead_lines(runs["completion"], cpus))
        print("\n".join(lines))
        if any("*" in line for line in lines):
            print(meter.NOT_QUIET)
        results[what] = runs
    return results


def parse(argv):
    parser = meter.arguments(__doc__, ("smoke",))
    parser.add_argument("--downloads", type=Path, help="where sources are, or are put")
    parser.add_argument("--only", action="append", choices=list(TARGETS))
    options = parser.parse_args(argv)
    options.only = options.only or list(TARGETS)
    options.downloads = options.downloads and options.downloads.resolve()
    return options


def main(argv=None):
    options = parse(argv)
    meter.adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="bz-bench-", dir=options.work) as work:
        print(meter.machine_text(meter.machine()))
        try:
            results = run(options, Path(work).resolve())
        except (meter.Failure, subprocess.CalledProcessError) as failure:
            print(f"failed: {failure}", file=sys.stderr)
            return 1
    if options.json:
        meter.write_json(options.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
