#!/usr/bin/env python3
"""Jobs through the service's ways in: shared memory and the socket, in one run.

The ways take turns, round after round, in one program with one service; of each the fastest
round counts. Exits 0 whatever the ratio is; 1 if the program failed; 2 on wrong usage.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

GOAL = 3.0  # the memory's rate, by the socket's
SIZES = {"full": (500000, 7), "quick": (100000, 3), "smoke": (500, 1)}
# What the client of the socket does: one request at a time, without looking at results,
# several requests at a time.
KINDS = (("", []), (", results not read", ["--raw"]), (", 16 at a time", ["--batch", "16"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=Path, help="where bench_ways is")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--window", type=int, default=64, help="jobs under way")
    parser.add_argument("--quick", dest="size", action="store_const", const="quick", default="full")
    parser.add_argument("--smoke", dest="size", action="store_const", const="smoke")
    args = parser.parse_args()
    jobs, rounds = SIZES[args.size]
    for kind, options in KINDS:
        done = subprocess.run(
            [args.bin / "bench_ways", "--jobs", str(jobs), "--rounds", str(args.rounds or rounds),
             "--window", str(args.window), *options],
            stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            return 1
        records = [json.loads(line) for line in done.stdout.splitlines()]
        best = {}
        for way in ("memory", "socket"):
            of = [r for r in records if r["way"] == way]
            best[way] = max(r["per_second"] for r in of), min(r["cpu_ns"] / r["jobs"] for r in of)
            print(f"{way:7} {best[way][0]:10,.0f} jobs/s {best[way][1]:8,.0f} ns CPU a job"
                  f"{kind if way == 'socket' else ''}")
        print(f"ratio   {best['memory'][0] / best['socket'][0]:10.2f}"
              f"{'' if options else f' (goal: {GOAL})'}; "
              f"of CPU {best['socket'][1] / best['memory'][1]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
