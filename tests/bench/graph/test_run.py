#!/usr/bin/env python3
"""The driver's judgement, with shell scripts in place of the programs."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run as driver  # noqa: E402

BITZEL = f"""#!/bin/sh
[ "$1" = parse ] && exit 0
for i in 1 2 3; do echo "{'0' * 64}  r$i:do_build"; done
"""
BITBAKE = """#!/bin/sh
[ "$1" = -p ] && exit 0
grep -q basichash conf/local.conf || exit 1
echo "NOTE: Tasks Summary: Attempted 3 tasks of which 0 didn't need to be rerun and all succeeded."
"""


class DriverTest(unittest.TestCase):
    def setUp(self):
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.program("bitzel", BITZEL)
        self.enterContext(mock.patch.dict(os.environ, {"PATH": "/usr/bin:/bin"}))
        os.environ.pop("BITBAKE", None)

    def program(self, name, text):
        path = self.dir / name
        path.write_text(text)
        path.chmod(0o755)

    def drive(self, *args):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = driver.main(["--smoke", "--bitzel", str(self.dir / "bitzel"), *args])
        return code, out.getvalue(), err.getvalue()

    def test_without_bitbake_there_are_figures_but_no_ratios(self):
        code, out, err = self.drive()
        self.assertEqual((code, err), (0, ""))
        self.assertIn("no ratios, bitbake is missing", out)
        self.assertRegex(out, r"21 recipes, 3 tasks\n")
        self.assertRegex(out, r"signed again +CPU ms +[0-9.]+\*? +- +-\n")

    def test_with_bitbake_its_dry_run_stands_in_both_rows(self):
        self.program("bitbake", BITBAKE)
        code, out, err = self.drive("--bitbake", str(self.dir))
        self.assertEqual((code, err), (0, ""))
        for row in ("first", "again"):
            self.assertRegex(out, rf"signed {row} +CPU ms +[0-9.]+\*? +[0-9.]+\*? +\d+x")

    def test_different_numbers_of_tasks_are_a_failure(self):
        self.program("bitbake", BITBAKE.replace("Attempted 3", "Attempted 4"))
        code, _, err = self.drive("--bitbake", str(self.dir))
        self.assertEqual(code, 1)
        self.assertIn("different numbers of tasks", err)

    def test_a_program_that_signs_nothing_is_a_failure(self):
        self.program("bitzel", "#!/bin/sh\n")
        code, _, err = self.drive()
        self.assertEqual(code, 1)
        self.assertIn("FAILED bitzel, 20 recipes: signed no tasks", err)

    def test_one_step_can_be_measured_alone(self):
        code, out, _ = self.drive("--json", "-", "--only", "again")
        self.assertEqual(code, 0)
        self.assertEqual({r["step"] for r in json.loads(out)["runs"]}, {"again"})


if __name__ == "__main__":
    unittest.main()
