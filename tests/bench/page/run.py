#!/usr/bin/env python3
"""Measures how long Chromium takes to open the page of a report, and how large it is.

The events of builds that never were are written into a project, `report --html` makes
pages of them. The peer is a static page of as many bytes: a table with a row for each
task, without a script. The browser opens them in turns; what counts is the time from the
request to the second frame after the page has loaded, when everything is to be seen.

Exits 0 whatever the figures are; 1 if a page has no tasks or the browser failed.
"""

import html
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parse"), str(HERE.parent), str(HERE.parents[1] / "e2e")]
import browser  # noqa: E402
import meter  # noqa: E402
import synth  # noqa: E402

TASKS = {"full": 10000, "quick": 10000, "smoke": 200}
ROUNDS = {"full": 15, "quick": 5, "smoke": 1}
SLOTS = 16
GOAL_SECONDS, GOAL_BYTES = 2, 3 << 20
SHAPES = {  # how many others a task waits for, and logs of 64 KiB
    "usual": (7, 10),
    "worst": (40, 30),
}
STEPS = ("fetch", "unpack", "patch", "configure", "compile", "install", "package", "populate_sysroot")


def task_name(i):
    return f"some-recipe{i // len(STEPS)}:do_{STEPS[i % len(STEPS)]}"


def events(tasks, edges, logs, top):
    """A build in which one task in eight was found, and the first ones have logs."""
    chance = random.Random(tasks + edges)
    yield {"event": "begin", "version": 1, "bitzel": "0", "targets": ["world"], "jobs": SLOTS,
           "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    for i in range(tasks):
        after = sorted({chance.randrange(i) for _ in range(edges)} if i else ())
        about = {"task": task_name(i), "after": [task_name(k) for k in after],
                 "key": f"{chance.getrandbits(256):064x}"}
        at = round(i // SLOTS * 0.5 + i % SLOTS * 0.01, 6)
        took = round(0.4 + chance.random() * 0.05 + (60 if i < logs else 0), 6)
        if i % 8 == 7:
            yield {"event": "cached", "at": at, **about, "same": False, "saved": took}
            continue
        yield {"event": "started", "at": at, **about}
        yield {"event": "done", "at": round(at + took, 6), "task": task_name(i), "took": took,
               "cpu": took, "memory": chance.randrange(1 << 20, 1 << 30),
               **({"log": str(top / "log")} if i < logs else {})}
    yield {"event": "end", "at": tasks, "took": tasks, "tasks": tasks, "executed": tasks - tasks // 8,
           "cached": tasks // 8, "failed": 0, "not_needed": 0, "noexec": 0, "not_started": 0}


def write_log(path):
    """As compilers colour their warnings."""
    line = "\x1b[1m\x1b[Kfile.c:{0}:5:\x1b[m\x1b[K \x1b[01;35m\x1b[Kwarning: \x1b[m\x1b[Kunused \"x{0}\"\r\n"
    path.write_text("".join(line.format(i) for i in range(1000)), encoding="utf-8")


def make_page(bitzel, work, shape, tasks):
    top, (edges, logs) = work / shape, SHAPES[shape]
    synth.Layer(top, 1).write_all()
    write_log(top / "log")
    log = top / "build/builds/20260102T030405-0000001/events"
    log.parent.mkdir(parents=True)
    log.write_text("".join(json.dumps(e) + "\n" for e in events(tasks, edges, logs, top)), encoding="utf-8")
    page = top / "page.html"
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BB", "BITZEL"))}
    began = time.monotonic()
    subprocess.run([bitzel, "report", "--html", page], cwd=top / "build", env=env, check=True)
    return page, time.monotonic() - began


def make_peer(page, tasks):
    """A static table of as many bytes as the page has."""
    peer, size = page.with_name("peer.html"), page.stat().st_size
    rows = [f"<tr><td>{html.escape(task_name(i))}<td>executed<td>{i / 2:.1f}s<td>0.4s<td>12 MiB"
            for i in range(tasks)]
    text = "<!doctype html><meta charset=utf-8><title>Build</title><table>" + "\n".join(rows)
    for i in itertools.cycle(range(tasks)):
        if len(text) >= size:
            break
        text += "\n" + rows[i]
    peer.write_text(text[:size].ljust(size), encoding="utf-8")
    return peer


SEEN = ("new Promise(done => requestAnimationFrame(() => requestAnimationFrame("
        "() => done(performance.now()))))")


def open_page(window, path):
    window.look()
    window.open(path)
    return window.ask(SEEN)


def measure(options, work):
    tasks = TASKS[options.size]
    results = {}
    for shape in SHAPES:
        meter.progress(f"{shape}: the page is made")
        page, made = make_page(options.bitzel, work, shape, tasks)
        results[shape] = {"bytes": page.stat().st_size, "made": made, "runs": {"report": [], "static": []},
                          "pages": {"report": page, "static": make_peer(page, tasks)}}
    window = browser.Browser()
    try:
        for number in range(options.rounds or ROUNDS[options.size]):
            meter.progress(f"round {number + 1}")
            for result in results.values():
                for name, path in result["pages"].items():
                    result["runs"][name].append(open_page(window, path))
                    if name == "report" and window.ask("document.querySelectorAll('.table .body .row').length") < 10:
                        raise meter.Failure("the page shows no tasks")
                    if window.problems():
                        raise meter.Failure(f"{path}: {window.problems()[0]}")
    finally:
        window.close()
    meter.progress("")
    return results


def show(options, results):
    print(f"{TASKS[options.size]} tasks; medians; goals: {GOAL_SECONDS * 1000} ms, {GOAL_BYTES >> 20} MiB")
    print(f"{'':8}{'MiB':>8}{'made, ms':>10}{'report, ms':>12}{'static, ms':>12}{'ratio':>8}")
    for shape, result in results.items():
        ours, theirs = (statistics.median(result["runs"][name]) for name in ("report", "static"))
        print(f"{shape:8}{result['bytes'] / (1 << 20):8.2f}{result['made'] * 1000:10.0f}"
              f"{ours:12.0f}{theirs:12.0f}{ours / theirs:7.2f}x")


def main():
    options = meter.arguments(__doc__).parse_args()
    if not browser.PROGRAM:
        print("there is no chromium: nothing is measured")
        return 1 if "BITZEL_MUST_WORK" in os.environ else 0
    print(meter.machine_text(meter.machine()))
    try:
        with tempfile.TemporaryDirectory(prefix="bz-bench-", dir=options.work) as work:
            results = measure(options, Path(work))
    except (meter.Failure, subprocess.CalledProcessError, OSError, RuntimeError, EOFError) as failure:
        print(f"failed: {failure}", file=sys.stderr)
        return 1
    show(options, results)
    if options.json:
        meter.write_json(options.json, {"machine": meter.machine(), "results": {
            shape: {k: v for k, v in result.items() if k != "pages"} for shape, result in results.items()}})
    return 0


if __name__ == "__main__":
    sys.exit(main())
