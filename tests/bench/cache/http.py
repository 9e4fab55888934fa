#!/usr/bin/env python3
"""Measures the tier on a web server against curl, with a real nginx on the loopback device.

Exits 0 whatever the ratios are; 1 if a program failed or its result is wrong.
"""

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "http"))
import meter  # noqa: E402
import nginx  # noqa: E402

BLOBS = {"full": 10000, "quick": 10000, "smoke": 100}
SMALL = 4096
LARGE = {"full": 1 << 30, "quick": 1 << 28, "smoke": 1 << 20}
ROUNDS = {"full": 7, "quick": 3, "smoke": 1}
LARGE_ROUNDS = 3  # at most: they take long, and differ little


def place(store, digest):
    return store / "cas" / digest[:2] / digest


def make_blobs(store, count, size, seed):
    """Random blobs in the layout of a store: [(digest, size)]."""
    rng, made = random.Random(seed), []
    for _ in range(count):
        data = rng.randbytes(min(size, 1 << 24)) * max(1, size >> 24)
        digest = hashlib.sha256(data).hexdigest()
        path = place(store, digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (946684800, 946684800))
        made.append((digest, len(data)))
    return made


def timed(command, **options):
    watch = meter.Stopwatch()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **options)
    run = {"wall": watch.wall(), "others": watch.others(), "cpu": watch.cpu()}
    if done.returncode:
        raise meter.Failure(f"{command[0]}: {done.stderr.strip()[:500] or done.returncode}")
    return run


class Bench:
    def __init__(self, program, work, server, parallel):
        self.program, self.work, self.server = str(program), work, server
        self.parallel = str(parallel)
        self.runs, self.round = {}, 0

    def note(self, name, run):
        self.runs.setdefault(name, []).append(run)

    def ours(self, verb, store, blobs):
        text = "".join(f"{digest} {size}\n" for digest, size in blobs)
        return timed([self.program, verb, str(store), self.server.url, self.parallel], input=text)

    def curl(self, lines):
        config = self.work / "curl.conf"
        config.write_text("\n".join(lines) + "\n")
        return timed(["curl", "-q", "-s", "-S", "--fail", "--http1.1", "--parallel",
                      "--parallel-max", self.parallel, "--parallel-immediate", "--config",
                      str(config)])

    def check(self, files, blobs):
        """That what came is what was asked for."""
        for digest, size in blobs:
            data = files(digest).read_bytes()
            if len(data) != size or hashlib.sha256(data).hexdigest() != digest:
                raise meter.Failure(f"wrong bytes for {digest}")

    def get(self, name, blobs):
        store, out = self.work / "got", self.work / "out"
        out.mkdir()
        self.note(f"{name}, ours", self.ours("get", store, blobs))
        self.check(lambda digest: place(store, digest), blobs)
        lines = []
        for digest, _size in blobs:
            lines += [f'url = "{self.server.url}/cas/{digest}"', f'output = "{out / digest}"']
        self.note(f"{name}, curl", self.curl(lines))
        self.check(lambda digest: out / digest, blobs)
        for tool in ("sha256sum", "openssl dgst -sha256"):  # the second is as quick as ours
            self.note(f"{name}, {tool.split()[0]}",
                      timed(["sh", "-c", f'find "$1" -type f -print0 | xargs -0 {tool} >/dev/null',
                             "sh", str(out)]))
        shutil.rmtree(store)
        shutil.rmtree(out)

    def put(self, name, store, blobs):
        far = self.server.store / "cas"
        for who in ("ours", "curl"):
            if far.exists():
                far.rename(self.work / "old")
                shutil.rmtree(self.work / "old")
            if who == "ours":
                self.note(f"{name}, ours", self.ours("put", store, blobs))
            else:
                lines = []
                for digest, _size in blobs:
                    lines += [f'upload-file = "{place(store, digest)}"',
                              f'url = "{self.server.url}/cas/{digest}"']
                self.note(f"{name}, curl", self.curl(lines))
            self.check(lambda digest: place(self.server.store, digest), blobs)

    def best(self, name):
        runs, quiet = meter.quiet_runs(self.runs[name])
        return min(runs, key=lambda run: run["wall"]), quiet

    def row(self, name, unit, amount):
        (ours, quiet), (curl, also) = self.best(f"{name}, ours"), self.best(f"{name}, curl")
        mark = "" if quiet and also else "*"
        text = (f"{name:24}{amount / ours['wall']:10.0f} {unit}{amount / curl['wall']:10.0f} {unit}"
                f"{curl['wall'] / ours['wall']:7.2f}x{mark:2}"
                f"  CPU {ours['cpu']:.2f} s, {curl['cpu']:.2f} s")
        if f"{name}, openssl" in self.runs:
            coreutils, openssl = (self.best(f"{name}, {tool}")[0]
                                  for tool in ("sha256sum", "openssl"))
            both = (curl["wall"] + openssl["wall"]) / ours["wall"]
            text += (f"; sha256sum {coreutils['cpu']:.2f} s, openssl dgst {openssl['cpu']:.2f} s:"
                     f" curl and openssl {both:.2f}x")
        print(text)
        return quiet and also


def measure(bench, size):
    store = bench.work / "local"
    small = make_blobs(bench.server.store, BLOBS[size], SMALL, 1)
    large = make_blobs(bench.server.store, 1, LARGE[size], 2)
    make_blobs(store, BLOBS[size], SMALL, 1)
    make_blobs(store, 1, LARGE[size], 2)
    os.sync()
    for bench.round in range(ROUNDS[size]):
        meter.progress(f"round {bench.round + 1} of {ROUNDS[size]}: get")
        bench.get("get small", small)
        if bench.round < LARGE_ROUNDS:
            bench.get("get large", large)
    for bench.round in range(ROUNDS[size]):
        meter.progress(f"round {bench.round + 1} of {ROUNDS[size]}: put")
        bench.put("put small", store, small)
        if bench.round < LARGE_ROUNDS:
            bench.put("put large", store, large)
    meter.progress("")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=Path, help="folder of bench_http")
    parser.add_argument("--work", type=Path, help="where to work; it decides the file system")
    parser.add_argument("--parallel", type=int, default=32, help="transfers at a time")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--quick", dest="size", action="store_const", const="quick")
    group.add_argument("--smoke", dest="size", action="store_const", const="smoke")
    options = parser.parse_args()
    size = options.size or "full"
    for name in ("nginx", "curl"):
        if not shutil.which(name, path=nginx.PATH):
            print(f"cache/http.py: {name} is not installed", file=sys.stderr)
            sys.exit(1 if os.environ.get("BITZEL_MUST_WORK") else 77)
    work, server = Path(tempfile.mkdtemp(prefix="bz-bench-", dir=options.work)), None
    try:
        server = nginx.Nginx(work / "server")
        about = meter.machine()
        bench = Bench(options.bin / "bench_http", work, server, options.parallel)
        measure(bench, size)
        print(meter.machine_text(about))
        print(f"{BLOBS[size]} blobs of {SMALL} bytes, one of {LARGE[size] >> 20} MiB;"
              f" {options.parallel} at a time; best of {ROUNDS[size]} rounds,"
              f" of {min(ROUNDS[size], LARGE_ROUNDS)} for the large one\n")
        print(f"{'':24}{'ours':>14}{'curl':>14}")
        quiet = True
        for name, unit, amount in (
                ("get small", "/s ", BLOBS[size]), ("get large", "MB/s", LARGE[size] / 1e6),
                ("put small", "/s ", BLOBS[size]), ("put large", "MB/s", LARGE[size] / 1e6)):
            quiet &= bench.row(name, unit, amount)
        if not quiet:
            print(meter.NOT_QUIET)
    except meter.Failure as failure:
        sys.exit(f"cache/http.py: {failure}")
    finally:
        if server:
            server.stop()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
