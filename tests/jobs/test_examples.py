"""The examples of the manual that ask `bitzel serve` to build, in Python and in Lua."""

import pathlib
import re
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from serving import TIMEOUT, Serving  # noqa: E402

EXAMPLES = {"python": [sys.executable, "-B", HERE / "build.py"], "lua": ["luajit", HERE / "build.lua"]}
TASKS = [f"dough:do_{task}" for task in ("compile", "install", "populate_sysroot")]


class Examples(Serving):
    def setUp(self):
        super().setUp()
        self.serve()

    def call(self, language, *args):
        done = subprocess.run([*EXAMPLES[language], self.socket, self.project, *args], check=False, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_they_follow_a_build_to_its_end(self):
        wanted = [f"{what} {task}" for task in TASKS for what in ("started", "done")]
        self.assertEqual(self.call("python", "dough"), [*wanted, "exit code 0"])
        self.write("build/conf/local.conf", 'SALT = "much"\n')
        self.assertEqual(self.call("lua", "dough"), [*wanted, "exit code 0"])
        self.assertEqual(self.call("lua", "nothing"), ["exit code 3"])

    def test_they_cancel_one(self):
        gate = self.gate("dough")
        for language in EXAMPLES:
            with self.subTest(language=language):
                self.assertEqual(self.call(language, "dough", "--cancel"), ["started dough:do_compile", "exit code 130"])
                self.assertEqual(gate.waiting(), [])

    def test_the_manual_shows_them(self):
        manual = (HERE.parents[1] / ".docs/manual.md").read_text(encoding="utf-8")
        shown = re.search(r"^```python\n(.*?)^```", manual, re.M | re.S).group(1)
        self.assertIn(shown, (HERE / "build.py").read_text(encoding="utf-8"))
        self.assertIn("(../tests/jobs/build.lua)", manual)


if __name__ == "__main__":
    unittest.main()
