"""A run signs each task once, whatever else it tells about tasks."""

import json
import re

import bitzel
import demo

TASKS = 3


def unpack(path):
    """The tasks of a record. In a packed one they name inputs by their number."""
    head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    inputs, tasks = lines[:-head["tasks"]], lines[-head["tasks"]:]
    for task in tasks:
        for key in ("fields", "inputs", "context"):
            task[key] = [inputs[i] if isinstance(i, int) else i for i in task.get(key, [])]
    return tasks


class Once(demo.Project):
    """Two recipes, app and lib; app needs lib. lib is never remembered."""

    def setUp(self):
        super().setUp()
        conf = self.dir / "meta-one/conf/bitbake.conf"
        conf.write_text(conf.read_text(encoding="utf-8") +
                        'T = "${TOPDIR}/tmp/${PN}/temp"\n', encoding="utf-8")
        self.write("meta-one/classes/base.bbclass",
                   "addtask fetch\naddtask build after do_fetch\n"
                   'do_build[deptask] = "do_build"\ndo_fetch[noexec] = "1"\n'
                   "do_fetch() {\n    :\n}\ndo_build() {\n    : ${FLAGS}\n}\n")
        self.write("meta-one/recipes/lib.bb", 'FLAGS = "-O1"\nBB_DONT_CACHE = "1"\n'
                                              'deltask do_fetch\n')
        self.write("meta-one/recipes/app.bb", 'FLAGS = "-O2"\nDEPENDS = "lib"\n')

    def signed(self, *args):
        """How many tasks each signing of a run had."""
        result = self.run_in_build("--verbose", *args)
        self.assert_exit(result, 0)
        return [int(n) for n in re.findall(r"signed (\d+) tasks", result.err)]

    def test_a_build_signs_each_task_once(self):
        self.assertEqual(self.signed("build", "app"), [TASKS])
        self.write("meta-one/recipes/app.bb", 'FLAGS = "-O3"\nDEPENDS = "lib"\n')
        self.assertEqual(self.signed("build", "app"), [TASKS])

    def test_a_command_that_lists_inputs_signs_each_task_once(self):
        self.assertEqual(self.signed("build", "app"), [TASKS])
        for args in (["sig", "--inputs", "app"], ["sig", "--record", "-", "app"],
                     ["why", "app"], ["plan", "app"]):
            with self.subTest(args[0]):
                self.assertEqual(self.signed(*args), [TASKS])

    def test_the_record_of_a_build_is_what_sig_writes(self):
        self.assert_exit(self.run_in_build("build", "app"), 0)
        records = list((self.dir / "build").rglob("record"))
        self.assertEqual(len(records), 1)
        signed = self.dir / "signed"
        self.assert_exit(self.run_in_build("sig", "--record", signed, "app"), 0)
        self.assertEqual(unpack(records[0]), unpack(signed))


if __name__ == "__main__":
    bitzel.main()
