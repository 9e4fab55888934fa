#!/usr/bin/env python3
"""Measures the store against the plainest programs that do the same, in one run.

Exits 0 whatever the ratios are; 1 if a program failed or its result is wrong.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import meter  # noqa: E402

FILES = {"full": 10000, "quick": 10000, "smoke": 200}
ROUNDS = {"full": 9, "quick": 3, "smoke": 1}
GOALS = {"has": 1.5, "store": 1.5, "restore": 1.3}


def make_tree(top, files):
    """A tree as a package's build leaves it: many small files, few large ones."""
    rng = random.Random(1)
    for i in range(files):
        folder = top / f"d{i % 97}" / f"e{i % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        size = min(int(rng.lognormvariate(8.3, 1.6)), 4 << 20)
        path = folder / f"file{i}"
        path.write_bytes(rng.randbytes(size))
        path.chmod(0o755 if i % 10 == 0 else 0o644)
    return sum(p.stat().st_size for p in top.rglob("*") if p.is_file())


def timed(command, **options):
    """Runs a program: {wall, others, out}."""
    watch = meter.Stopwatch()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **options)
    result = {"wall": watch.wall(), "others": watch.others(), "out": done.stdout}
    if done.returncode:
        raise meter.Failure(f"{command[0]}: {done.stderr.strip() or done.returncode}")
    return result


def sha256sum(tree):
    """As many processes as there are CPUs, each with its share of the files."""
    jobs = len(os.sched_getaffinity(0))
    return timed(["sh", "-c", 'find "$1" -type f -print0 | xargs -0 -P "$2" -n 500 sha256sum'
                  ' >/dev/null', "sh", str(tree), str(jobs)])


class Bench:
    def __init__(self, program, work, size):
        self.program, self.work, self.size = str(program), work, size
        self.runs = {}
        self.round = 0

    def note(self, name, run):
        self.runs.setdefault(name, []).append(run)

    def has(self):
        watch = meter.Stopwatch()
        out = timed([self.program, "has", str(self.work / f"has{self.round}"),
                     str(FILES[self.size])])["out"]
        ours, bare = (float(word) for word in out.split())
        others = watch.others()
        self.note("has", {"wall": ours / 1e9, "others": others})
        self.note("faccessat", {"wall": bare / 1e9, "others": others})

    def trees(self, original):
        tree, store = self.work / f"tree{self.round}", self.work / f"store{self.round}"
        subprocess.run(["cp", "-a", original, tree], check=True)
        os.sync()
        self.note("sha256sum", sha256sum(tree))
        stored = timed([self.program, "store", str(store), str(tree)])
        self.note("store", stored)
        digest, size = stored["out"].split()
        out = [self.work / f"{name}{self.round}" for name in ("cp", "out", "checked")]
        self.note("cp -al", timed(["cp", "-al", str(tree), str(out[0])]))
        self.note("restore", timed([self.program, "restore", str(store), digest, size,
                                    str(out[1])]))
        self.note("restore, checked", timed([self.program, "restore", str(store), digest, size,
                                             str(out[2]), "check"]))
        for copy in out:
            timed(["diff", "-r", str(original), str(copy)])

    def best(self, name):
        runs, quiet = meter.quiet_runs(self.runs[name])
        return min(run["wall"] for run in runs), quiet

    def row(self, name, peer, unit, scale):
        (ours, quiet), (theirs, also) = self.best(name), self.best(peer)
        mark = "" if quiet and also else "*"
        goal = f"<= {GOALS[name]:.1f}" if name in GOALS else ""
        print(f"{name:18}{ours * scale:10.1f} {unit:4}{peer:>12}{theirs * scale:10.1f} {unit:4}"
              f"{ours / theirs:7.2f}x{mark:2}{goal}")
        return quiet and also


def measure(bench, original):
    for bench.round in range(ROUNDS[bench.size]):
        meter.progress(f"round {bench.round + 1} of {ROUNDS[bench.size]}")
        bench.has()
        bench.trees(original)
    meter.progress("")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=Path, help="folder of bench_cache")
    parser.add_argument("--work", type=Path, help="where to work; it decides the file system")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick")
    size.add_argument("--smoke", dest="size", action="store_const", const="smoke")
    options = parser.parse_args()
    size = options.size or "full"
    work = Path(tempfile.mkdtemp(prefix="bz-bench-", dir=options.work))
    try:
        about = meter.machine()
        bytes_in = make_tree(work / "original", FILES[size])
        bench = Bench(options.bin / "bench_cache", work, size)
        measure(bench, work / "original")
        print(meter.machine_text(about))
        print(f"{FILES[size]} files, {bytes_in / 1e6:.1f} MB; best of {ROUNDS[size]} rounds\n")
        quiet = bench.row("has", "faccessat", "ns", 1e9)
        quiet &= bench.row("store", "sha256sum", "ms", 1e3)
        quiet &= bench.row("restore", "cp -al", "ms", 1e3)
        quiet &= bench.row("restore, checked", "cp -al", "ms", 1e3)
        if not quiet:
            print(meter.NOT_QUIET)
    except meter.Failure as failure:
        sys.exit(f"cache/run.py: {failure}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
