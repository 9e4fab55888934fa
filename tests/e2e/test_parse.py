"""bitzel parse, on a small project of the test's own."""

import re

import bitzel
import demo
import test_readme

FILES = {
    "build/conf/bblayers.conf": '''\
BBPATH = "${TOPDIR}"
BBFILES ?= ""
BBLAYERS ?= "${TOPDIR}/../meta"
''',
    "meta/conf/layer.conf": '''\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*.bb ${LAYERDIR}/recipes/*.bbappend"
BBFILE_COLLECTIONS += "meta"
BBFILE_PATTERN_meta = "^${LAYERDIR}/"
LAYERSERIES_CORENAMES = "spring"
LAYERSERIES_COMPAT_meta = "spring"
''',
    "meta/conf/bitbake.conf": '''\
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'nothing'}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
BBMASK = "/hidden"
''',
    "meta/classes/base.bbclass": "addtask build\n",
    "meta/classes/native.bbclass": "",
    "meta/recipes/hello_1.2.bb": 'SUMMARY = "greets"\nBBCLASSEXTEND = "native"\n',
    "meta/recipes/world_1.0.bb": "require hello.inc\n",
    "meta/recipes/hello.inc": 'LICENSE = "MIT"\n',
    "meta/recipes/hidden.bb": "nothing that could be read\n",
}


class Project(demo.Project):
    files = FILES

    def parse(self, *args, **how):
        return self.run_bitzel("--directory", self.dir / "build", "parse", *args, **how)


class Parse(Project):
    def test_everything_is_parsed_and_counted(self):
        result = self.parse()
        self.assert_exit(result, 0)
        self.assertEqual(result.out, "2 recipes: 0 from the snapshot, 2 parsed, 0 skipped, "
                                     "1 masked, 0 errors\n")
        self.assertEqual(result.err, "")

    def test_json_has_the_same_numbers(self):
        self.assertEqual(self.parse("--json").json,
                         {"recipes": 2, "cached": 0, "parsed": 2, "targets": 3, "skipped": 0,
                          "masked": 1, "errors": [], "python": {"recipes": 0, "functions": []}})

    def test_all_errors_are_shown_with_their_places(self):
        self.write("meta/recipes/bad_1.bb", 'A = "1"\nwhat is this\n')
        self.write("meta/recipes/worse_1.bb", 'A = "1"\n\nrequire missing.inc\n')
        result = self.parse()
        self.assert_exit(result, 2)
        self.assertEqual(result.out, "4 recipes: 0 from the snapshot, 4 parsed, 0 skipped, "
                                     "1 masked, 2 errors\n")
        self.assertRegex(result.err, r"bad_1\.bb:2:\d+: error: ")
        self.assertRegex(result.err, r"error: \S*worse_1\.bb:3: ")
        errors = self.parse("--json").json["errors"]
        self.assertEqual([re.sub(".*/", "", e["file"]) for e in errors],
                         ["bad_1.bb", "worse_1.bb"])
        self.assertIn("missing.inc", errors[1]["message"])

    def test_warnings_come_in_the_order_of_the_recipes(self):
        for i in range(60):
            self.write(f"meta/recipes/w{i:02}_1.bb", f'A{i}="1"\nB:append += "{i}"\n')
        runs = []
        for threads in ("1", "4"):
            runs.append(self.parse("-j", threads).err)
            (self.dir / "build/cache/bitzel.catalog").unlink()
        self.assertEqual(runs[0], runs[1])
        places = re.findall(r"/(w\d+)_1\.bb:", runs[0])
        self.assertEqual(places, sorted(places))
        self.assertEqual(len(places), 120)

    def test_a_profile_says_where_the_time_goes(self):
        self.assert_exit(self.parse(), 0)  # a snapshot that must not be used
        got = self.parse("--profile", "--json").json
        self.assertEqual(got["parsed"], 2)
        files = {re.sub(".*/", "", row["name"]): row for row in got["files"]}
        self.assertEqual(files["hello.inc"]["times"], 1)
        self.assertEqual(files["hello_1.2.bb"]["times"], 1)
        world = files["world_1.0.bb"]
        self.assertGreaterEqual(world["total_ns"],
                                world["own_ns"] + files["hello.inc"]["total_ns"])
        names = [row["name"] for row in got["expressions"]]
        self.assertTrue(any("vars_from_file" in name for name in names), names)
        own = [row["own_ns"] for row in got["files"]]
        self.assertEqual(own, sorted(own, reverse=True))
        text = self.parse("--profile").out.splitlines()
        self.assertRegex(text[0], r"own ms +total ms +times +file")
        self.assertEqual(text[-1], "2 recipes: 0 from the snapshot, 2 parsed, 0 skipped, "
                                   "1 masked, 0 errors")

    def test_the_readme_shows_what_it_says(self):
        self.write("meta/recipes/broken_1.0.bb", "require missing.inc\n")
        result = self.parse()
        shown = re.search(r"^\$ bitzel parse\n(.*?)^(?:\$ |```)", test_readme.README,
                          re.M | re.S).group(1)
        said = (result.err + result.out).replace(str(self.dir), "/home/me/demo")
        self.assertEqual(shown, said)


if __name__ == "__main__":
    bitzel.main()
