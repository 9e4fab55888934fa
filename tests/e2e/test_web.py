"""Results on web servers: a real one, and some that do everything wrong."""

import http.server
import os
import pathlib
import socket
import struct
import sys
import threading
import time
import unittest

import bitzel
import reapi

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
import nginx  # noqa: E402


class Hostile(http.server.BaseHTTPRequestHandler):
    """Has what a store has, and sends it as the server's `way` says."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_args):
        pass

    def body(self):
        kind, key = self.path.split("/")[-2:]
        path = self.server.store.path(kind, key)
        return path.read_bytes() if path.exists() else None

    def say(self, status, length, body, *headers):
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        body = self.body()
        self.server.asked += 1
        if body is None:
            self.say(404, 0, b"")
        else:
            getattr(self, "way_" + self.server.way)(body)

    do_HEAD = do_GET

    def way_fine(self, body):
        self.say(200, len(body), body)

    def way_stall(self, body):
        self.say(200, len(body) + 1, body)
        self.wfile.flush()
        self.server.over.wait(30)

    def way_truncate(self, body):
        self.say(200, len(body), body[:-1])
        self.close_connection = True

    def way_shorter(self, body):
        self.say(200, len(body) - 1, body[:-1])

    def way_longer(self, body):
        self.say(200, len(body) + 5, body + b"more\n")

    def way_wrong(self, body):
        self.say(200, len(body), bytes([body[0] ^ 1]) + body[1:])

    def way_blobs(self, body):
        (self.way_wrong if "/cas/" in self.path else self.way_fine)(body)

    def way_broken(self, _body):
        self.say(500, 0, b"")

    def way_reset(self, _body):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def way_loop(self, _body):
        self.say(302, 0, b"", ("Location", self.path))

    def way_file(self, _body):
        self.say(302, 0, b"", ("Location", "file:///etc/passwd"))

    def way_header(self, body):
        self.say(200, len(body), body, ("X-Much", "x" * 60000), ("X-More", "x" * 60000))

    def way_drip(self, body):
        self.say(200, 1000, b"")
        for i in range(1000):
            if self.server.over.wait(0.05):
                break
            self.wfile.write(body[i % len(body):][:1])
            self.wfile.flush()
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_args):
        """That a client hangs up is what most ways lead to."""


class Web(bitzel.Case):
    def setUp(self):
        super().setUp()
        self.store = reapi.Store(self.dir / "store")
        self.far = reapi.Store(self.dir / "far")
        self.keys = reapi.fill(self.store)

    def cache(self, store, *args, code=0, **how):
        found = self.run_bitzel("--set", f"cache.dir={store.root}", "--set",
                                f"state.dir={store.root}.state", "cache", *args, **how)
        if code is not None:
            self.assert_exit(found, code)
        return found

    def files(self, store):
        return sorted(p.name for kind in ("ac", "cas") for p in (store.root / kind).rglob("?" * 64))


@unittest.skipUnless(nginx.found() or os.environ.get("BITZEL_MUST_WORK"), "nginx is not installed")
class Real(Web):
    def start(self, location=""):
        server = nginx.Nginx(self.dir / "www", location)
        self.addCleanup(server.stop)
        return server

    def test_results_reach_another_machine(self):
        server = self.start()
        done = self.cache(self.store, "push", server.url, "--json").json
        self.assertEqual(done, {"copied": 3, "unsealed": 1, "missing": 0, "failed": 0,
                                "problems": []})
        there = self.files(reapi.Store(server.store))
        self.assertEqual(len(there), 9)  # three results, six blobs
        self.assertLess(set(there), set(self.files(self.store)) - {self.keys["foreign"]})
        keys = [key for name, key in self.keys.items() if name != "foreign"]
        done = self.cache(self.far, "pull", server.url, *keys, "--json").json
        self.assertEqual((done["copied"], done["problems"]), (3, []))
        self.cache(self.far, "verify")
        self.assertEqual(self.files(self.far), there)
        for key in keys:
            self.assertEqual(self.cache(self.far, "show", "--tree", key).out,
                             self.cache(self.store, "show", "--tree", key).out)
        shown = self.cache(self.far, "show", self.keys["install"], "--json").json
        self.assertEqual((shown["recipe"], shown["task"]), ("zlib", "do_install"))

    def test_a_server_that_only_reads_is_told(self):
        server = self.start("limit_except GET { deny all; }")
        found = self.cache(self.store, "push", server.url, code=None)
        self.assertNotEqual(found.code, 0)
        self.assertEqual(found.err.count("only read"), 1, found)


class Wrong(Web):
    def start(self, way):
        server = Server(("127.0.0.1", 0), Hostile)
        server.store, server.way, server.asked = self.store, way, 0
        server.over = threading.Event()
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()

        def stop():
            server.over.set()
            server.shutdown()
            thread.join()
            server.server_close()
        self.addCleanup(stop)
        return server, f"http://127.0.0.1:{server.server_port}/c"

    def test_one_that_is_right_is_taken_from(self):
        _server, url = self.start("fine")
        self.cache(self.far, "pull", url, self.keys["install"])
        self.cache(self.far, "verify")
        self.assertIn(self.keys["install"], self.files(self.far))

    def test_whatever_is_wrong_ends_soon_and_leaves_nothing(self):
        for way in ("stall", "truncate", "shorter", "longer", "wrong", "blobs", "broken", "reset",
                    "loop", "file", "header", "drip"):
            with self.subTest(way):
                far = reapi.Store(self.dir / way)
                server, url = self.start(way)
                began = time.monotonic()
                found = self.cache(far, "pull", "--set", "cache.timeout=300ms", url,
                                   self.keys["install"], code=None)
                self.assertNotEqual(found.code, 0, found)
                self.assertLess(time.monotonic() - began, 20)
                self.assertLess(server.asked, 20)
                self.assertEqual(self.files(far), [])

    def test_nobody_there_is_said_soon(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        began = time.monotonic()
        found = self.cache(self.far, "pull", f"http://me:hidden@127.0.0.1:{port}/c",
                           self.keys["install"], code=None)
        self.assertNotEqual(found.code, 0)
        self.assertLess(time.monotonic() - began, 20)
        self.assertNotIn("hidden", found.err + found.out)


if __name__ == "__main__":
    bitzel.main()
