"""libbitzel from Python, with nothing but ctypes; and from Lua, with nothing but its FFI."""

import ctypes
import http.server
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent


sys.path.insert(0, str(HERE.parent / "e2e"))
from serving import TIMEOUT, Serving  # noqa: E402

# By its path, since the tests have a module of that name.
spec = importlib.util.spec_from_file_location("binding", HERE.parents[1] / "lib/bindings/bitzel.py")
binding = importlib.util.module_from_spec(spec)
spec.loader.exec_module(binding)

FOLLOW = {"python": [sys.executable, "-B", HERE / "follow.py"], "lua": ["luajit", HERE / "follow.lua"]}
TASKS = [f"dough:do_{task}" for task in ("compile", "install", "populate_sysroot")]

# A process of its own that attaches, asks, and says what it got.
ATTACHED = """
import sys
sys.path.insert(0, sys.argv[1])
import bitzel
with bitzel.attach(sys.argv[2]) as jobs:
    for text in sys.argv[3:]:
        result = jobs.wait(jobs.submit(text), 30)
        print(result.status, result.text, result.error)
"""


class Slow(http.server.BaseHTTPRequestHandler):
    """Sends the second half of an answer when somebody has the first."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        question = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in (question, b" world", b""):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
            if chunk == question and not self.server.seen.wait(60):
                return

    def log_message(self, *_):
        pass


class Bindings(unittest.TestCase):
    def setUp(self):
        os.environ["no_proxy"] = "127.0.0.1"
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        self.config = self.dir / "config"
        self.config.write_text(f"thread_count=2\n3=memory_write\n5=file_read\nroot={self.dir}\n")

    def test_python_writes_to_its_own_memory_and_reads_a_file(self):
        with binding.Jobs(self.config) as jobs:
            memory = ctypes.create_string_buffer(32)
            jobs.register_symbol("response_buffer", memory)
            (self.dir / "greeting").write_text("from a file")
            wanted = {jobs.submit({"opcode": 3, "args": {"write_to": "response_buffer",
                                                         "data": "Hello, world!"}}): b"13",
                      jobs.submit({"opcode": 5, "args": {"path": f"{self.dir}/greeting"}}): b"from a file"}
            for task, data in wanted.items():
                self.assertEqual(jobs.wait(task, 30).check().data, data)
            self.assertEqual(memory.value, b"Hello, world!")
            jobs.unregister_symbol("response_buffer")
            with self.assertRaisesRegex(binding.Error, "not registered"):
                jobs.unregister_symbol("response_buffer")

    def test_python_polls_is_called_back_and_cancels(self):
        with binding.Jobs(self.config) as jobs:
            heard, came = [], threading.Event()
            task = jobs.submit({"opcode": 99}, lambda r: (heard.append(r), came.set()))
            self.assertTrue(came.wait(30))
            self.assertEqual([(r.task_id, r.status, r.final, r.error) for r in heard],
                             [(task, binding.UNKNOWN_OPCODE, True, "unknown opcode")])
            with self.assertRaisesRegex(binding.Error, "unknown opcode"):
                heard[0].check()
            task = jobs.submit("{")
            while (result := jobs.poll(task)) is None:
                time.sleep(0.001)
            self.assertEqual(result.status, binding.INVALID_JSON)
            self.assertIsNone(jobs.poll(task))
            self.assertIs(jobs.cancel(task), False)

    def test_a_stream_from_a_web_server_arrives_as_it_is_sent(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
        server.daemon_threads = True
        server.seen = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        with binding.Jobs() as jobs:
            task = jobs.submit({"opcode": "http_post", "args": {
                "url": f"http://127.0.0.1:{server.server_port}/", "body": "hello", "stream": True}})
            parts = []
            for result in jobs.results(task):
                parts.append(result.check().data)
                server.seen.set()  # without this there would be no more
        self.assertEqual(parts[:-1], [b"hello", b" world"])
        answer = json.loads(parts[-1])
        self.assertEqual((answer["status"], answer["size"]), (200, 11))
        self.assertEqual(answer["headers"]["transfer-encoding"], "chunked")

    def start(self):
        jobs = binding.Jobs(self.config)
        self.addCleanup(jobs.close)
        return jobs

    def test_another_process_attaches(self):
        jobs = self.start()
        socket = self.dir / "run" / "socket"
        jobs.listen(socket)
        (self.dir / "greeting").write_text("from a file")
        done = subprocess.run(
            [sys.executable, "-B", "-c", ATTACHED, HERE.parents[1] / "lib/bindings", socket,
             f'{{"opcode": 5, "args": {{"path": "{self.dir}/greeting"}}}}', '{"opcode": 99}', "{"],
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual((done.returncode, done.stdout),
                         (0, "0 from a file \n-1 None unknown opcode\n"
                             "-2 None column 2: expected a string\n"))

    def test_nobody_is_there_to_attach_to(self):
        with self.assertRaisesRegex(binding.Error, "^no service is at /nowhere/socket$"):
            binding.attach("/nowhere/socket")

    def test_a_shell_appends_to_a_mailbox_and_reads_the_results(self):
        mail = self.dir / "mail"
        self.config.write_text(self.config.read_text() + f"watch={mail}\n")
        (self.dir / "greeting").write_text("from a file")
        self.start()
        subprocess.run(["sh", "-c", """
            printf '%s' '{"opcode": 5, "task_id": 42, ' >>"$1/mailbox-1.json"
            printf '%s\\n' '"args": {"path": "'"$2"'"}}' >>"$1/mailbox-1.json"
            """, "sh", mail, self.dir / "greeting"], check=True)
        results = mail / "results-1.json"
        for _ in range(3000):
            if results.exists() and results.read_text().endswith("\n"):
                break
            time.sleep(0.01)
        self.assertEqual(json.loads(results.read_text()),
                         {"task_id": 42, "status": 0, "final": True, "at": 0, "data": "from a file"})

    def test_a_wrong_config_is_told_with_its_line(self):
        self.config.write_text("thread_count=2\n3=nobody\n")
        with self.assertRaises(binding.Error) as caught:
            binding.Jobs(self.config)
        self.assertEqual(str(caught.exception), f"{self.config}:2: there is no handler nobody")

    def test_lua_submits_waits_and_is_told_what_fails(self):
        done = subprocess.run(["luajit", HERE / "jobs.lua", self.config], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "\n".join([
            "5", "hello", "-1 unknown opcode", "1", "false",
            "false\tmemory is not registered", "false\tno service is at /nowhere/socket", ""])))

    def test_the_header_is_for_c_and_c_plus_plus(self):
        header = HERE.parents[1] / "lib/include/bitzel/jobs.h"
        for args in (["cc", "-std=c99", "-x", "c"], ["c++", "-std=c++11", "-x", "c++"]):
            if shutil.which(args[0]):
                subprocess.run([*args, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
                                header], check=True)


class Builds(Serving):
    """Real builds of `bitzel serve`, through the memory that libbitzel shares with it."""

    def setUp(self):
        super().setUp()
        self.serve()

    def call(self, language, *args):
        done = subprocess.run([*FOLLOW[language], self.socket, self.project, *args], check=False, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_they_are_followed_to_their_end(self):
        wanted = [f"{what} {task}" for task in TASKS for what in ("started", "done")]
        for language in FOLLOW:
            with self.subTest(language=language):
                self.write("build/conf/local.conf", f'SALT = "{language}"\n')
                self.assertEqual(self.call(language, "dough"), [*wanted, "exit code 0"])

    def test_they_are_canceled(self):
        gate = self.gate("dough")
        for language in FOLLOW:
            with self.subTest(language=language):
                self.assertEqual(self.call(language, "dough", "--cancel"),
                                 ["started dough:do_compile", "canceled True", "exit code 130"])
                self.assertEqual(gate.waiting(), [])


if __name__ == "__main__":
    unittest.main()
