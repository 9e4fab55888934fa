"""bitzel build --via: a server builds, and it looks as if it were here."""

import json
import os
import re
import signal
import socket
import subprocess
import threading
import unittest

import bitzel
from serving import TIMEOUT, Gate, Serving

STUBBORN = '''\
do_compile() {
    trap : TERM INT
    while :; do sleep %s || :; done
}
'''


def without_times(text):
    return re.sub(r"\d+\.\d+s", "N", re.sub(r'"milliseconds": \d+', "", text))


class Via(Serving):
    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def via(self, *args, code=0, **how):
        return self.build("--via", self.socket, *args, code=code, **how)

    def start(self, *args):
        """One that goes on while the test does something else."""
        child = subprocess.Popen(
            [bitzel.PROGRAM, "--directory", self.project, "build", "--via", self.socket, *args],
            cwd=self.dir, env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.kill)
        return child

    def test_it_says_and_does_what_a_build_here_does(self):
        self.write("meta-kitchen/recipes/burnt.bb", "do_compile() {\n    echo 'error: too hot'\n    exit 3\n}\n")
        for code, *args in ((0, "-j1", "pizza"), (0, "pizza"), (0, "--json", "pizza"), (0, "-n", "--no-cache", "pizza"),
                            (1, "-j1", "--no-cache", "burnt"), (3, "nothing"), (2, "--jobs=none", "pizza"),
                            (0, "-q", "pizza"), (0, "--color=always", "pizza"), (2, "--set", "jobs=x", "pizza")):
            with self.subTest(args=args):
                far = self.via(*args, code=code)
                if args[0] == "-j1" and code == 0:
                    self.assertRegex(far.out, r"^Build completed in [0-9.]+s \(9 tasks executed, 0 from cache\)\n$")
                    self.assertEqual((self.out("pizza") / "image/bin/pizza").read_text(),
                                     "dough with a pinch\nsauce with a pinch\nbasil\n")
                    continue
                here = self.build(*args, code=code)
                self.assertEqual(without_times(far.out), without_times(here.out))
                hide = r"[0-9a-f]{8,}|/tmp/\S+|log: .*"
                self.assertEqual(re.sub(hide, "", without_times(far.err)), re.sub(hide, "", without_times(here.err)))

    def test_events_and_settings_go_along(self):
        log = self.dir / "events"
        self.via("-c", "compile", "dough", "--events", log, env={"BITZEL_JOBS": "3"})
        events = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual([e["event"] for e in events if e["event"] != "traffic"], ["begin", "planned", "started", "done", "end"])
        self.assertEqual(events[0]["jobs"], 3)
        result = self.build("-c", "compile", "dough", env={"BITZEL_VIA": str(self.dir / "none")}, code=4)
        self.assertIn(f"no server is at {self.dir}/none: start one with 'bitzel serve'", result.err)
        self.build("-c", "compile", "dough", "--via=", env={"BITZEL_VIA": str(self.dir / "none")})

    def test_the_setting_does_not_lead_in_circles(self):
        self.write("build/conf/bitzel.conf", f"via = {self.socket}\n")
        self.assertEqual(self.build("-c", "compile", "dough").code, 0)

    def test_it_is_interrupted_once(self):
        gate = self.gate("dough")
        child = self.start("-c", "compile", "dough")
        gate.wait()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 130, err)
        self.assertIn("Stopping the tasks that run; once more to kill them\n", err)
        self.assertRegex(out, "^Build interrupted in ")
        self.assertEqual(gate.waiting(), [])

    def test_it_is_interrupted_twice(self):
        gate = Gate()
        self.write("meta-kitchen/recipes/dough.bb", STUBBORN % gate.name)
        child = self.start("-c", "compile", "dough")
        gate.wait()
        child.send_signal(signal.SIGTERM)
        self.assertIn("Stopping", child.stderr.readline())
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 143, err)
        self.assertRegex(out, "^Build interrupted in ")

    def test_whoever_is_killed_leaves_no_build_behind(self):
        gate = self.gate("dough")
        child = self.start("-c", "compile", "dough")
        gate.wait()
        child.kill()
        self.assertEqual(self.via("-c", "compile", "sauce").code, 0)
        self.assertEqual(gate.waiting(), [])

    def test_who_waits_is_told_for_whom(self):
        gate = self.gate("dough")
        first = self.start("-c", "compile", "dough")
        gate.wait()
        second = self.start("-c", "compile", "sauce")
        self.assertEqual(second.stderr.readline(), "Waiting for another build of this project: dough\n")
        gate.open()
        for child in (first, second):
            out, err = child.communicate(timeout=TIMEOUT)
            self.assertEqual(child.returncode, 0, err)
            self.assertRegex(out, "^Build completed in ")

    def test_a_server_that_ends_is_told_of(self):
        gate = self.gate("dough")
        child = self.start("-c", "compile", "dough")
        gate.wait()
        pid = self.builds()[0]["pid"]
        self.server.kill()
        _, err = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 4, err)
        self.assertIn("error: the server has ended the connection", err)
        os.kill(pid, signal.SIGKILL)

    def test_a_terminal_shows_what_runs(self):
        # Longer than lines are kept back, so that the end of the task shows them at the latest.
        self.write("meta-kitchen/recipes/dough.bb", "do_compile() {\n    sleep 0.5\n    echo done > made\n}\n")
        shown = self.run_in_terminal("--directory", self.project, "build", "--via", self.socket, "-c",
                                     "compile", "dough")
        self.assert_exit(shown, 0)
        self.assertRegex(shown.out, r"\[ *\d+%\]\S* .*executed")
        self.assertRegex(shown.out, r"Build completed\S* in ")
        again = self.run_in_terminal("--directory", self.project, "build", "--via", self.socket, "-c",
                                     "compile", "dough")
        self.assertNotIn("Cached", again.out)


class Strangers(Serving):
    """What is there is no server of ours."""

    def answer(self, *lines):
        self.socket.parent.mkdir(mode=0o700)
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(self.socket))
        listener.listen()

        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                for line in lines:
                    connection.sendall(line.encode() + b"\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        self.addCleanup(thread.join, TIMEOUT)

    def test_another_version_is_told_clearly(self):
        status = json.dumps({"bitzel": "9.9.9", "protocol": 1, "pid": 77, "builds": []})
        self.answer(json.dumps({"task_id": 1, "status": 0, "final": True, "data": status}))
        result = self.build("--via", self.socket, "dough", code=4)
        self.assertIn("is bitzel 9.9.9 (pid 77), this is ", result.err)

    def test_nonsense_is_an_error(self):
        self.answer("220 mail.example.org ESMTP")
        result = self.build("--via", self.socket, "dough", code=4)
        self.assertIn("what the server says is wrong", result.err)


if __name__ == "__main__":
    unittest.main()
