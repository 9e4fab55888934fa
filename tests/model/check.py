#!/usr/bin/env python3
"""Checks the pool's protocols with the Spin model checker.

Usage: check.py GROUP...        run the groups named: sleep, deque, mutants, deep
       check.py --trace NAME    run one case and print how its property is violated

A case is a model with a set of defines and what must come out: that the model holds,
or the assertion that a mutant must violate. The exit code is 77 where spin or a C
compiler is missing, unless BITZEL_MUST_WORK=1 makes that a failure.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
HOLDS = ""
CYCLE = "non-progress cycle"

# What judge() in sleep.pml asserts, as pan words it.
LOST_WAKE = "(waiting&&(asleep>0))"
LOST_START = "(waiting&&(started<"
LOST_LATCH = "(nap[0]!=2)"
BAD_COUNT = "(sleeping==asleep)"
STUCK = "((asleep+busy)+left)==alive"
NOT_STOPPED = "(left==alive)"
# And deque.pml.
TWICE = "(taken["
NO_ITEM = "<=4)"


class Case(NamedTuple):
    name: str
    model: str
    defines: str
    expect: str = HOLDS
    live: bool = False  # also prove that no run goes on for ever


def sleep(name, defines, **more):
    return Case(name, "sleep", defines, **more)


def broken(name, defines, expect, **more):
    return Case(name, "sleep", defines, expect, **more)


def deque(name, defines, expect=HOLDS):
    return Case(name, "deque", defines, expect)


TWO_POSTERS = "WORKERS=2 POST1=1 POST3=1 TAKE_ONE LONG"
PUSH_AND_POST = "WORKERS=2 PUSHES=1 POST1=1 LONG"
GROWING = "WORKERS=2 EAGER=1 PUSHES=1 POST1=1 LONG"
STOPPING = "WORKERS=2 EAGER=1 SETS=2 POST1=1"

GROUPS = {
    "sleep": [
        sleep("post-1", "WORKERS=2 POST1=1 SEARCH_TWICE FUTEX", live=True),
        sleep("post-2", "WORKERS=2 POST1=2"),
        sleep("two-posters", TWO_POSTERS),
        sleep("push-2", "WORKERS=2 PUSHES=2"),
        sleep("push-2-fenced", "WORKERS=2 PUSHES=2 FENCED"),
        sleep("push-and-post", PUSH_AND_POST),
        sleep("fork", "WORKERS=2 POST1=1 FORKS=1"),
        sleep("latch", "WORKERS=2 POST1=1 SETS=1", live=True),
        sleep("stop", "WORKERS=2 POST1=1 SETS=2"),
        sleep("grow", GROWING, live=True),
        sleep("grow-fork", "WORKERS=2 EAGER=1 POST1=1 FORKS=1", live=True),
        sleep("grow-3", "WORKERS=3 EAGER=1 POST1=3 LONG"),
        sleep("grow-3-just-done", "WORKERS=3 EAGER=1 POST1=3 LONG JUST_DONE=1"),
        sleep("grow-stop", STOPPING, live=True),
        # Simpler protocols that would do as well; README.md discusses them.
        sleep("alt-sleeper-counts-itself-out", "WORKERS=2 POST1=1 SLEEPER_ALONE"),
        sleep("alt-latch-without-sleepy", "WORKERS=2 POST1=1 SETS=1 NO_SLEEPY"),
    ],
    "deque": [
        deque("deque-3", "ITEMS=3"),
        deque("deque-4", "ITEMS=4"),
        deque("deque-5", "ITEMS=5"),
    ],
    "mutants": [
        broken("no-recheck", "WORKERS=2 POST1=1 NO_JEC_RECHECK", LOST_WAKE),
        broken("no-barrier", "WORKERS=1 PUSHES=2 NO_BARRIER", LOST_WAKE),
        broken("announce-to-odd", "WORKERS=2 POST1=1 SEED_JEC", LOST_WAKE),
        broken("no-reannounce", "WORKERS=2 POST1=1 NO_REANNOUNCE", CYCLE, live=True),
        broken("latch-before-nap", "WORKERS=2 SETS=1 LATCH_BEFORE_NAP", LOST_LATCH),
        broken("both-decrement", "WORKERS=2 POST1=1 SLEEPER_TOO", BAD_COUNT),
        broken("push-no-reread", PUSH_AND_POST + " NO_REREAD", LOST_WAKE),
        broken("idle-unsigned", TWO_POSTERS + " IDLE_UNSIGNED", LOST_WAKE),
        broken("no-cascade", TWO_POSTERS + " NO_CASCADE", LOST_WAKE),
        broken("leave-no-cascade", "WORKERS=2 POST1=1 SETS=1 LEAVE_NO_CASCADE", LOST_WAKE),
        broken("rest-unannounced", "WORKERS=2 POST1=2 REST_UNANNOUNCED", LOST_WAKE),
        broken("no-retry", "WORKERS=2 PUSHES=2 NO_RETRY", LOST_WAKE),
        broken("no-futex-wake", "WORKERS=2 POST1=1 FUTEX NO_FUTEX_WAKE", STUCK),
        broken("wait-once", "WORKERS=2 POST1=1 FUTEX WAIT_ONCE", BAD_COUNT),
        broken("push-no-grow", GROWING + " PUSH_NO_GROW", LOST_START),
        broken("grow-no-barrier", GROWING + " GROW_NO_BARRIER", LOST_START),
        broken("rest-no-grow", "WORKERS=3 EAGER=1 POST1=3 LONG JUST_DONE=1 REST_NO_GROW",
               LOST_START),
        broken("start-active", "WORKERS=3 EAGER=1 POST1=3 LONG START_ACTIVE", LOST_START),
        broken("start-counts-late", "WORKERS=3 EAGER=2 POST1=2 FORKS=1 LONG"
               " START_COUNTS_LATE", LOST_WAKE),
        broken("stop-unlocked", STOPPING + " STOP_UNLOCKED", NOT_STOPPED),
        deque("pop-plain-store", "POP_PLAIN_STORE", TWICE),
        deque("steal-without-cas", "STEAL_WITHOUT_CAS", TWICE),
        deque("last-without-cas", "LAST_WITHOUT_CAS", TWICE),
        deque("bottom-before-slot", "BOTTOM_FIRST", NO_ITEM),
        deque("steal-bottom-first", "STEAL_BOTTOM_FIRST", TWICE),
        deque("read-after-cas", "READ_AFTER_CAS", TWICE),
        deque("old-ring-freed", "OLD_RING_FREED", NO_ITEM),
    ],
    "deep": [  # minutes and gigabytes: by hand, after a change of the protocol
        sleep("deep-two-posters", "WORKERS=2 POST1=1 POST3=1 TAKE_ONE"),
        sleep("deep-push-and-post", "WORKERS=2 PUSHES=1 POST1=1"),
        sleep("deep-post-1-then-2", "WORKERS=2 POST1=1 POST2=2 LONG"),
        sleep("deep-three-workers", "WORKERS=3 POST1=2 LONG"),
        sleep("deep-alt-poster-without-reread", TWO_POSTERS + " NO_REREAD"),
        sleep("deep-stop", "WORKERS=2 EAGER=1 POST1=2 SETS=2", live=True),
    ],
}


class Result(NamedTuple):
    failure: str  # what the search found violated; "" if nothing
    problem: str  # why the search says nothing either way; "" if it does
    states: int
    trace: str


def tool(argv, where):
    return subprocess.run(argv, cwd=where, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)


def judge_output(out):
    """Pan's report to (failure, problem, states)."""
    errors = re.search(r"errors: (\d+)", out)
    states = re.search(r"(\d+(?:\.\d+e\+\d+)?) states, stored", out)
    found = re.search(r"pan:1: (.*) \(at depth", out)
    number = int(float(states.group(1))) if states else 0
    if not errors:
        return "", "no verdict from pan:\n" + out, number
    if found:
        return found.group(1), "", number
    if errors.group(1) != "0" or re.search(r"max search depth|not completed|memory limit", out):
        return "", "the search was cut short:\n" + out, number
    return "", "", number


def run(case, want_trace=False):
    flags = ["-D" + d for d in case.defines.split()]
    # Compiling takes longer than searching up to some million states.
    speed = "-O2" if case in GROUPS["deep"] else "-O0"
    mode = ["-DNP", "-DNOFAIR"] if case.live else ["-DSAFETY"]
    with tempfile.TemporaryDirectory(prefix="bitzel-model-") as where:
        shutil.copy(HERE / (case.model + ".pml"), pathlib.Path(where, "m.pml"))
        steps = [["spin", "-a", *flags, "m.pml"],
                 [os.environ.get("CC", "cc"), speed, "-w", *mode, "-o", "pan", "pan.c"]]
        for argv in steps:
            done = tool(argv, where)
            if done.returncode != 0:
                return Result("", f"{argv[0]} failed:\n{done.stdout}", 0, "")
        out = tool(["./pan", "-m50000", "-w22", *(["-l"] if case.live else [])], where).stdout
        failure, problem, states = judge_output(out)
        trace = ""
        if want_trace and failure:
            trace = tool(["spin", "-t", "-T", *flags, "m.pml"], where).stdout
        return Result(failure, problem, states, trace)


def verdict(case, result):
    """Why the case is not as expected, or an empty string."""
    if result.problem:
        return result.problem
    if case.expect == HOLDS:
        return f"violated: {result.failure}" if result.failure else ""
    if not result.failure:
        return "the mutant survived"
    if case.expect not in result.failure:
        return f"expected {case.expect}, got {result.failure}"
    return ""


def timed(case):
    start = time.monotonic()
    result = run(case)
    return case, result, time.monotonic() - start


def run_groups(names):
    cases = [case for name in names for case in GROUPS[name]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for case, result, seconds in pool.map(timed, cases):
            wrong = verdict(case, result)
            failed += bool(wrong)
            word = "holds" if case.expect == HOLDS else "caught"
            print(f"{'FAIL' if wrong else 'ok':4} {case.name:30} {result.states:9} states"
                  f" {seconds:6.1f} s  {wrong or word}", flush=True)
    print(f"{len(cases) - failed} of {len(cases)} as expected")
    return 1 if failed else 0


def trace(name):
    for case in (c for group in GROUPS.values() for c in group if c.name == name):
        result = run(case, want_trace=True)
        print(result.problem or result.trace or "nothing is violated")
        return 0
    print(f"no case is called {name}", file=sys.stderr)
    return 2


def main(argv):
    missing = [t for t in ("spin", os.environ.get("CC", "cc")) if not shutil.which(t)]
    if missing:
        print(f"SKIPPED: the model checks need {' and '.join(missing)}", file=sys.stderr)
        return 1 if os.environ.get("BITZEL_MUST_WORK") == "1" else SKIPPED
    if len(argv) == 2 and argv[0] == "--trace":
        return trace(argv[1])
    if argv and all(name in GROUPS for name in argv):
        return run_groups(argv)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
