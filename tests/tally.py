"""Counts the test cases in a JUnit file of ctest: prints "PASSED FAILED SKIPPED".

To ctest a program is one test. The cases inside it are read from what cmocka and
unittest print; a program of another kind counts as one. The exit code that ctest saw
has the last word: a program that failed counts as at least one failure (a leak found
after the last case, a crash), one that passed as none. What failed or was skipped is
named on stderr.

usage: tally.py JUNIT_FILE NAME_OF_THE_RUN
"""

import os
import re
import sys
import xml.etree.ElementTree as ET

CMOCKA_RUN = re.compile(r"^\[={10}\] (?:\S+: )?(\d+) test\(s\) run\.", re.M)
CMOCKA_OK = re.compile(r"^\[ +OK \] ", re.M)
CMOCKA_BAD = re.compile(r"^\[ +(FAILED|SKIPPED) +\] (?!\d+ test\(s\))(?:\S+: )?(\S+)$", re.M)
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.M)
UNITTEST_BAD = re.compile(r"\b(failures|errors|unexpected successes|skipped)=(\d+)")


def cmocka(text):
    if not CMOCKA_RUN.search(text) and not CMOCKA_OK.search(text):
        return None
    bad = set(CMOCKA_BAD.findall(text))
    failed = sum(1 for kind, _ in bad if kind == "FAILED")
    skipped = len(bad) - failed
    ran = sum(int(n) for n in CMOCKA_RUN.findall(text))
    if not ran:  # it died before its summary
        ran = len(CMOCKA_OK.findall(text)) + len(bad)
    return ran - len(bad), failed, skipped


def unittest(text):
    ran = UNITTEST_RAN.findall(text)
    if not ran:
        return None
    last = text.rstrip().rsplit("\n", 1)[-1]
    bad = {kind: int(n) for kind, n in UNITTEST_BAD.findall(last)}
    skipped = bad.pop("skipped", 0)
    failed = sum(bad.values())
    return int(ran[-1]) - failed - skipped, failed, skipped


def count(case):
    """(passed, failed, skipped) of one program."""
    status = case.get("status")
    if status in ("notrun", "disabled") or case.find("skipped") is not None:
        return (0, 1, 0) if case.find("failure") is not None else (0, 0, 1)
    text = case.findtext("system-out") or ""
    passed, failed, skipped = cmocka(text) or unittest(text) or (0, 0, 0)
    if status == "fail" or case.find("failure") is not None:
        return passed, max(failed, 1), skipped
    return max(passed + failed, 0 if skipped else 1), 0, skipped


def main(path, run):
    must_work = os.environ.get("BITZEL_MUST_WORK") == "1"
    total = [0, 0, 0]
    for case in ET.parse(path).getroot().iter("testcase"):
        passed, failed, skipped = count(case)
        if skipped and must_work:
            failed, skipped = failed + skipped, 0
            print(f"{run}: {case.get('name')} skipped, but must work here", file=sys.stderr)
        elif skipped:
            print(f"{run}: {case.get('name')} skipped {skipped}", file=sys.stderr)
        elif failed:
            print(f"{run}: {case.get('name')} failed", file=sys.stderr)
        total = [a + b for a, b in zip(total, (passed, failed, skipped))]
    print(*total)


if __name__ == "__main__":
    main(*sys.argv[1:])
