#!/usr/bin/env python3
"""Jobs in process: the service and libuv's uv_queue_work with the same requests, in one run.

The two take turns, round after round, in one program; of each the best round counts. Exits 0
whatever the ratios are; 1 if the program failed; 2 on wrong usage.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

RATE, TIME = 3.0, 1.0  # goals: the service's rate, and its time for one, by libuv's
SIZES = {"full": (500000, 7, 20000), "quick": (200000, 3, 5000), "smoke": (500, 1, 50)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=Path, help="where bench_jobs is")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--threads", type=int, default=2, help="of either pool")
    parser.add_argument("--window", type=int, default=256, help="jobs under way")
    parser.add_argument("--quick", dest="size", action="store_const", const="quick", default="full")
    parser.add_argument("--smoke", dest="size", action="store_const", const="smoke")
    args = parser.parse_args()
    jobs, rounds, singles = SIZES[args.size]
    done = subprocess.run(
        [args.bin / "bench_jobs", "--jobs", str(jobs), "--rounds", str(args.rounds or rounds),
         "--singles", str(singles), "--window", str(args.window), "--threads", str(args.threads)],
        stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return 1
    records = [json.loads(line) for line in done.stdout.splitlines()]
    best = {}
    for pool in ("bitzel", "libuv"):
        of = [r for r in records if r["pool"] == pool]
        if not of:
            print("libuv is not here: install libuv1-dev and configure again")
            return 0
        best[pool] = (max(r["per_second"] for r in of), min(r["p50_ns"] for r in of),
                      min(r["cpu_ns"] for r in of))
        print(f"{pool:7} {best[pool][0]:10,.0f} jobs/s, {best[pool][2]:,.0f} ns CPU each; "
              f"{best[pool][1] / 1000:.1f} us for one, median")
    ours, theirs = best["bitzel"], best["libuv"]
    print(f"ratio   {ours[0] / theirs[0]:10.2f} (goal: {RATE}), of CPU {theirs[2] / ours[2]:.2f}; "
          f"{ours[1] / theirs[1]:.2f} (goal: {TIME})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
