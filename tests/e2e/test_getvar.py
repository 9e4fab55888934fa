"""bitzel getvar and layers, on a small project of the test's own."""

import bitzel

FILES = {
    "build/conf/bblayers.conf": '''\
BBPATH = "${TOPDIR}"
BBFILES ?= ""
BBLAYERS ?= "${TOPDIR}/../meta-one ${TOPDIR}/../meta-two"
''',
    "build/conf/local.conf": 'MACHINE = "board"\nCOLOR:board = "green"\n',
    "meta-one/conf/layer.conf": '''\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*.bb"
BBFILE_COLLECTIONS += "one"
BBFILE_PATTERN_one = "^${LAYERDIR}/"
BBFILE_PRIORITY_one = "5"
LAYERSERIES_CORENAMES = "spring"
LAYERSERIES_COMPAT_one = "spring"
''',
    "meta-one/conf/bitbake.conf": '''\
COLOR ?= "red"
OVERRIDES = "${MACHINE}:pn-${PN}"
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'nothing'}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
P = "${PN}-${PV}"
require conf/local.conf
''',
    "meta-one/classes/base.bbclass": 'do_build() {\n    :\n}\naddtask build\n',
    "meta-one/recipes/hello_1.2.bb": '''\
SUMMARY = "greets"
LIST = "a"
LIST += "b"
LIST:append = " c"
LIST[doc] = "letters"
NAME = "${P}"
''',
    "meta-two/conf/layer.conf": '''\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*.bbappend"
BBFILE_COLLECTIONS += "two"
BBFILE_PATTERN_two = "^${LAYERDIR}/"
LAYERDEPENDS_two = "one"
LAYERSERIES_COMPAT_two = "spring"
''',
    "meta-two/recipes/hello_%.bbappend": 'LIST:append = " d"\n',
}


class Project(bitzel.Case):
    def setUp(self):
        super().setUp()
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def getvar(self, *args):
        return self.run_bitzel("--directory", self.dir / "build", "getvar", *args)

    def value(self, *args):
        result = self.getvar("--value", *args)
        self.assert_exit(result, 0)
        return result.out.rstrip("\n")


class Getvar(Project):
    def test_values_of_the_configuration_and_of_a_recipe(self):
        self.assertEqual(self.value("MACHINE"), "board")
        self.assertEqual(self.value("COLOR"), "green")
        self.assertEqual(self.value("-r", "hello", "LIST"), "a b c d")
        self.assertEqual(self.value("-r", "hello", "NAME"), "hello-1.2")

    def test_unexpanded_values_and_flags(self):
        self.assertEqual(self.value("-r", "hello", "--unexpand", "NAME"), "${P}")
        self.assertEqual(self.value("-r", "hello", "--flag", "doc", "LIST"), "letters")

    def test_the_assignment_form_and_json(self):
        self.assertEqual(self.getvar("MACHINE").out, 'MACHINE="board"\n')
        got = self.getvar("--json", "--history", "-r", "hello", "LIST").json
        self.assertEqual(got["value"], "a b c d")
        events = [(e["op"], e["file"].rsplit("/", 1)[1], e["line"], e["detail"])
                  for e in got["history"] if "flag" not in e]
        self.assertEqual(events, [("set", "hello_1.2.bb", 2, "a"),
                                  ("append", "hello_1.2.bb", 3, "b"),
                                  (":append", "hello_1.2.bb", 4, " c"),
                                  (":append", "hello_%.bbappend", 1, " d")])

    def test_what_is_not_there_is_exit_3(self):
        for args in (["NOWHERE"], ["--flag", "no", "MACHINE"], ["-r", "nothing-like-it", "PN"]):
            with self.subTest(args=args):
                self.assert_exit(self.getvar(*args), 3)

    def test_a_mistake_is_shown_with_its_place(self):
        self.write("meta-one/recipes/hello_1.2.bb", 'A = "1"\nB = unquoted\n')
        result = self.getvar("-r", "hello", "A")
        self.assert_exit(result, 2)
        self.assertIn("hello_1.2.bb:2:", result.err)
        self.assertIn("B = unquoted\n", result.err)

    def test_a_missing_required_file_names_who_requires_it(self):
        self.write("meta-one/recipes/hello_1.2.bb", "\nrequire nowhere.inc\n")
        result = self.getvar("-r", "hello", "PN")
        self.assert_exit(result, 2)
        self.assertIn("hello_1.2.bb:2", result.err)
        self.assertIn("nowhere.inc", result.err)

    def test_without_a_build_directory_it_says_what_to_do(self):
        result = self.run_bitzel("getvar", "MACHINE")
        self.assertIn(result.code, (2, 3))
        self.assertIn("conf/bblayers.conf", result.err)


class Layers(Project):
    def test_layers_have_names_and_priorities(self):
        got = self.run_bitzel("--directory", self.dir / "build", "layers", "--json").json
        self.assertEqual([(x["name"], x["priority"]) for x in got["layers"]],
                         [("one", 5), ("two", 6)])


if __name__ == "__main__":
    bitzel.main()
