"""Python that bitzel does not run: an error with its place where a target needs it, a
warning where metadata is only described."""


import bitzel
import test_build

WHY = "Python functions are not supported yet"
RUNNING = ("build", "plan", "sig", "why", "shell", "fetch")

ANONYMOUS = 'A = "1"\n\npython () {\n    d.setVar("A", "2")\n}\n'
SOURCES = '''\
addtask fetch
addtask unpack after do_fetch
addtask patch after do_unpack before do_compile
DL_DIR = "${TOPDIR}/downloads"
S = "${WORKDIR}"
python do_fetch() {
    bb.fetch2.Fetch(d.getVar("SRC_URI").split(), d).download()
}
python do_unpack() {
    bb.fetch2.Fetch(d.getVar("SRC_URI").split(), d).unpack(d.getVar("WORKDIR"))
}
python do_patch() {
    oe.patch.apply(d)
}
'''


class Python(test_build.Kitchen):
    """Recipes of a kitchen: pizza needs dough and sauce."""

    def write_recipe(self, name, text):
        self.write(f"meta-kitchen/recipes/{name}.bb", text)

    def place(self, name, line, kind="recipes"):
        return f"{self.dir}/build/../meta-kitchen/{kind}/{name}:{line}"

    def refuse(self, command, target, *lines, functions=None, recipes=1):
        """The command fails twice alike: as it reads the recipes, and as it remembers them."""
        n = functions or len(lines)
        said = "".join(f"{place}: error: {what}: {WHY}\n" for place, what in lines)
        said += (f"error: {n} Python function{'s' * (n > 1)} of {recipes} "
                 f"recipe{'s' * (recipes > 1)} cannot be run\n")
        for _ in ("cold", "warm"):
            result = self.run_bitzel("--directory", self.dir / "build", command, target)
            self.assert_exit(result, 2)
            self.assertEqual(result.err, said)
            self.assertEqual(result.out, "")

    def describe(self, *args, warning=""):
        for _ in ("cold", "warm"):
            result = self.run_bitzel("--directory", self.dir / "build", *args)
            self.assert_exit(result, 0)
            self.assertEqual(result.err, warning)
            self.assertNotEqual(result.out, "")
        return result


class Refused(Python):
    def test_an_anonymous_function_by_every_command_that_runs_or_signs(self):
        self.write_recipe("dough", ANONYMOUS)
        for command in RUNNING:
            self.refuse(command, "pizza", (self.place("dough.bb", 3), "anonymous function"))

    def test_an_anonymous_function_that_has_the_name_for_it(self):
        self.write_recipe("dough", ANONYMOUS.replace("python ()", "python __anonymous ()"))
        self.refuse("build", "dough", (self.place("dough.bb", 3), "anonymous function"))

    def test_an_anonymous_function_of_a_class_once_for_all_its_recipes(self):
        self.write("meta-kitchen/classes/oven.bbclass", "\n" + ANONYMOUS)
        self.write_recipe("dough", "inherit oven\n")
        self.write_recipe("sauce", "inherit oven\n" + ANONYMOUS)
        self.refuse("build", "pizza", (self.place("oven.bbclass", 4, "classes"), "anonymous function"),
                    (self.place("sauce.bb", 4), "anonymous function"), recipes=2)

    def test_a_handler_of_a_recipe(self):
        self.write_recipe("dough", 'addhandler listen\nlisten[eventmask] = "bb.build.TaskStarted"\n'
                                   'python listen() {\n    bb.warn("now")\n}\n')
        self.refuse("build", "pizza", (self.place("dough.bb", 3), "event handler listen"))
        self.refuse("sig", "dough", (self.place("dough.bb", 3), "event handler listen"))

    def test_a_handler_of_the_configuration_with_every_recipe(self):
        self.write("meta-kitchen/classes/ears.bbclass",
                   'addhandler listen\ndef listen(e):\n    bb.warn("now")\n')
        self.write("build/conf/local.conf", 'INHERIT += "ears"\n')
        self.refuse("build", "dough", (self.place("ears.bbclass", 2, "classes"), "event handler listen"))
        # A line that moves is seen although no recipe has changed.
        self.edit("meta-kitchen/classes/ears.bbclass", "addhandler", "\naddhandler")
        self.refuse("build", "dough", (self.place("ears.bbclass", 3, "classes"), "event handler listen"))

    def test_a_task(self):
        self.write_recipe("dough", "\npython do_compile() {\n    pass\n}\n")
        for command in RUNNING:
            self.refuse(command, "dough", (self.place("dough.bb", 2), "function do_compile"))

    def test_a_task_that_a_class_exports(self):
        self.write("meta-kitchen/classes/oven.bbclass",
                   "python oven_do_compile() {\n    x\n}\nEXPORT_FUNCTIONS do_compile\n")
        self.edit("meta-kitchen/classes/base.bbclass", 'do_compile() {\n    echo "${PN} with ${SALT}" > made\n}\n', "")
        self.write_recipe("dough", "inherit oven\n")
        self.refuse("build", "dough", (self.place("oven.bbclass", 1, "classes"), "function oven_do_compile"))

    def test_what_is_appended_to_a_task(self):
        self.write_recipe("dough", "python do_compile() {\n    x\n}\n"
                                   "python do_compile:append() {\n    y\n}\n"
                                   "python do_compile:prepend:never() {\n    z\n}\n")
        self.refuse("build", "dough", (self.place("dough.bb", 1), "function do_compile"),
                    (self.place("dough.bb", 4), "function do_compile:append"))

    def test_what_is_appended_to_a_task_in_shell(self):
        self.write_recipe("dough", "\npython do_compile:append() {\n    y\n}\n")
        self.refuse("build", "dough", (self.place("dough.bb", 2), "function do_compile:append"))

    def test_functions_before_and_after_a_task(self):
        self.write_recipe("dough", 'do_compile[prefuncs] = "first ${SECOND}"\nSECOND = "second"\n'
                                   'do_compile[postfuncs] += "last"\n'
                                   "first() {\n    :\n}\npython second() {\n    x\n}\n"
                                   "python last() {\n    x\n}\n")
        self.refuse("build", "dough", (self.place("dough.bb", 7), "function second"),
                    (self.place("dough.bb", 10), "function last"))

    def test_the_first_ten_are_shown_and_the_others_counted(self):
        for i in range(13):
            self.write_recipe(f"r{i:02}", ANONYMOUS)
        self.write_recipe("dough", 'DEPENDS = "' + " ".join(f"r{i:02}" for i in range(13)) + '"\n')
        result = self.build("dough", code=2)
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 12)
        self.assertEqual(lines[10], "and 3 more")
        self.assertEqual(lines[11], "error: 13 Python functions of 13 recipes cannot be run")

    def test_after_the_function_is_gone_it_builds(self):
        self.write_recipe("dough", ANONYMOUS)
        self.build("dough", code=2)
        self.write_recipe("dough", "")
        self.build("dough")
        self.build("dough")
        self.write_recipe("dough", ANONYMOUS)
        self.build("dough", code=2)


class BuiltIn(Python):
    """do_fetch, do_unpack and do_patch are bitzel's own, but for what is added to them."""

    def setUp(self):
        super().setUp()
        self.write("meta-kitchen/classes/sources.bbclass", SOURCES)
        self.write_recipe("dough", "inherit sources\n")

    def test_the_plain_ones_are_not_refused(self):
        self.build("dough")

    def test_nor_are_those_that_a_class_exports(self):
        text = SOURCES.replace("python do_", "python sources_do_")
        self.write("meta-kitchen/classes/sources.bbclass",
                   text + "EXPORT_FUNCTIONS do_fetch do_unpack do_patch\n")
        self.build("dough")
        self.write_recipe("dough", "inherit sources\npython sources_do_patch:append() {\n    x\n}\n")
        self.refuse("build", "dough", (self.place("dough.bb", 2), "function sources_do_patch:append"))

    def test_what_is_appended_by_another_file_is(self):
        self.edit("meta-kitchen/conf/layer.conf", "/*.bb", "/*.bb ${LAYERDIR}/recipes/*.bbappend")
        self.write("meta-kitchen/recipes/dough.bbappend",
                   "python do_unpack:append() {\n    x\n}\npython do_fetch:prepend() {\n    y\n}\n"
                   "python do_patch:append:nobody() {\n    z\n}\n")
        for command in RUNNING:
            self.refuse(command, "pizza", (self.place("dough.bbappend", 4), "function do_fetch:prepend"),
                        (self.place("dough.bbappend", 1), "function do_unpack:append"))

    def test_what_is_appended_and_does_nothing_is_not(self):
        self.write_recipe("dough", "inherit sources\npython do_unpack:append() {\n    # later\n    pass\n}\n")
        self.build("dough")

    def test_a_definition_that_replaces_the_first_is(self):
        self.write_recipe("dough", "inherit sources\n\npython do_patch() {\n    mine\n}\n")
        self.refuse("build", "dough", (self.place("dough.bb", 3), "function do_patch"))

    def test_a_value_that_is_appended_is(self):
        self.write_recipe("dough", 'inherit sources\ndo_patch .= "    mine"\n')
        self.refuse("build", "dough", (self.place("dough.bb", 2), "function do_patch"))

    def test_a_task_in_shell_is_run(self):
        self.write_recipe("dough", "inherit sources\ndo_patch() {\n    :\n}\n")
        self.build("dough")

    def test_functions_around_them_are(self):
        self.write_recipe("dough", 'inherit sources\ndo_unpack[postfuncs] = "more"\n'
                                   "python more() {\n    x\n}\n")
        self.refuse("build", "dough", (self.place("dough.bb", 3), "function more"))


class Accepted(Python):
    def test_a_recipe_that_is_not_needed(self):
        self.write_recipe("sauce", ANONYMOUS)
        self.build("dough")
        self.build("dough")

    def test_a_task_that_is_not_needed(self):
        self.write_recipe("dough", "addtask listtasks\npython do_listtasks() {\n    x\n}\n"
                                   'do_build[noexec] = "1"\npython do_build() {\n    x\n}\n')
        self.build("dough")
        self.refuse("build", "dough:do_listtasks", (self.place("dough.bb", 2), "function do_listtasks"))

    def test_functions_that_do_nothing(self):
        self.write_recipe("dough", "python () {\n    pass\n}\naddhandler h\npython h() {\n\n    # nothing\n}\n"
                                   "addhandler i\ndef i(e):\n    pass\n")
        self.build("dough")

    def test_a_function_that_nothing_calls(self):
        self.write_recipe("dough", "python helper() {\n    x\n}\ndef other(d):\n    return 1\n")
        self.build("dough")


class KeepGoing(Python):
    def said(self, result):
        return [line for line in result.err.splitlines() if "error: " in line]

    def test_all_that_needs_no_python_is_built(self):
        self.write_recipe("sauce", ANONYMOUS)
        result = self.build("-k", "pizza", code=2)
        self.assertEqual(self.said(result), [
            f"{self.place('sauce.bb', 3)}: error: anonymous function: {WHY}",
            "error: 1 Python function of 1 recipe cannot be run"])
        self.assertEqual(test_build.tasks(result, "Executed"),
                         {f"dough:do_{t}" for t in ("compile", "install", "populate_sysroot")})
        self.assertRegex(result.out, r"Build failed in .* \(3 tasks executed, 0 from cache\)\n$")
        result = self.build("-k", "pizza", code=2)
        self.assertEqual(test_build.tasks(result, "Executed"), set())
        self.assertEqual(len(self.said(result)), 2)

    def test_a_target_that_needs_none_is_built(self):
        self.write_recipe("sauce", ANONYMOUS)
        result = self.build("-k", "--json", "sauce", "dough", code=2)
        self.assertEqual(result.json["executed"], 3)
        self.assertFalse(result.json["success"])

    def test_of_a_recipe_with_a_task_in_python_the_tasks_before_it_are_run(self):
        self.write_recipe("dough", "python do_install() {\n    x\n}\n")
        result = self.build("-k", "dough", code=2)
        self.assertEqual(test_build.tasks(result, "Executed"), {"dough:do_compile"})

    def test_where_all_needs_it_nothing_is(self):
        self.write_recipe("sauce", ANONYMOUS)
        result = self.build("-k", "sauce", code=2)
        self.assertEqual(len(self.said(result)), 2)
        self.assertEqual(result.out, "")

    def test_stored_results_of_such_a_recipe_are_not_used(self):
        self.build("pizza")
        self.write_recipe("sauce", 'SALT = "${@d.getVar(\'PN\')}"\n' + ANONYMOUS)
        result = self.build("-k", "pizza", code=2)
        self.assertEqual(test_build.tasks(result, "Cached"), {"dough:do_populate_sysroot"})


class Described(Python):
    def warning(self, n):
        return (f"warning: {n} Python function{'s were' if n > 1 else ' was'} not run: {WHY}\n")

    def setUp(self):
        super().setUp()
        self.write("meta-kitchen/classes/ears.bbclass",
                   'addhandler listen\npython listen() {\n    bb.warn("now")\n}\n')
        self.write("build/conf/local.conf", 'INHERIT += "ears"\n')
        self.write_recipe("dough", ANONYMOUS + "python do_compile() {\n    x\n}\n")

    def test_graphs_and_queries_are_answered_with_a_warning(self):
        self.describe("graph", "dough", warning=self.warning(2))
        self.describe("graph", "sauce", warning=self.warning(1))
        self.describe("query", "deps(pizza)", warning=self.warning(2))

    def test_so_are_questions_about_recipes_and_variables(self):
        self.describe("recipes", warning=self.warning(2))
        self.describe("getvar", "-r", "dough", "A", warning=self.warning(2))
        self.describe("getvar", "-r", "sauce", "PN", warning=self.warning(1))
        self.describe("getvar", "PV", warning=self.warning(1))
        self.describe("env", "dough", warning=self.warning(2))

    def test_quiet_means_no_warning(self):
        self.describe("--quiet", "graph", "dough")

    def test_parse_counts_all_of_them(self):
        first = self.run_bitzel("--directory", self.dir / "build", "parse")
        self.assert_exit(first, 0)
        self.assertEqual(first.err, "warning: 3 Python functions are not supported yet, in 3 recipes\n")
        self.assertEqual(first.out, "3 recipes: 0 from the snapshot, 3 parsed, 0 skipped, 0 masked, 0 errors\n")
        warm = self.run_bitzel("--directory", self.dir / "build", "parse", "--json")
        self.assertEqual(warm.json["cached"], 3)
        self.assertEqual(warm.json["python"], {"recipes": 3, "functions": [
            {"file": self.place("ears.bbclass", 2, "classes").rpartition(":")[0], "line": 2,
             "what": "event handler listen"},
            {"file": self.place("dough.bb", 3).rpartition(":")[0], "line": 3, "what": "anonymous function"},
            {"file": self.place("dough.bb", 6).rpartition(":")[0], "line": 6, "what": "function do_compile"}]})

    def test_without_any_it_says_nothing(self):
        self.write("build/conf/local.conf", "")
        self.write_recipe("dough", "")
        result = self.run_bitzel("--directory", self.dir / "build", "parse", "--json")
        self.assertEqual(result.json["python"], {"recipes": 0, "functions": []})
        self.assertEqual(result.err, "")


if __name__ == "__main__":
    bitzel.main()
