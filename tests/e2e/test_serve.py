"""bitzel serve: builds and answers for other programs, on a socket."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

import bitzel
from serving import TIMEOUT, Client, Serving, hand_over, is_alive

KILLED = """\
import sys, time
sys.path.insert(0, sys.argv[1])
from serving import Client
client = Client(sys.argv[2])
client.write(sys.argv[3].encode())
client.until(1, "started")
print("runs", flush=True)
time.sleep(600)
"""


class Requests(Serving):
    """What can be asked for, and what comes of it."""

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def test_a_build_streams_its_events_and_ends_with_its_summary(self):
        client = self.client()
        parts, result = client.finish(client.send("build", **self.request("dough")))
        events = [part for part in parts if part["event"] not in ("message", "traffic")]
        self.assertEqual([e["event"] for e in events], ["begin", "planned", "started", "done", "end"])
        self.assertEqual(events[2]["task"], "dough:do_compile")
        said = [part["text"] for part in parts if part["event"] == "message"]
        self.assertRegex(said[0], r"^Executed dough:do_compile \([0-9a-f]{8}\) in ")
        self.assertEqual(result["status"], 0)
        end = json.loads(result["data"])
        self.assertEqual((end["exit_code"], end["summary"]["executed"]), (0, 1))
        again, result = client.finish(client.send(1, **self.request("dough")))
        self.assertEqual([p["task"] for p in again if p["event"] == "cached"], ["dough:do_compile"])
        self.assertEqual(json.loads(result["data"])["summary"]["executed"], 0)

    def test_questions_are_answered_as_the_command_answers(self):
        client, env = self.client(), self.environment()
        lines = {"plan": ({"targets": ["pizza"]}, ["pizza"]),
                 "graph": ({"targets": ["pizza"], "options": {"recipes": True}}, ["--recipes", "pizza"]),
                 "getvar": ({"variable": "PN", "options": {"recipe": "dough"}}, ["-r", "dough", "PN"])}
        for opcode, (args, line) in lines.items():
            with self.subTest(opcode=opcode):
                result = client.ask(opcode, project=self.project, env=env, **args)
                self.assertEqual((result["status"], result["final"]), (0, True), result)
                plain = self.run_bitzel("--directory", self.project, opcode, "--json", *line)
                self.assertEqual(json.loads(result["data"]), plain.json)
        self.build("-c", "compile", "dough")
        self.write("meta-kitchen/recipes/dough.bb", 'SALT = "more"\n')
        why = client.ask("why", project=self.project, env=env, targets=["dough:do_compile"])
        plain = self.run_bitzel("--directory", self.project, "why", "--json", "dough:do_compile")
        self.assertEqual((why["status"], plain.code), (0, 0), (why, plain))
        self.assertEqual(json.loads(why["data"]), plain.json)
        for args, key in (({}, "store"), ({"command": "ls"}, "results"), ({"command": "du"}, None)):
            answer = client.ask("cache", project=self.project, env=env, **args)
            self.assertEqual(answer["status"], 0, answer)
            self.assertIn(key or "", [*json.loads(answer["data"]), ""])

    def warmers(self):
        """The processes that keep projects of this server read."""
        tasks = pathlib.Path(f"/proc/{self.server.pid}/task")
        children = " ".join((task / "children").read_text() for task in tasks.iterdir()).split()
        return [int(pid) for pid in children
                if b"\0warm\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]

    def test_a_project_that_was_asked_about_stays_read(self):
        client, env = self.client(), self.environment()
        ask = {"project": self.project, "env": env}
        client.ask("getvar", **ask, variable="PN", options={"recipe": "dough"})
        client.ask("plan", **ask, targets=["dough"])
        deadline = time.monotonic() + TIMEOUT
        while len(self.warmers()) != 1:
            self.assertLess(time.monotonic(), deadline, self.warmers())
            time.sleep(0.01)
        snapshot = pathlib.Path(self.project) / "cache/bitzel.catalog"

        def wait_for(what):
            while what.encode() not in (snapshot.read_bytes() if snapshot.exists() else b""):
                self.assertLess(time.monotonic(), deadline, what)
                time.sleep(0.01)
        # An edit, a new recipe, a broken configuration and its mending: nobody asks, and
        # all of it is read.
        self.write("meta-kitchen/recipes/dough.bb", 'PROVIDES += "virtual/edited"\n')
        wait_for("virtual/edited")
        self.write("meta-kitchen/recipes/fresh.bb", 'PROVIDES += "virtual/added"\n')
        wait_for("virtual/added")
        self.write("build/conf/local.conf", "require nowhere.inc\n")
        time.sleep(0.5)
        self.write("build/conf/local.conf", 'PREFERRED_PROVIDER_virtual/mended = "fresh"\n')
        wait_for("virtual/mended")
        time.sleep(0.5)  # what it has written itself is nothing new
        before = snapshot.stat()
        time.sleep(1)
        after = snapshot.stat()
        self.assertEqual((after.st_ino, after.st_size), (before.st_ino, before.st_size))
        result = self.run_bitzel("--directory", self.project, "parse", "--json")
        self.assertEqual(result.json["parsed"], 0, result)
        pids = self.warmers()
        self.assertEqual(len(pids), 1)
        self.server.kill()
        while is_alive(pids[0]):
            self.assertLess(time.monotonic(), deadline, "it outlives the server")
            time.sleep(0.01)

    def test_what_fails_is_told(self):
        client, env = self.client(), self.environment()
        base = {"project": self.project, "env": env}
        parts, result = client.finish(client.send("build", **base, targets=["nothing"]))
        self.assertEqual(json.loads(result["data"]), {"exit_code": 3, "summary": None})
        self.assertIn("error: nothing provides 'nothing'", [p.get("text") for p in parts])
        wrong = [
            ("getvar", {**base, "variable": "NOBODY"}, -8, "exit status 3: NOBODY is not set"),
            ("plan", {**base, "targets": ["a"], "options": {"tsak": "x"}}, -2, "there is no option 'tsak'; did you mean 'task'?"),
            ("build", {**base, "targets": ["a"], "options": {"events": "/f"}}, -2, "the option 'events' makes no sense here"),
            ("build", {**base, "targets": ["a"], "options": {"directory": "/"}}, -2, "there is no option 'directory'"),
            ("build", {**base, "targets": ["a"], "options": {"force": 1}}, -2, "option force"),
            ("build", {**base, "targets": []}, -2, "the argument 'targets' is missing"),
            ("build", {**base, "targets": "a"}, -2, "targets"),
            ("build", {"targets": ["a"]}, -2, "the argument 'project' is missing"),
            ("build", {"project": "build", "targets": ["a"]}, -2, "absolute"),
            ("build", {"project": f"{self.dir}/none", "targets": ["a"]}, -8, "is not there"),
            ("build", {**base, "targets": ["a"], "argv": ["x"]}, -2, "there is no argument 'argv'"),
            ("build", {"project": self.project, "env": {"A=B": ""}, "targets": ["a"]}, -2, "A=B"),
            ("cache", {**base, "command": "gc"}, -2, "none of info, du and ls"),
            ("cancel", {"task": 1}, -2, "task_id"),
            ("nonsense", {}, -1, "unknown opcode"),
        ]
        for opcode, args, status, why in wrong:
            with self.subTest(opcode=opcode, args=args):
                result = client.ask(opcode, **args)
                self.assertEqual(result["status"], status, result)
                self.assertIn(why, result["error"])

    def test_targets_are_never_options(self):
        client = self.client()
        _, result = client.finish(client.send("build", project=self.project, targets=["--version"]))
        self.assertNotEqual(json.loads(result["data"])["exit_code"], 0)

    def test_a_thousand_malformed_requests_hurt_nobody(self):
        bad, good = self.client(), self.client()
        kinds = [b"{", b"[]", b"{}", b"null", b'{"opcode": 99999}', b'{"opcode": 1, "args": []}',
                 b'{"opcode": "build", "args": {"project": 7}}', b"\xff\xfe", b'{"opcode": "' + b"x" * 500,
                 b'{"opcode": "plan", "args": {"project": "/", "targets": [1]}}']
        for i in range(1000):
            bad.write(kinds[i % len(kinds)])
            if i % 100 == 99:
                for _ in range(100):
                    self.assertLess(bad.read()["status"], 0)
        self.assertEqual(good.ask("status")["status"], 0)
        self.assertEqual(bad.ask("status")["status"], 0)

    def test_a_build_is_canceled_gently(self):
        self.gate("dough")
        client = self.client()
        build = client.send("build", **self.request("dough"))
        client.until(build, "started")
        self.assertEqual(json.loads(client.ask("cancel", task_id=build)["data"]), {"canceled": True})
        parts, result = client.finish(build)
        self.assertIn("Stopping", "".join(p.get("text", "") for p in parts))
        end = json.loads(result["data"])
        self.assertEqual((result["status"], end["exit_code"]), (0, 130))
        self.assertFalse(end["summary"]["success"])
        self.assertEqual(json.loads(client.ask("cancel", task_id=build)["data"]), {"canceled": False})
        other = self.client()
        self.assertEqual(json.loads(other.ask("cancel", task_id=build)["data"]), {"canceled": False})

    def test_builds_of_one_project_wait_for_each_other(self):
        gate = self.gate("dough")
        first, second = self.client(), self.client()
        one = first.send("build", **self.request("dough"))
        first.until(one, "started")
        two = second.send("build", **self.request("sauce"))
        waiting = json.loads(second.next(two)["data"])
        self.assertEqual(waiting["event"], "waiting")
        self.assertEqual((waiting["for"]["targets"], waiting["for"]["state"]), (["dough"], "runs"))
        self.assertEqual([b["state"] for b in self.builds()], ["runs", "waits"])
        three = second.send("build", **self.request("sauce"))
        second.until(three, "waiting")
        second.ask("cancel", task_id=three)
        self.assertEqual(json.loads(second.finish(three)[1]["data"])["exit_code"], 130)
        gate.open()
        for client, task in ((first, one), (second, two)):
            self.assertEqual(json.loads(client.finish(task)[1]["data"])["exit_code"], 0)

    def test_who_does_not_read_keeps_no_other_build_of_the_project_waiting(self):
        tasks = "".join(f"do_t{i}() {{\n    :\n}}\naddtask t{i} before do_compile\n" for i in range(8000))
        self.write("meta-kitchen/recipes/sauce.bb", tasks)
        lazy, client = self.client(), self.client()
        much = lazy.send("build", **self.request("sauce", **{"dry-run": True}))
        self.assertEqual(json.loads(lazy.next(much)["data"])["event"], "begin")
        _, result = client.finish(client.send("build", **self.request("dough")))
        self.assertEqual(json.loads(result["data"])["exit_code"], 0)
        parts, result = lazy.finish(much)
        result = json.loads(result["data"])
        lost = sum(part["count"] for part in parts if part["event"] == "lost") + result.get("lost", 0)
        self.assertEqual(result["exit_code"], 0)
        self.assertGreater(lost, 0)
        # All tasks, begin, planned and end; do_compile is one of them.
        told = sum(part["event"] == "wanted" for part in parts)
        self.assertLessEqual(told + lost, 8000 + 1 + 2)
        self.assertGreaterEqual(told + lost, 8000 + 1)

    def test_builds_of_different_projects_run_side_by_side(self):
        gate = self.gate("dough")
        client = self.client()
        one = client.send("build", **self.request("dough"))
        client.until(one, "started")
        shutil.copytree(self.dir / "meta-kitchen", self.dir / "other/meta-kitchen")
        shutil.copytree(self.dir / "build/conf", self.dir / "other/build/conf")
        (self.dir / "other/meta-kitchen/recipes/dough.bb").write_text('SALT = "none"\n')
        other = {**self.request("dough"), "project": str(self.dir / "other/build")}
        _, result = client.finish(client.send("build", **other))
        self.assertEqual(json.loads(result["data"])["exit_code"], 0)
        self.assertEqual(len(self.builds()), 1)
        gate.open()
        self.assertEqual(json.loads(client.finish(one)[1]["data"])["exit_code"], 0)

    def test_a_client_that_is_killed_takes_its_build_with_it_and_no_other(self):
        gate = self.gate("dough")
        text = json.dumps({"opcode": "build", "task_id": 1, "args": self.request("dough")})
        with subprocess.Popen([sys.executable, "-B", "-c", KILLED, os.path.dirname(__file__), self.socket,
                               text], stdout=subprocess.PIPE) as victim:
            self.assertEqual(victim.stdout.readline(), b"runs\n")
            pid = self.builds()[0]["pid"]
            client = self.client()
            mine = client.send("build", **self.request("sauce"))
            client.until(mine, "waiting")
            victim.kill()
        self.assertEqual(json.loads(client.finish(mine)[1]["data"])["exit_code"], 0)
        self.assertFalse(is_alive(pid))
        self.assertEqual(gate.waiting(), [])
        deadline = time.monotonic() + TIMEOUT
        while self.builds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_the_environment_is_that_of_the_request(self):
        for extra, jobs in ((None, "3"), ({"BITZEL_JOBS": "5"}, "5")):
            client = self.client()
            args = self.request("dough")
            if extra:
                args["env"] = {**args["env"], **extra}
            else:
                args["options"]["jobs"] = jobs
            build = client.send("build", **args)
            self.assertEqual(str(client.until(build, "begin")["jobs"]), jobs)
            client.finish(build)


class Lives(Serving):
    """How servers begin and end."""

    def test_of_the_servers_environment_only_who_and_where_the_user_is_counts(self):
        self.serve(env={"BITZEL_JOBS": "7", "BITZEL_CACHE_DIR": str(self.dir / "leak")})
        client = self.client()
        args = self.request("dough")
        del args["env"]
        build = client.send("build", **args)
        self.assertNotEqual(client.until(build, "begin")["jobs"], 7)
        self.assertEqual(json.loads(client.finish(build)[1]["data"])["exit_code"], 0)
        self.assertFalse((self.dir / "leak").exists())
        self.assertTrue((self.dir / ".cache/bitzel").exists())

    def test_it_ends_when_it_is_told_to_and_says_so_to_those_who_wait(self):
        server = self.serve()
        self.gate("dough")
        client = self.client()
        build = client.send("build", **self.request("dough"))
        client.until(build, "started")
        server.send_signal(signal.SIGTERM)
        self.assertEqual(json.loads(client.finish(build)[1]["data"])["exit_code"], 130)
        self.assertEqual(server.wait(TIMEOUT), 0)
        self.assertFalse(self.socket.exists())

    def test_it_ends_when_nobody_comes(self):
        server = self.serve("--idle", "1")
        with Client(self.socket) as client:
            client.ask("status")
            time.sleep(1.5)  # longer than it would wait for nobody
            client.ask("status")
        self.assertEqual(server.wait(TIMEOUT), 0)
        self.assertFalse(self.socket.exists())

    def test_there_is_one_at_a_socket_and_one_that_was_killed_is_none(self):
        server = self.serve()
        second = self.run_bitzel("serve", "--socket", self.socket)
        self.assert_exit(second, 4)
        self.assertIn(f"another server is at {self.socket} (pid {server.pid})", second.err)
        shown = self.run_bitzel("serve", "--socket", self.socket, "--status", "--json")
        self.assertEqual(shown.json["pid"], server.pid)
        server.kill()
        server.wait(TIMEOUT)
        self.assertTrue(self.socket.exists())
        self.assert_exit(self.run_bitzel("serve", "--socket", self.socket, "--status"), 3)
        other = self.serve()
        self.assert_exit(self.run_bitzel("serve", "--socket", self.socket, "--stop"), 0)
        self.assertEqual(other.wait(TIMEOUT), 0)

    def test_others_are_kept_out(self):
        self.socket.parent.mkdir(mode=0o777)
        os.chmod(self.socket.parent, 0o777)
        result = self.run_bitzel("serve", "--socket", self.socket)
        self.assert_exit(result, 2)
        self.assertIn("others may write to", result.err)

    def test_the_socket_is_private_by_default(self):
        for env, path in (({"XDG_RUNTIME_DIR": str(self.dir / "r")}, "r/bitzel/serve.sock"),
                          ({"XDG_RUNTIME_DIR": ""}, ".local/state/bitzel/serve.sock")):
            with self.subTest(path=path):
                none = self.run_bitzel("serve", "--status", env=env)
                self.assert_exit(none, 3)
                self.assertIn(f"no server is at {self.dir / path}:", none.err)

    def test_a_socket_that_is_handed_over_is_used(self):
        listener, server = hand_over(
            self.socket, [bitzel.PROGRAM, "serve", "--socket", self.socket],
            env=self.environment(), cwd=self.dir, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, server)
        self.addCleanup(listener.close)
        with Client(self.socket) as client:
            self.assertEqual(json.loads(client.ask("status")["data"])["pid"], server.pid)
        self.assertEqual(self.end(server), 0)
        self.assertTrue(self.socket.exists())  # whoever made it keeps it

    def test_what_is_no_socket_is_refused(self):
        result = self.run_bitzel("serve", env={"LISTEN_FDS": "2", "LISTEN_PID": "1",
                                               "XDG_RUNTIME_DIR": str(self.dir / ("r" * 120))})
        self.assert_exit(result, 2)  # meant for another process; then the path counts
        self.assertIn("too long for a socket", result.err)


if __name__ == "__main__":
    unittest.main()
