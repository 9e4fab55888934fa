"""Results are looked for in tiers many at a time, and an interrupt ends that."""

import http.server
import signal
import subprocess
import threading
import time
import unittest

import bitzel
import test_build

RECIPES = 40


class Far(http.server.BaseHTTPRequestHandler):
    """A cache that has nothing and takes its time to say so."""

    def do_GET(self):
        server = self.server
        with server.lock:
            server.asked += 1
            server.now += 1
            server.most = max(server.most, server.now)
        server.over.wait(server.delay)
        with server.lock:
            server.now -= 1
        self.send_error(404)

    def log_message(self, *_args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # a connection that finds it full is tried again after a second

    def handle_error(self, *_args):
        """That a client hangs up is no news."""


class Ahead(test_build.Kitchen):
    def start(self, delay):
        server = Server(("127.0.0.1", 0), Far)
        server.delay, server.asked, server.now, server.most = delay, 0, 0, 0
        server.lock, server.over = threading.Lock(), threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.over.set)
        return server

    def line(self, server, *args):
        return ["--directory", self.dir / "build", "--set",
                f"cache.tiers=http://127.0.0.1:{server.server_port}/", "build", *args]

    def test_what_nobody_has_is_asked_for_many_at_a_time(self):
        names = [f"dish{n}" for n in range(RECIPES)]
        for name in names:
            self.write(f"meta-kitchen/recipes/{name}.bb", "")
        server = self.start(0.02)
        began = time.monotonic()
        self.assert_exit(self.run_bitzel(*self.line(server, "-n", *names)), 0)
        took = time.monotonic() - began
        self.assertGreaterEqual(server.asked, 3 * RECIPES)
        self.assertGreater(server.most, 2, f"{server.asked} in {took:.2f} s")

    def test_an_interrupt_does_not_wait_for_a_server(self):
        server = self.start(60)
        with subprocess.Popen([bitzel.PROGRAM, *map(str, self.line(
                server, "--set", "cache.timeout=60s", "pizza"))], env=self.environment(),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as build:
            deadline = time.monotonic() + bitzel.TIMEOUT
            while server.asked == 0:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            began = time.monotonic()
            build.send_signal(signal.SIGINT)
            build.communicate(timeout=bitzel.TIMEOUT)
            self.assertLess(time.monotonic() - began, 30)
        self.assertEqual(build.returncode, 130)


if __name__ == "__main__":
    unittest.main()
