"""Bazel as the judge: bitzel reads the cache that Bazel fills, in a directory and behind a
web server, and Bazel takes what bitzel stored for one of its own actions.

Needs Bazel 4 (Debian's bazel-bootstrap) and nginx.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import bitzel  # noqa: E402

PUT = os.environ.get("BITZEL_PUT", "peer_put")
BAZEL = shutil.which("bazel") or shutil.which("bazel-bootstrap")
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/bin")

BUILD = """
genrule(name = "shout", srcs = ["in.txt"], outs = ["out.txt"], cmd = "tr a-z A-Z < $< > $@")
"""

CONF = """
{user}
daemon off; pid {dir}/pid; error_log {dir}/error.log; worker_processes 1;
events {{ }}
http {{
  access_log off; client_max_body_size 0; client_body_temp_path {dir}/body;
  proxy_temp_path {dir}/a; fastcgi_temp_path {dir}/b; uwsgi_temp_path {dir}/c; scgi_temp_path {dir}/d;
  server {{
    listen 127.0.0.1:{port};
    location ~ "^/(ac|cas)/(..)([0-9a-f]{{62}})$" {{
      alias {root}/$1/$2/$2$3; dav_methods PUT; create_full_put_path on;
    }}
  }}
}}
"""


@unittest.skipUnless(BAZEL and NGINX, "bazel (bazel-bootstrap) and nginx are not both installed")
class Bazel(bitzel.Case):
    def setUp(self):
        super().setUp()
        self.root = self.dir / "cache"
        self.write("work/WORKSPACE", "")
        self.write("work/BUILD", BUILD)
        self.write("work/in.txt", "hello\n")

    def write(self, path, text):
        path = self.dir / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def bazel(self, where):
        """Builds in a fresh place; what it says and what came out."""
        place = self.dir / "bazel"
        if place.exists():
            subprocess.run(["chmod", "-R", "u+w", place], check=True)
            shutil.rmtree(place)
        run = subprocess.run(
            [BAZEL, f"--output_user_root={place}", "--batch", "build", "--spawn_strategy=local",
             "--color=no", "--curses=no", where, "//:shout"],
            cwd=self.dir / "work", env=self.environment(PATH="/usr/bin:/bin"),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stderr, (self.dir / "work/bazel-bin/out.txt").read_text()

    def cache(self, *args, code=0):
        result = self.run_bitzel("--set", f"cache.dir={self.root}", "cache", *args)
        self.assert_exit(result, code)
        return result

    def assert_read_and_answered(self, where):
        """The whole exchange: Bazel stores, bitzel reads, bitzel stores, Bazel reads."""
        said, text = self.bazel(where)
        self.assertEqual(text, "HELLO\n")
        self.assertIn("1 local", said)
        [row] = self.cache("ls", "--json").json["results"]
        self.assertEqual(row["state"], "unsealed")
        shown = self.cache("show", row["key"], "--json").json
        [out] = [o for o in shown["outputs"] if o["path"].endswith("out.txt")]
        blob = pathlib.Path(self.cache("path", out["digest"]).out.rstrip("\n"))
        self.assertEqual(blob.read_text(), "HELLO\n")
        found = self.cache("verify", "--json").json
        self.assertEqual((found["faults"], found["unsealed_results"]), ([], 1))
        # Another answer under Bazel's key: if it comes out, Bazel took ours.
        self.root.joinpath("ac", row["key"][:2], row["key"]).unlink()
        self.write("ours", "stored by bitzel\n")
        subprocess.run([PUT, self.root, row["key"], out["path"], self.dir / "ours"], check=True)
        said, text = self.bazel(where)
        self.assertEqual(text, "stored by bitzel\n")
        self.assertIn("1 remote cache hit", said)
        [row] = self.cache("ls", "--json").json["results"]
        self.assertEqual((row["recipe"], row["state"]), ("peer", "ok"))

    def test_a_directory_goes_both_ways(self):
        self.assert_read_and_answered(f"--disk_cache={self.root}")

    def test_a_web_server_goes_both_ways(self):
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            port = sock.getsockname()[1]
        place = self.dir / "nginx"
        place.mkdir()
        self.root.mkdir()
        user = "user root;" if os.geteuid() == 0 else ""
        self.write("nginx/conf", CONF.format(dir=place, port=port, root=self.root, user=user))
        with subprocess.Popen([NGINX, "-p", place, "-e", place / "error.log",
                               "-c", place / "conf"]) as server:
            try:
                deadline = time.monotonic() + 10
                while True:
                    try:
                        socket.create_connection(("127.0.0.1", port)).close()
                        break
                    except OSError:
                        self.assertLess(time.monotonic(), deadline)
                        time.sleep(0.01)
                self.assert_read_and_answered(f"--remote_cache=http://127.0.0.1:{port}")
            finally:
                server.terminate()


if __name__ == "__main__":
    bitzel.main()
