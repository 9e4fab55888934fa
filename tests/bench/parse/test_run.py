#!/usr/bin/env python3
"""The driver's judgement, with shell scripts in place of the programs."""

import contextlib
import filecmp
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
import synth  # noqa: E402

# A program that counts recipes; what it found the last time it takes from its cache.
COUNT = """#!/bin/sh
n=$(find ../layer/recipes -name '*.bb' | wc -l)
hit=0
[ -e cache/seen ] && { hit=$n; n=0; }
mkdir -p cache && touch cache/seen
"""
BITZEL = COUNT + """[ "$1" = getvar ] && echo "value of $4" ||
echo "$hit from the snapshot, $n parsed, 0 skipped"
"""
BITBAKE = COUNT + """echo "Loaded $hit entries from dependency cache."
[ $n = 0 ] || echo "Parsing complete ($hit cached, $n parsed)."
"""
GETVAR = """#!/bin/sh
echo "NOTE: starting"
echo "value of $3"
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

    def bitbake(self, parse=BITBAKE, getvar=GETVAR):
        self.program("bitbake", parse)
        self.program("bitbake-getvar", getvar)
        return ["--bitbake", str(self.dir)]

    def drive(self, *args):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = driver.main(["--smoke", "--bitzel", str(self.dir / "bitzel"), *args])
        return code, out.getvalue(), err.getvalue()

    def test_without_bitbake_there_are_figures_but_no_ratios(self):
        code, out, err = self.drive()
        self.assertEqual((code, err), (0, ""))
        self.assertIn("no ratios, bitbake is missing", out)
        self.assertRegex(out, r"cold parse +CPU ms +[0-9.]+\*? +- +-\n")

    def test_with_bitbake_every_step_of_both_has_a_figure(self):
        code, out, err = self.drive("--json", "-", *self.bitbake())
        self.assertEqual((code, err), (0, ""))
        document = json.loads(out)
        steps = {(r["program"], r["step"]) for r in document["runs"]}
        self.assertEqual(steps, {(p, s) for p in ("bitzel", "bitbake")
                                 for s in ("cold", "warm", "getvar", "getvar-cold")})
        self.assertIsNone(document["missing"])

    def test_one_step_can_be_measured_alone(self):
        code, out, _ = self.drive("--json", "-", "--only", "getvar-cold")
        self.assertEqual(code, 0)
        self.assertEqual({r["step"] for r in json.loads(out)["runs"]}, {"getvar-cold"})
        with self.assertRaises(SystemExit):
            self.drive("--only", "warm")

    def test_bitbake_is_found_through_the_environment(self):
        self.bitbake()
        (self.dir / "bin").symlink_to(self.dir)
        for name, value in (("BITBAKE", self.dir), ("PATH", f"{self.dir}:/usr/bin:/bin")):
            with self.subTest(name), mock.patch.dict(os.environ, {name: str(value)}):
                folder, why = driver.bitbakes.find(None)
                self.assertEqual((folder, why), (self.dir.resolve(), None))

    def test_a_program_that_did_other_work_than_asked_is_a_failure(self):
        cases = [("it parses again", BITZEL.replace("n=0", ":"), "parsed 61"),
                 ("it parses too little", BITZEL.replace("n=$(", "n=1$("), "parsed 161"),
                 ("it says nothing", "#!/bin/sh\n", "no summary"),
                 ("it fails", "#!/bin/sh\necho oh no >&2; exit 2\n", "oh no")]
        for name, text, message in cases:
            with self.subTest(name):
                self.program("bitzel", text)
                code, _, err = self.drive()
                self.assertEqual(code, 1)
                self.assertRegex(err, f"FAILED bitzel flat 60 (cold|warm): .*{message}")

    def test_programs_that_disagree_about_a_value_are_a_failure(self):
        code, _, err = self.drive(*self.bitbake(getvar="#!/bin/sh\necho other\n"))
        self.assertEqual(code, 1)
        self.assertIn("FAILED flat 60: different values", err)

    def test_a_wrong_place_for_a_program_is_wrong_usage(self):
        self.assertEqual(self.drive("--bitbake", str(self.dir / "none"))[0], 2)
        self.assertEqual(self.drive("--bitzel", str(self.dir / "none"))[0], 2)

    def test_the_best_quiet_run_counts_and_a_loud_one_is_marked(self):
        def a_run(others, cpu):
            return {"others": others, "cpu": cpu, "wall": 1, "peak": 1}

        both = {("bitzel", "cold"): [a_run(0.5, 0.1), a_run(0.0, 0.3), a_run(0.0, 0.2)],
                ("bitbake", "cold"): [a_run(0.5, 20)]}
        summary = driver.summarise({("flat", 99): both})
        text = driver.table(summary, "flat", 99)
        self.assertRegex(text, r"cold parse +CPU ms +200\.0 +20000\.0\* +100x\*")
        self.assertRegex(text, r"CPU us/recipe +2000\.0 ")


class SynthTest(unittest.TestCase):
    def test_the_same_arguments_give_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            for folder in (one, two):
                self.assertEqual(synth.main([folder, "70", "--shape", "deep"]), 0)
            names = [str(path.relative_to(one)) for path in Path(one).rglob("*")
                     if path.is_file()]
            self.assertEqual(len([name for name in names if name.endswith(".bb")]), 71)
            same, _, _ = filecmp.cmpfiles(one, two, names, shallow=False)
            self.assertEqual(sorted(same), sorted(names))


if __name__ == "__main__":
    unittest.main()
