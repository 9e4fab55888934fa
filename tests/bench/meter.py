"""What the drivers share: what a run costs, and whether it had the machine to itself."""

import argparse
import ctypes
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUIET = 0.10  # a run is quiet if others use at most this share of the machine
NOT_QUIET = ("* not to be quoted: in no run did other processes use less than"
             f" {QUIET:.0%} of the machine")
PR_SET_CHILD_SUBREAPER = 36


def arguments(about, sizes=("quick", "smoke")):
    """A parser of what every driver of the program is asked for; it adds its own. The size
    is one of `sizes`, by its option, or "full"."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--bitzel", required=True, type=lambda name: Path(name).resolve(),
                        help="the program")
    parser.add_argument("--work", type=Path, help="where to work; it decides the file system")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--json", help="also write every run there; - for standard output")
    group = parser.add_mutually_exclusive_group()
    for size in sizes:
        group.add_argument(f"--{size}", dest="size", action="store_const", const=size)
    parser.set_defaults(size="full")
    return parser


class Failure(Exception):
    """A program that did not do what it should."""


def machine_busy():
    """Seconds of CPU time that all processes, and the hypervisor, have used so far."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(field) for field in stat.readline().split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = ticks
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def children_busy():
    """Seconds of CPU time of all children that have been waited for, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Stopwatch:
    """What has been used since it was made."""

    def __init__(self):
        self.began, self.busy, self.own = time.monotonic(), machine_busy(), children_busy()

    def wall(self):
        return time.monotonic() - self.began

    def cpu(self):
        return children_busy() - self.own

    def others(self):
        """The share of the machine that was used, but not by children of ours."""
        strangers = machine_busy() - self.busy - self.cpu()
        return max(0.0, strangers / (self.wall() * os.cpu_count()))


def adopt_orphans():
    """From now on a descendant that loses its parent becomes a child of this process, so
    that the CPU time of a daemon counts too."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def wait_for_orphans(seconds, must_end=True):
    """Waits until no child is left; the largest peak, in KiB, of those that were. Those
    that do not end in time are ended, which is a failure unless it was expected."""
    deadline = time.monotonic() + seconds
    late, peak = False, 0
    while True:
        try:
            pid, _status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            break
        peak = max(peak, usage.ru_maxrss)
        if pid == 0 and time.monotonic() > deadline:
            late = True
            for child in children():
                os.kill(child, signal.SIGKILL)
        if pid == 0:
            time.sleep(0.01)
    if late and must_end:
        raise Failure(f"left processes behind that did not end within {seconds} s")
    return peak


def children():
    text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    return [int(pid) for pid in text.split()]


def run_counted(command, cwd, env, timeout):
    """Runs a program and whatever it leaves behind: {wall, cpu, peak, others, out}, with
    wall in seconds until the program itself ends, cpu in seconds of it and all its
    descendants, and peak in bytes of the largest process. Peak is never less than what
    this process has used, since a child starts as a copy of it."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        watch = Stopwatch()
        try:
            process = subprocess.Popen(command, cwd=cwd, env=env, stdout=out, stderr=err,
                                       stdin=subprocess.DEVNULL)
        except OSError as error:
            raise Failure(str(error)) from error
        try:
            usage = wait_until(process, time.monotonic() + timeout)
            wall = watch.wall()
            peak = max(usage.ru_maxrss, wait_for_orphans(timeout))
        except BaseException:  # also when the user has had enough
            wait_for_orphans(0, must_end=False)
            process.returncode = process.returncode or -signal.SIGKILL
            raise
        result = {"wall": wall, "cpu": watch.cpu(), "peak": peak * 1024,
                  "others": watch.others()}
        out.seek(0)
        err.seek(0)
        result["out"] = out.read()
        if process.returncode != 0:
            why = err.read().strip() or result["out"].strip()[-400:]
            raise Failure(why or f"exit code {process.returncode}")
    return result


def wait_until(process, deadline):
    """The usage of a child, which has ended then; one that does not in time is ended."""
    pause, late = 0.0002, False
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline and not late:
            process.kill()
            late = True
        time.sleep(pause)
        pause = min(0.005, pause * 1.2)
    process.returncode = os.waitstatus_to_exitcode(status)
    if late:
        raise Failure("no end in time")
    return usage


def quiet_runs(runs):
    """The runs that count, and whether they were quiet."""
    quiet = [run for run in runs if run["others"] <= QUIET]
    return quiet or runs, bool(quiet)


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def number_text(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def cell(entry):
    return number_text(entry["best"]) + ("" if entry["quiet"] else "*") if entry else "-"


def ratio_text(ours, theirs):
    """How many times as much the other needs."""
    if not ours or not theirs or ours["best"] == 0:
        return "-"
    mark = "" if ours["quiet"] and theirs["quiet"] else "*"
    return f"{theirs['best'] / ours['best']:.0f}x{mark}"


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def machine():
    return {"cpu": cpu_model(), "cores": os.cpu_count(), "kernel": platform.release(),
            "load": os.getloadavg()[0]}


def machine_text(about):
    return (f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, "
            f"load {about['load']:.2f} at the start")


def write_json(path, document):
    text = json.dumps(document, indent=1)
    if path == "-":
        print(text)
    else:
        Path(path).write_text(text + "\n", encoding="utf-8")
