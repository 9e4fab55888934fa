#!/usr/bin/env python3
"""Runs the thread pool benchmarks and prints one table of them all.

The peers take turns, round after round, so that a slow minute of the machine meets all
of them. Of each peer and workload the fastest repetition counts, but only among runs
that had the machine to themselves: a worker that has lost its CPU to a stranger does not
contend with the others, which makes some pools faster, not slower.

Exits 0 whatever the ratios are; 1 if a program failed or its check did; 2 on wrong usage.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import meter  # noqa: E402

PEERS = ["bitzel", "rayon", "tbb", "openmp", "glib", "queue"]
TUNING = ("OMP_", "GOMP_", "KMP_", "RAYON_", "TBB_")  # every peer runs with its defaults
TIMEOUT = 300

# Repetitions in one process, and items: None is the program's own usual size.
SIZES = {
    "full": {"spawn": (3, None), "dag": (5, None), "dag-spawn": (5, None), "dag-chain": (5, None),
             "fib": (2, None), "wake": (1, None), "idle": (1, None)},
    "quick": {"spawn": (2, 200000), "dag": (3, None), "dag-spawn": (3, None), "dag-chain": (3, None),
              "fib": (2, 25), "wake": (1, 100), "idle": (1, 500)},
    "smoke": {"spawn": (1, 1000), "dag": (1, 1000), "dag-spawn": (1, 1000), "dag-chain": (1, 1000),
              "fib": (1, 12), "wake": (1, 10), "idle": (1, 20)},
}
ROUNDS = {"full": 7, "quick": 3, "smoke": 1}
IDLE_ROUNDS = 2  # little to vary, and each takes seconds


def per_item(record):
    return record["ns"] / record["items"]


def cores(record):
    return record["cpu_ns"] / record["ns"]


# Row by row: workload, label, unit, value of a repetition, whether less is better.
ROWS = [
    ("spawn", "spawn", "ns/task", per_item, True),
    ("spawn", "", "cores", cores, False),
    ("dag", "dag", "ns/node", per_item, True),
    ("dag", "", "cores", cores, False),
    ("dag-spawn", "dag-spawn", "ns/node", per_item, True),
    ("dag-spawn", "", "cores", cores, False),
    ("dag-chain", "dag-chain", "ns/node", per_item, True),
    ("dag-chain", "", "cores", cores, False),
    ("fib", "fib", "ns/call", per_item, True),
    ("fib", "", "cores", cores, False),
    ("wake", "wake p50", "us", lambda r: r["p50_ns"] / 1e3, True),
    ("wake", "wake p99", "us", lambda r: r["p99_ns"] / 1e3, True),
    ("wake", "wake CPU", "us/wake", lambda r: r["cpu_ns"] / r["items"] / 1e3, True),
    ("idle", "idle CPU", "ms", lambda r: r["cpu_ns"] / 1e6, True),
]


def parse_output(text):
    try:
        records = [json.loads(line) for line in text.splitlines()]
    except ValueError as error:
        raise meter.Failure(f"unreadable output: {error}") from error
    if not records:
        raise meter.Failure("no output")
    return [] if records[0].get("skipped") else records


def run_program(command):
    """One process: its repetitions, and the share of the machine that others used."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(TUNING)}
    watch = meter.Stopwatch()
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True,
                              timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise meter.Failure(f"no end after {TIMEOUT} s") from error
    except OSError as error:
        raise meter.Failure(str(error)) from error
    others = watch.others()
    if done.returncode != 0:
        raise meter.Failure(done.stderr.strip() or f"exit code {done.returncode}")
    records = parse_output(done.stdout)
    if not all(record.get("ok") is True for record in records):
        raise meter.Failure("its check failed")
    return {"others": others, "reps": records}


def rounds_of(workload, rounds):
    return min(rounds, IDLE_ROUNDS) if workload == "idle" else rounds


def run_all(opts, peers, workloads):
    """All runs, as {(peer, workload): [run, ...]}, and the failures, as text."""
    runs, failures = {}, []
    for number in range(opts.rounds):
        for workload in workloads:
            if number >= rounds_of(workload, opts.rounds):
                continue
            reps, items = SIZES[opts.size][workload]
            for peer in peers:
                meter.progress(f"round {number + 1}/{opts.rounds}: {workload} {peer}")
                command = [opts.bin / f"bench_{peer}", workload, "--reps", str(reps),
                           "--workers", str(opts.workers)]
                command += ["--items", str(items)] if items else []
                command += ["--free"] if opts.free else []
                try:
                    run = run_program(command)
                except meter.Failure as failure:
                    failures.append(f"{peer} {workload}: {failure}")
                    continue
                if run["reps"]:
                    runs.setdefault((peer, workload), []).append(run)
    meter.progress("")
    return runs, failures


def disagreements(runs, workloads):
    """Every peer must have done the same work and come to the same result."""
    found = []
    for workload in workloads:
        seen = {}
        for (peer, name), peer_runs in runs.items():
            for rep in (rep for run in peer_runs for rep in run["reps"]):
                if name == workload:
                    seen.setdefault((rep["items"], rep["check"]), set()).add(peer)
        if len(seen) > 1:
            sides = "; ".join(f"{', '.join(sorted(peers))}: items {items}, check {check}"
                              for (items, check), peers in seen.items())
            found.append(f"{workload}: the peers disagree: {sides}")
    return found


def summarise(runs):
    """{(peer, row number): {best, median, quiet}} for what was measured."""
    out = {}
    for number, (workload, _label, _unit, value, less) in enumerate(ROWS):
        for peer in PEERS:
            peer_runs = runs.get((peer, workload))
            if not peer_runs:
                continue
            counted, quiet = meter.quiet_runs(peer_runs)
            reps = [rep for run in counted for rep in run["reps"]]
            # The row with the cores describes the repetition that won.
            best = min(map(value, reps)) if less else value(min(reps, key=per_item))
            out[peer, number] = {"best": best, "quiet": len(counted) if quiet else 0,
                                 "runs": len(peer_runs),
                                 "median": statistics.median(map(value, reps))}
    return out


def table(title, peers, cell):
    """Text of a table; cell(peer, row number) gives the text of a cell or None."""
    lines = [title, f"{'':20}" + "".join(f"{peer:>10}" for peer in peers)]
    for number, (_workload, label, unit, _value, _less) in enumerate(ROWS):
        cells = [cell(peer, number) for peer in peers]
        if any(cells):
            head = f"{label:10} {unit:9}"
            lines.append(head + "".join(f"{text or '-':>10}" for text in cells))
    return "\n".join(lines)


def tables(summary, peers):
    def best(peer, row):
        entry = summary.get((peer, row))
        return entry and meter.number_text(entry["best"]) + ("" if entry["quiet"] else "*")

    def median(peer, row):
        entry = summary.get((peer, row))
        return entry and meter.number_text(entry["median"])

    def ratio(peer, row):
        ours, theirs = summary.get(("bitzel", row)), summary.get((peer, row))
        if not ours or not theirs or not ROWS[row][4] or theirs["best"] == 0:
            return None
        mark = "" if ours["quiet"] and theirs["quiet"] else "*"
        return f"{ours['best'] / theirs['best']:.2f}{mark}"

    parts = [table("Best repetition", peers, best), table("Median", peers, median)]
    if "bitzel" in peers and len(peers) > 1:
        rest = [peer for peer in peers if peer != "bitzel"]
        parts.append(table("bitzel / peer: below 1 bitzel is faster", rest, ratio))
    if any(not entry["quiet"] for entry in summary.values()):
        parts.append(meter.NOT_QUIET)
    return "\n\n".join(parts)


def describe(opts, known):
    return {**meter.machine(), "compiler": known.get("compiler", "unknown"),
            "flags": known.get("flags", ""), "workers": opts.workers, "rounds": opts.rounds,
            "size": opts.size, "placement": "free" if opts.free else "spread",
            "peers": known.get("built", {}), "missing": known.get("missing", {})}


def machine_text(machine, peers, absent):
    lines = [meter.machine_text(machine),
             f"{machine['compiler']}, {machine['flags']}; {machine['workers']} workers, "
             f"{machine['rounds']} rounds, {machine['size']} size"]
    lines += [f"{peer}: {machine['peers'].get(peer, 'unknown version')}" for peer in peers]
    lines += [f"{peer}: left out, {why}" for peer, why in absent.items()]
    return "\n".join(lines)


def load_known(directory):
    try:
        return json.loads((directory / "peers.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def choose_peers(opts, known):
    """The peers to run, and why the others do not."""
    peers, absent = [], {}
    for peer in opts.peer or PEERS:
        if os.access(opts.bin / f"bench_{peer}", os.X_OK):
            peers.append(peer)
        else:
            absent[peer] = known.get("missing", {}).get(peer, "not built")
    return peers, absent


def parse_args(argv):
    top = Path(__file__).resolve().parents[3]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, metavar="DIR", help="where the programs are",
                        default=top / "build" / "bench" / "tests" / "bench")
    parser.add_argument("--only", action="append", metavar="WORKLOAD",
                        choices=list(SIZES["full"]), help="this workload (repeatable)")
    parser.add_argument("--peer", action="append", metavar="PEER", choices=PEERS,
                        help="this peer (repeatable)")
    parser.add_argument("--rounds", type=int, metavar="R", help="default 7")
    parser.add_argument("--workers", type=int, metavar="N", default=max(2, os.cpu_count()))
    parser.add_argument("--free", action="store_true",
                        help="let the kernel place the threads, in all workloads")
    parser.add_argument("--json", metavar="FILE", help="also write JSON; - for stdout only")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick")
    size.add_argument("--smoke", dest="size", action="store_const", const="smoke",
                      help="tiny sizes: only shows that everything runs")
    parser.set_defaults(size="full")
    opts = parser.parse_args(argv)
    opts.rounds = ROUNDS[opts.size] if opts.rounds is None else opts.rounds
    if opts.rounds < 1 or opts.workers < 1:
        parser.error("--rounds and --workers are at least 1")
    return opts


def write_json(path, machine, runs, summary, failures):
    best = [{"peer": peer, "workload": ROWS[row][0], "row": ROWS[row][1] or ROWS[row][2],
             "unit": ROWS[row][2], **entry} for (peer, row), entry in summary.items()]
    flat = [{"peer": peer, "workload": workload, "others": run["others"],
             "reps": run["reps"]} for (peer, workload), each in runs.items() for run in each]
    meter.write_json(path, {"machine": machine, "summary": best, "runs": flat,
                            "failures": failures})


def main(argv=None):
    opts = parse_args(argv)
    known = load_known(opts.bin)
    peers, absent = choose_peers(opts, known)
    if not peers:
        print(f"no benchmark programs in {opts.bin}", file=sys.stderr)
        return 2
    machine = describe(opts, known)
    workloads = [name for name in SIZES["full"] if not opts.only or name in opts.only]
    runs, failures = run_all(opts, peers, workloads)
    failures += [f"{peer}: configured, but there is no program"
                 for peer in absent if peer in known.get("built", {})]
    failures += disagreements(runs, workloads)
    summary = summarise(runs)
    if opts.json:
        write_json(opts.json, machine, runs, summary, failures)
    if opts.json != "-":
        print(machine_text(machine, peers, absent), tables(summary, peers), sep="\n\n")
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
