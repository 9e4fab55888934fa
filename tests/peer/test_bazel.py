"""Bazel as the judge: bitzel reads the cache that Bazel fills, in a directory and behind a
web server, and Bazel takes what bitzel stored for one of its own actions.

Needs Bazel 4 (Debian's bazel-bootstrap) and nginx.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "e2e"), str(TESTS / "http")]

import bitzel  # noqa: E402
import nginx  # noqa: E402

PUT = os.environ.get("BITZEL_PUT", "peer_put")
BAZEL = shutil.which("bazel") or shutil.which("bazel-bootstrap")

BUILD = """
genrule(name = "shout", srcs = ["in.txt"], outs = ["out.txt"], cmd = "tr a-z A-Z < $< > $@")
"""


@unittest.skipUnless(BAZEL and nginx.found() or "BITZEL_MUST_WORK" in os.environ,
                     "bazel (bazel-bootstrap) and nginx are not both installed")
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

    def cache(self, *args, root=None, code=0):
        result = self.run_bitzel("--set", f"cache.dir={root or self.root}", "cache", *args)
        self.assert_exit(result, code)
        return result

    def read_what_bazel_stored(self, where):
        """Bazel runs its action; bitzel finds the result. Its key, and the path of its file."""
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
        return row["key"], out["path"]

    def put(self, root, key, path):
        """Another answer under Bazel's key: if it comes out, Bazel took ours."""
        self.root.joinpath("ac", key[:2], key).unlink()
        self.write("ours", "stored by bitzel\n")
        subprocess.run([PUT, root, key, path, self.dir / "ours"], check=True)

    def assert_bazel_takes_ours(self, where):
        said, text = self.bazel(where)
        self.assertEqual(text, "stored by bitzel\n")
        self.assertIn("1 remote cache hit", said)
        [row] = self.cache("ls", "--json").json["results"]
        self.assertEqual((row["recipe"], row["state"]), ("peer", "ok"))

    def test_a_directory_goes_both_ways(self):
        where = f"--disk_cache={self.root}"
        self.put(self.root, *self.read_what_bazel_stored(where))
        self.assert_bazel_takes_ours(where)

    def test_a_web_server_goes_both_ways(self):
        server = nginx.Nginx(self.dir / "www")
        self.addCleanup(server.stop)
        self.root, where = server.store, f"--remote_cache={server.url}"
        key, path = self.read_what_bazel_stored(where)
        near, far = self.dir / "near", self.dir / "far"
        # Nobody vouches for what has no seal: it is seen there, and not taken.
        self.cache("pull", server.url, key, root=far, code=3)
        self.put(near, key, path)
        pushed = self.cache("push", server.url, key, "--json", root=near).json
        self.assertEqual((pushed["copied"], pushed["problems"]), (1, []))
        self.assert_bazel_takes_ours(where)
        pulled = self.cache("pull", server.url, key, "--json", root=far).json
        self.assertEqual((pulled["copied"], pulled["problems"]), (1, []))
        [out] = self.cache("show", key, "--json", root=far).json["outputs"]
        self.assertEqual(out["path"], path)
        blob = pathlib.Path(self.cache("path", out["digest"], root=far).out.rstrip("\n"))
        self.assertEqual(blob.read_text(), "stored by bitzel\n")
        self.cache("verify", root=far)


if __name__ == "__main__":
    bitzel.main()
