#!/usr/bin/env python3
"""Measures what is asked of `bitzel serve` against the same asked of `bitzel` itself.

A project of parse/synth.py, whose recipes are remembered and in which nothing is to be
built. Each round asks the program and then the server, over one connection, for a
variable, a plan and a build with nothing to do, and has the server answer `status`, which
needs no process.

Exits 0 whatever the ratios are; 1 if a program failed.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parse"), str(HERE.parent)]
import meter  # noqa: E402
import synth  # noqa: E402

RECIPES = {"full": 1000, "quick": 1000, "smoke": 8}
ROUNDS = {"full": 31, "quick": 11, "smoke": 1}
LINES = {"getvar": (["getvar", "--json", "MACHINE"], {"variable": "MACHINE"}),
         "getvar -r": (["getvar", "--json", "-r", "all", "PN"], {"variable": "PN", "options": {"recipe": "all"}}),
         "plan": (["plan", "--json", "all"], {"targets": ["all"]}),
         "build": (["build", "--json", "all"], {"targets": ["all"]})}


class Both:
    """The project, the program, and a server with a connection to it."""

    def __init__(self, bitzel, work, recipes, shape):
        self.bitzel, self.build = str(bitzel), work / "layer/build"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BB", "BITZEL"))}
        self.env.update(HOME=str(work), XDG_RUNTIME_DIR=str(work), LC_ALL="C.UTF-8")
        synth.Layer(work / "layer", recipes, **synth.SHAPES[shape]).write_all()
        self.server = subprocess.Popen([self.bitzel, "serve"], env=self.env, stderr=subprocess.PIPE, text=True)
        if " listens on " not in self.server.stderr.readline():
            raise meter.Failure("bitzel serve does not begin")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(work / "bitzel/serve.sock"))
        self.lines = self.socket.makefile()
        time.sleep(0.1)
        for _ in range(3):  # until what can be remembered is
            for what in LINES:
                self.ask_program(what)
            time.sleep(0.1)

    def ask_program(self, what):
        began = time.monotonic()
        done = subprocess.run([self.bitzel, *LINES[what][0]], cwd=self.build, env=self.env, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise meter.Failure(done.stderr)
        return time.monotonic() - began

    def ask_server(self, opcode, args):
        began = time.monotonic()
        self.socket.sendall(json.dumps({"opcode": opcode, "task_id": 1, "args": args}).encode() + b"\n")
        while not (result := json.loads(self.lines.readline()))["final"]:
            pass
        took = time.monotonic() - began
        if result["status"] != 0 or '"exit_code"' in result["data"] and '"exit_code": 0' not in result["data"]:
            raise meter.Failure(str(result)[:400])
        return took

    def close(self):
        self.socket.close()
        self.server.terminate()
        self.server.wait()
        self.server.stderr.close()


def measure(both, rounds):
    runs = {(what, how): [] for what in (*LINES, "status") for how in ("program", "server")}
    args = {"project": str(both.build), "env": both.env}
    for number in range(rounds):
        meter.progress(f"round {number + 1} of {rounds}")
        for what, (_, more) in LINES.items():
            runs[what, "program"].append(both.ask_program(what))
            runs[what, "server"].append(both.ask_server(what.split()[0], {**args, **more}))
        runs["status", "server"].append(both.ask_server("status", {}))
    meter.progress("")
    return runs


def show(runs):
    print(f"{'ms, best and median':20}{'program':>16}{'server':>16}{'ratio':>8}")
    for what in (*LINES, "status"):
        cells, bests = "", []
        for how in ("program", "server"):
            took = sorted(runs[what, how])
            cells += f"{took[0] * 1e3:8.1f}{took[len(took) // 2] * 1e3:8.1f}" if took else f"{'-':>16}"
            bests += took[:1]
        print(f"{what:20}{cells}" + (f"{bests[0] / bests[1]:7.2f}x" if len(bests) == 2 else ""))


def main():
    parser = meter.arguments(__doc__)
    parser.add_argument("--shape", choices=synth.SHAPES, default="flat")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bz-bench-", dir=options.work) as work:
        both = None
        try:
            print(meter.machine_text(meter.machine()))
            both = Both(options.bitzel, Path(work), RECIPES[options.size], options.shape)
            runs = measure(both, options.rounds or ROUNDS[options.size])
            show(runs)
            if options.json:
                meter.write_json(options.json, {" ".join(row): took for row, took in runs.items()})
        except (meter.Failure, OSError) as failure:
            print(f"error: {failure}", file=sys.stderr)
            return 1
        finally:
            if both:
                both.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
