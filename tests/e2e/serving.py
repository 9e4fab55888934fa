"""A server and clients of `bitzel serve`, for tests: nothing but sockets and JSON."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import bitzel
from test_build import Kitchen

TIMEOUT = 120  # seconds; only a test that fails waits so long

# Waits until somebody outside ends the sleep, whose time is its name.
GATED = '''\
do_compile() {
    sleep %s || :
    echo done > made
}
'''


class Gate:
    """What holds a task up until it is opened."""

    def __init__(self):
        self.name = f"3600.{os.getpid()}{time.monotonic_ns()}"

    def open(self):
        for pid in self.wait():
            os.kill(pid, signal.SIGTERM)

    def wait(self):
        """Until a task waits; the numbers of its processes."""
        deadline = time.monotonic() + TIMEOUT
        while not (pids := self.waiting()):
            if time.monotonic() > deadline:
                raise AssertionError("no task waits")
            time.sleep(0.01)
        return pids

    def waiting(self):
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if path.read_bytes() == f"sleep\0{self.name}\0".encode():
                    found.append(int(path.parent.name))
            except OSError:  # it has ended
                pass
        return found


class Client:
    """A connection. Results come in any order; those of one task in theirs."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rb")
        self.kept = []
        self.last = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.lines.close()
        self.socket.close()

    def send(self, opcode, **args):
        self.last += 1
        self.write({"opcode": opcode, "task_id": self.last, "args": args})
        return self.last

    def write(self, request):
        text = request if isinstance(request, bytes) else json.dumps(request).encode()
        self.socket.sendall(text + b"\n")

    def read(self):
        line = self.lines.readline()
        if not line:
            raise EOFError("the server has ended the connection")
        return json.loads(line)

    def next(self, task):
        """The next result of a task."""
        for i, result in enumerate(self.kept):
            if result["task_id"] == task:
                return self.kept.pop(i)
        while (result := self.read())["task_id"] != task:
            self.kept.append(result)
        return result

    def until(self, task, event, **fields):
        """Takes parts until one is of that kind; returns it."""
        while True:
            result = self.next(task)
            if result["final"]:
                raise AssertionError(f"no {event} before the end: {result}")
            part = json.loads(result["data"])
            if part["event"] == event and fields.items() <= part.items():
                return part

    def finish(self, task):
        """All parts that are left, and the last result."""
        parts = []
        while not (result := self.next(task))["final"]:
            parts.append(json.loads(result["data"]))
        return parts, result

    def ask(self, opcode, **args):
        return self.next(self.send(opcode, **args))


class Serving(Kitchen):
    """A kitchen with a server, unless a test starts its own."""

    def setUp(self):
        super().setUp()
        self.socket = self.dir / "run/s.sock"
        self.project = str(self.dir / "build")

    def serve(self, *args, env=None, **how):
        """Starts one, and waits until it listens."""
        server = subprocess.Popen(
            [bitzel.PROGRAM, "serve", "--socket", self.socket, *args], cwd=self.dir,
            env=self.environment(**(env or {})), stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, **how)
        self.addCleanup(server.stderr.close)
        self.addCleanup(self.end, server)
        line = server.stderr.readline()
        self.assertRegex(line, r"^bitzel serve \(pid \d+\) listens on /")
        return server

    def end(self, server):
        """Ends one; a test that expects something of that looks at what it returns."""
        if server.poll() is None:
            server.send_signal(signal.SIGTERM)
        return server.wait(TIMEOUT)

    def client(self):
        client = Client(self.socket)
        self.addCleanup(client.close)
        return client

    def gate(self, recipe):
        """Has a recipe wait, and returns what for."""
        gate = Gate()
        self.write(f"meta-kitchen/recipes/{recipe}.bb", GATED % gate.name)
        return gate

    def builds(self):
        """What the server says of its builds."""
        with Client(self.socket) as client:
            return json.loads(client.ask("status")["data"])["builds"]

    def request(self, *targets, **options):
        return {"project": self.project, "targets": list(targets),
                "options": {"task": "compile", **options}, "env": self.environment()}


def is_alive(pid):
    """Whether such a process runs; one that ended and was not waited for does not."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


LAUNCHER = """\
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execvp(sys.argv[2], sys.argv[2:])
"""


def hand_over(path, argv, **how):
    """Starts a program with a socket as its descriptor 3, as systemd does; returns the
    socket, too."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    fd = listener.fileno()
    return listener, subprocess.Popen([sys.executable, "-c", LAUNCHER, str(fd), *map(str, argv)],
                                      pass_fds=[fd], **how)
