"""bitzel build: tasks that are to run all the same, and those that are only named."""

import unittest

import catalog
import test_build
from test_build import tasks


class Force(test_build.Kitchen):
    def test_a_forced_task_runs_and_the_same_outcome_goes_no_further(self):
        self.build("pizza")
        forced = self.build("-f", "-c", "compile", "dough")
        self.assertEqual(tasks(forced, "Executed"), {"dough:do_compile"})
        after = self.build("pizza")
        self.assertIn("(0 tasks executed, 1 from cache)", after.out)

    def test_another_outcome_reaches_what_waits_for_it_and_stays(self):
        self.edit("meta-kitchen/classes/base.bbclass", 'echo "${PN} with ${SALT}" > made',
                  'cat /proc/sys/kernel/random/uuid > made')
        self.build("pizza")
        (first,) = (self.dir / "build/builds").iterdir()
        self.assertEqual(tasks(self.build("-f", "-c", "compile", "dough"), "Executed"), {"dough:do_compile"})
        reached = self.build("pizza")
        self.assertIn("dough:do_install", tasks(reached, "Executed"))
        self.assertIn("pizza:do_compile", tasks(reached, "Executed"))
        self.assertNotIn("dough:do_compile", tasks(reached, "Executed"))
        self.assertNotIn("sauce:do_compile", tasks(reached, "Executed"))
        why = self.run_bitzel("--directory", self.dir / "build", "why", "pizza", "--since", first.name)
        self.assertRegex(why.out, r"\ndough:do_compile was forced at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC, "
                                  r"reaches 7 tasks\n$")
        self.assertIn("(0 tasks executed, 1 from cache)", self.build("pizza").out)

    def test_a_task_can_be_forced_before_the_default_one(self):
        self.build("pizza")
        result = self.build("-C", "install", "sauce", "dough")
        self.assertEqual(tasks(result, "Executed"), {"sauce:do_install", "dough:do_install"})
        self.assertIn("(0 tasks executed, 1 from cache)", self.build("pizza").out)

    def test_a_task_that_is_not_there_cannot_be_forced(self):
        result = self.build("-C", "bake", "sauce", code=3)
        self.assertIn("sauce has no task do_bake", result.err)

    def test_what_was_never_built_leaves_no_taint(self):
        self.build("-f", "-c", "compile", "sauce")
        self.assertEqual(catalog.live(self.dir / "build/cache/bitzel.catalog", catalog.TAINT), [])
        self.assertIn("(0 tasks executed, 1 from cache)", self.build("-c", "compile", "sauce").out)


    def test_a_damaged_catalog_still_knows_what_was_forced(self):
        self.edit("meta-kitchen/classes/base.bbclass", 'echo "${PN} with ${SALT}" > made',
                  'cat /proc/sys/kernel/random/uuid > made')
        self.build("dough")
        self.build("-f", "-c", "compile", "dough")
        self.build("dough")
        made = (self.out("dough") / "image/bin/dough").read_text()
        path = self.dir / "build/cache/bitzel.catalog"
        self.assertEqual(len(catalog.live(path, catalog.TAINT)), 1)
        good = path.read_bytes()
        for bad in (b"another!" + good[8:], good[:20] + b"version 9" + good[29:], good + b"x" * 100,
                    good[:200] + b"?" * 100 + good[300:]):
            path.write_bytes(bad)
            self.assertEqual(tasks(self.build("dough"), "Executed"), set())
            self.assertEqual((self.out("dough") / "image/bin/dough").read_text(), made)


class DryRun(test_build.Kitchen):
    def test_nothing_runs_and_all_that_would_is_listed(self):
        result = self.build("-n", "pizza")
        lines = result.out.splitlines()
        self.assertEqual(lines[-1], "Nothing was run (9 tasks to execute, 0 from cache)")
        self.assertEqual({line.split()[2] for line in lines[:-1]}, {
            f"{r}:do_{t}" for r in ("dough", "sauce", "pizza")
            for t in ("compile", "install", "populate_sysroot")})
        self.assertFalse(self.out("pizza").exists())
        self.build("sauce")
        told = self.build("-n", "--json", "pizza").json
        self.assertEqual(len(told["would_execute"]), 6)
        self.assertEqual(told["executed"], 0)
        self.assertEqual(told["cached"], 1)

    def test_forcing_in_a_dry_run_changes_nothing(self):
        self.build("sauce")
        result = self.build("-n", "-C", "install", "sauce")
        self.assertIn("Would execute sauce:do_install", result.out)
        self.assertIn("(0 tasks executed, 1 from cache)", self.build("sauce").out)


class Targets(test_build.Kitchen):
    def test_several_targets_with_tasks_of_their_own(self):
        result = self.build("dough:compile", "sauce:do_install")
        self.assertEqual(tasks(result, "Executed"), {"dough:do_compile", "sauce:do_compile", "sauce:do_install"})
        self.assertEqual(self.build("dough:bake", code=3).out, "")
        self.assertEqual(self.build("bread:compile", code=3).out, "")

    def test_a_configuration_can_be_named(self):
        self.edit("build/conf/local.conf", "MACHINE", 'BBMULTICONFIG = "spicy"\nMACHINE')
        self.write("build/conf/multiconfig/spicy.conf",
                   'SALT = "chili"\nTMPDIR = "${TOPDIR}/tmp-spicy"\n')
        result = self.build("mc:spicy:sauce", "sauce:compile")
        self.assertEqual({t for t in tasks(result, "Executed") if t.endswith("compile")},
                         {"mc:spicy:sauce:do_compile", "sauce:do_compile"})


class Local(test_build.Kitchen):
    def test_tiers_are_left_aside(self):
        shared = self.dir / "shared"
        shared.mkdir()
        tier = {"BITZEL_CACHE_TIERS": f"dir:{shared} rw"}
        self.build("sauce", env=tier)
        other = {**tier, "BITZEL_CACHE_DIR": str(self.dir / "other")}
        alone = self.build("--force-local", "sauce", env=other)
        self.assertEqual(len(tasks(alone, "Executed")), 3)
        third = {**tier, "BITZEL_CACHE_DIR": str(self.dir / "third")}
        self.assertIn("(0 tasks executed, 1 from cache)", self.build("sauce", env=third).out)


if __name__ == "__main__":
    unittest.main()
