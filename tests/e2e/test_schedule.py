"""bitzel build: which task runs when, and how much of the machine it gets."""

import json
import re
import shutil
import socket
import unittest

import test_build

# Each command leaves the time when it began and ended.
MAKEFILE = '''\
all: 1 2 3 4 5 6
1 2 3 4 5 6:
\t@date +%s.%N > $@.began; sleep 0.08; date +%s.%N > $@.ended
'''

MAKES = '''\
do_compile() {
    cp ${KITCHEN}/files/Makefile .
    make %s
}
do_compile[file-checksums] = "${KITCHEN}/files/Makefile:True"
'''


def most_at_once(spans):
    """How many of the spans (began, ended) overlap at most."""
    steps = sorted([(b, 1) for b, _ in spans] + [(e, -1) for _, e in spans])
    now = most = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return most


@unittest.skipUnless(shutil.which("make"), "needs make")
class Makes(test_build.Kitchen):
    def setUp(self):
        super().setUp()
        self.write("meta-kitchen/files/Makefile", MAKEFILE)
        self.edit("meta-kitchen/conf/bitbake.conf", 'SALT ?=', 'PARALLEL_MAKE ?= "-j 9"\nSALT ?=')
        self.edit("meta-kitchen/conf/bitbake.conf", ' FILE"', ' FILE PARALLEL_MAKE"')
        for name in ("dough", "sauce"):
            self.write(f"meta-kitchen/recipes/{name}.bb", MAKES % "${PARALLEL_MAKE}")

    def spans(self, *recipes):
        found = []
        for recipe in recipes:
            for began in (self.out(recipe) / "work/build").glob("*.began"):
                found.append(tuple(float(p.read_text()) for p in (began, began.with_suffix(".ended"))))
        return found

    def test_makes_of_two_tasks_together_run_as_many_commands_as_there_are_jobs(self):
        result = self.build("-j", "3", "-c", "compile", "dough", "sauce")
        spans = self.spans("dough", "sauce")
        self.assertEqual(len(spans), 12)
        # As many as that need not meet on a machine that is busy.
        self.assertIn(most_at_once(spans), (2, 3), result.err)
        log = (self.dir / "build/tmp/work/dough/temp/log.do_compile").read_text()
        self.assertNotIn("warning", log)

    def test_an_option_may_stand_in_a_line_that_goes_on(self):
        self.write("meta-kitchen/recipes/dough.bb", MAKES % "\\\n    ${PARALLEL_MAKE}")
        self.build("-j", "1", "-c", "compile", "dough")
        self.assertEqual(most_at_once(self.spans("dough")), 1)

    def test_ninjas_that_know_a_jobserver_get_no_number(self):
        for version, style, given in (("1.13.0", "fifo:/x", "-v all"), ("1.12.1", "fifo:/x", "-v -j 9 all"),
                                      ("1.13.0", "8,9", "-v -j 9 all"), ("2.0", "fifo:/x", "-v all")):
            self.write("meta-kitchen/recipes/dough.bb", f'''\
ninja() {{
    if [ "$1" = --version ]; then echo {version}; else echo "$@" > made; fi
}}
do_compile() {{
    MAKEFLAGS="-j --jobserver-auth={style}"
    ninja -v ${{PARALLEL_MAKE}} all
}}
''')
            self.build("-c", "compile", "dough")
            self.assertEqual((self.out("dough") / "work/build/made").read_text(), given + "\n")

    def test_one_job_is_one_command(self):
        self.build("-j", "1", "-c", "compile", "dough")
        self.assertEqual(most_at_once(self.spans("dough")), 1)

    def test_a_make_that_is_to_run_one_command_at_a_time_does(self):
        self.write("meta-kitchen/recipes/dough.bb", 'PARALLEL_MAKE = ""\n' + MAKES % "${PARALLEL_MAKE}")
        self.build("-j", "4", "-c", "compile", "dough")
        self.assertEqual(most_at_once(self.spans("dough")), 1)

    def test_tokens_of_a_make_that_was_killed_are_not_lost(self):
        # It dies while its make has all tokens; what runs next has them again.
        self.write("meta-kitchen/recipes/dough.bb", MAKES % "${PARALLEL_MAKE} & sleep 0.06; kill -9 $$")
        self.write("meta-kitchen/recipes/sauce.bb",
                   (MAKES % "${PARALLEL_MAKE}").replace("do_compile", "do_install")
                   + "do_compile() {\n    sleep 0.3\n}\n")
        self.build("-j", "3", "-k", "dough", "sauce", code=1)
        self.build("-c", "install", "sauce")
        self.assertEqual(most_at_once(self.spans("sauce")), 3)

    def test_how_many_jobs_there_are_does_not_change_signatures(self):
        self.build("-j", "2", "-c", "compile", "dough")
        again = self.build("-j", "4", "-c", "compile", "dough",
                           env={"BB_ENV_PASSTHROUGH_ADDITIONS": "PARALLEL_MAKE", "PARALLEL_MAKE": "-j 2"})
        self.assertRegex(again.out, r"\(0 tasks executed, 1 from cache\)")


class Waves(test_build.Kitchen):
    def test_the_result_is_the_same(self):
        first = self.build("--schedule=waves", "pizza")
        self.assertIn("(9 tasks executed, 0 from cache)", first.out)
        order = re.findall(r"^Executed (\S+)", first.err, re.M)
        waves = [["dough:do_compile", "sauce:do_compile"], ["dough:do_install", "sauce:do_install"]]
        self.assertEqual([set(order[0:2]), set(order[2:4])], [set(w) for w in waves])
        again = self.build("--schedule=completion", "pizza")
        self.assertIn("(0 tasks executed, 1 from cache)", again.out)


class Timeout(test_build.Kitchen):
    def test_a_task_that_takes_too_long_is_stopped_and_said_so(self):
        self.write("meta-kitchen/recipes/sauce.bb",
                   "do_compile() {\n    echo stirring\n    sleep 60\n}\ndo_compile[timeout] = \"1\"\n")
        result = self.build("-k", "sauce", "dough", code=1)
        self.assertIn("not done after 1s, its timeout", result.err)
        self.assertIn("| stirring", result.err)
        self.assertEqual(len(test_build.tasks(result, "Executed")), 3)

    def test_so_it_is_with_what_is_fetched(self):
        with socket.create_server(("127.0.0.1", 0)) as server:  # which never says anything
            self.write("meta-kitchen/recipes/sauce.bb", f'''\
SRC_URI = "http://127.0.0.1:{server.getsockname()[1]}/basil.tar"
SRC_URI[sha256sum] = "{64 * "0"}"
DL_DIR = "${{TOPDIR}}/downloads"
python do_fetch() {{
    pass
}}
addtask fetch before do_compile
do_fetch[timeout] = "1"
''')
            result = self.build("sauce", code=1)
        self.assertIn("not done after 1s, its timeout", result.err)

    def test_it_is_not_part_of_a_signature(self):
        self.build("sauce")
        self.write("meta-kitchen/recipes/sauce.bb",
                   'do_compile[timeout] = "9"\nBITZEL_TASK_TIMEOUT = "8"\n')
        self.assertIn("(0 tasks executed, 1 from cache)", self.build("--timeout", "7", "sauce").out)


class Overlap(test_build.Kitchen):
    def test_siblings_that_write_the_same_path_are_told(self):
        for name in ("dough", "sauce"):
            self.write(f"meta-kitchen/recipes/{name}.bb",
                       "do_populate_sysroot:append() {\n    echo ${PN} > ${SYSROOTS}/cook\n}\n")
        result = self.build("pizza")
        self.assertRegex(result.err, r"(dough|sauce):do_populate_sysroot and (dough|sauce):do_populate_sysroot "
                                     r"write tmp/sysroots/cook differently")
        kept = self.last_events()
        events = [json.loads(line) for line in kept.read_text().splitlines()]
        clash = {k: v for e in events if e["event"] == "overlap" for k, v in e.items() if k != "at"}
        both = {"dough:do_populate_sysroot", "sauce:do_populate_sysroot"}
        self.assertEqual({clash.pop("task"), clash.pop("other")}, both)
        self.assertEqual(clash, {"event": "overlap", "path": "tmp/sysroots/cook", "more": 0})
        told = self.run_bitzel("--directory", self.dir / "build", "report", "--json").json["overlaps"]
        self.assertEqual([(o["path"], {o["task"], o["other"]}) for o in told], [("tmp/sysroots/cook", both)])
        text = self.run_bitzel("--directory", self.dir / "build", "report").out
        self.assertRegex(text, r"tmp/sysroots/cook by \w+:do_populate_sysroot and \w+:do_populate_sysroot\n")


    def test_a_path_that_many_write_is_told_once(self):
        for name in ("dough", "sauce", "cheese"):
            self.write(f"meta-kitchen/recipes/{name}.bb",
                       "do_populate_sysroot:append() {\n    echo ${PN} > ${SYSROOTS}/cook\n}\n")
        self.edit("meta-kitchen/recipes/pizza.bb", 'DEPENDS = "dough sauce"', 'DEPENDS = "dough sauce cheese"')
        result = self.build("pizza")
        self.assertEqual(result.err.count("write tmp/sysroots/cook differently"), 1, result.err)
        self.assertIn("warning: 2 more pairs of tasks write such a path differently: 'bitzel report' lists them",
                      result.err)


class Differs(test_build.Kitchen):
    def test_a_task_that_is_not_reproducible_is_told(self):
        self.write("meta-kitchen/recipes/sauce.bb", """\
do_compile() {
    cat /proc/sys/kernel/random/uuid > made
}
""")
        self.assertNotIn("reproducible", self.build("pizza").err)
        again = self.build("--no-cache", "pizza")
        told = [line for line in again.err.splitlines() if "reproducible" in line]
        self.assertEqual(len(told), 1, again)  # not those that got what it made
        self.assertRegex(told[0], "^warning: sauce:do_compile is not reproducible")
        kept = self.last_events()
        events = [json.loads(line) for line in kept.read_text().splitlines()]
        self.assertEqual([e["task"] for e in events if e["event"] == "differs"], ["sauce:do_compile"])
        report = self.run_bitzel("--directory", self.dir / "build", "report", "--json").json
        self.assertEqual(report["not_reproducible"], ["sauce:do_compile"])
        text = self.run_bitzel("--directory", self.dir / "build", "report").out
        self.assertRegex(text, r"Not reproducible\n(-+\n)?sauce:do_compile\n")


@unittest.skipUnless(shutil.which("make"), "needs make")
class Times(test_build.Kitchen):
    def test_a_later_task_does_not_make_again_what_an_earlier_one_made(self):
        self.write("meta-kitchen/recipes/sauce.bb", '''\
addtask configure before do_compile
do_configure[dirs] = "${B}"
do_configure() {
    printf 'all: b\\nb: a Makefile\\n\\tcat a a > b; echo made >> log\\na: c\\n\\tcp c a\\n' > Makefile
    echo 1 > c
}
do_compile() {
    make
}
do_install() {
    make
    touch c
    make
    install -D log ${D}/log
}
''')
        self.build("-c", "install", "sauce")
        # Once to compile, and once because the source was touched.
        self.assertEqual((self.out("sauce") / "image/log").read_text(), "made\nmade\n")

    @unittest.skipUnless(shutil.which("gcc"), "needs gcc")
    def test_installing_does_not_compile_again_what_has_dependency_files(self):
        self.write("meta-kitchen/recipes/sauce.bb", '''\
addtask configure before do_compile
do_configure[dirs] = "${B}"
do_configure() {
    cat > Makefile <<'EOF'
sauce: main.o part.o
\t$(CC) -o $@ $^; echo linked >> log
%.o: %.c
\t$(CC) -MMD -MP -c -o $@ $<; echo $@ >> log
-include main.d part.d
install: sauce
\tinstall -D sauce $(DESTDIR)/bin/sauce
\tinstall -m 644 log $(DESTDIR)/log
EOF
    echo 'int part(void);' > part.h
    printf '#include <stdio.h>\\n#include "part.h"\\nint main(void) { return part(); }\\n' > main.c
    printf '#include "part.h"\\nint part(void) { return 0; }\\n' > part.c
}
do_compile() {
    make
}
do_install() {
    make install DESTDIR=${D}
}
''')
        self.build("-c", "install", "sauce")
        self.assertEqual(sorted((self.out("sauce") / "image/log").read_text().split()),
                         ["linked", "main.o", "part.o"])


if __name__ == "__main__":
    unittest.main()
