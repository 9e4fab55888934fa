"""What every end-to-end test needs: the program, a directory of its own, a terminal.

The program under test is named by the environment variable BITZEL.
"""

import fcntl
import json
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest

PROGRAM = os.environ.get("BITZEL", "bitzel")
TIMEOUT = 60  # seconds; far more than any call takes, also under a sanitizer

# What decides how bitzel behaves; a test sets what it is about and nothing else counts.
UNSET = ("BBPATH", "BBPOSTCONF", "BBPRECONF", "BB_ENV_PASSTHROUGH",
         "BB_ENV_PASSTHROUGH_ADDITIONS", "BB_PRESERVE_ENV", "BITZEL_PROJECT", "BUILDDIR",
         "CI", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "GITHUB_ACTIONS", "GITLAB_CI", "KAS_BUILD_DIR", "KAS_WORK_DIR", "NO_COLOR", "TERM",
         "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
# What a command that signs says in a directory where nothing was built yet.
ASSUMED = "note: no build has found out whether sandboxes work here; assuming that they do\n"
SETTINGS = ("BITZEL_CACHE_", "BITZEL_COLOR", "BITZEL_JOBS", "BITZEL_STATE_")


class Result:
    """How a run of bitzel ended and what it said."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out!r}\nstderr: {self.err!r}"

    @property
    def said(self):
        """Standard error, but for the note about sandboxes."""
        return self.err.replace(ASSUMED, "", 1)

    @property
    def json(self):
        return json.loads(self.out)


class Case(unittest.TestCase):
    """A test with a fresh directory, which is also the home of bitzel's user."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="bitzel-e2e-")
        self.addCleanup(temporary.cleanup)
        self.dir = pathlib.Path(temporary.name).resolve()

    def environment(self, **changes):
        env = {k: v for k, v in os.environ.items() if k not in UNSET and not k.startswith(SETTINGS)}
        env.update(HOME=str(self.dir), LC_ALL="C.UTF-8", BITZEL_NO_SAMPLE="1")
        env.update(changes)
        return env

    def program_for_all(self):
        """The program, where any user may run it: a checkout may be root's alone."""
        copy = self.dir / "program-for-all"
        if not copy.exists():
            shutil.copy(PROGRAM, copy)
            copy.chmod(0o755)
        return copy

    def run_bitzel(self, *args, env=None, program=PROGRAM, **how):
        """Runs to the end. Standard input is empty; `how` goes to subprocess.run."""
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": TIMEOUT, **how}
        done = subprocess.run([program, *map(str, args)], stdin=subprocess.DEVNULL,
                              cwd=self.dir, env=self.environment(**(env or {})),
                              check=False, **how)
        text = [(s or b"").decode("utf-8", "replace") for s in (done.stdout, done.stderr)]
        return Result(done.returncode, *text)

    def run_in_terminal(self, *args, columns=80, env=None):
        """Runs on a terminal of its own, where stdout and stderr are one."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = self.environment(**{"TERM": "xterm", **(env or {})})
        with subprocess.Popen([PROGRAM, *map(str, args)], stdin=theirs, stdout=theirs,
                              stderr=theirs, cwd=self.dir, env=env) as child:
            os.close(theirs)
            text = b""
            try:
                while part := os.read(ours, 65536):
                    text += part
            except OSError:  # EIO: the last holder of the terminal is gone
                pass
            os.close(ours)
            code = child.wait(TIMEOUT)
        return Result(code, text.decode().replace("\r\n", "\n"), "")

    def assert_exit(self, result, code):
        self.assertEqual(result.code, code, result)

    def commands(self):
        """The names that the overview lists."""
        text = self.run_bitzel("help").out
        section = text.split("\nCommands:\n", 1)[1].split("\n\n", 1)[0]
        return [line.split()[0] for line in section.splitlines()]


main = unittest.main
