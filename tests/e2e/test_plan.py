"""bitzel plan: what would be restored, run or left alone, and how long that took before."""

import hashlib
import json
import sqlite3

import bitzel
import catalog
import demo
import reapi
import test_build
from test_build import tasks

MINUTE = 60 * 10**9


class Plan(demo.Project):
    def setUp(self):
        super().setUp()
        self.write("meta-one/classes/base.bbclass", "".join(
            f"do_{task}() {{\n    : ${{{task.upper()}_WITH}}\n}}\n"
            for task in ("fetch", "compile", "publish")) + """\
addtask fetch
addtask compile after do_fetch
addtask publish after do_compile
addtask build after do_publish
do_build[noexec] = "1"
do_build[deptask] = "do_build"
do_compile[deptask] = "do_publish"
""")
        self.write("meta-one/recipes/lib.bb", "")
        self.write("meta-one/recipes/app.bb", 'DEPENDS = "lib"\n')
        self.store = self.dir / "store"

    def plan(self, *args, code=0):
        result = self.run_in_build("plan", *args, env={"BITZEL_CACHE_DIR": str(self.store)})
        self.assert_exit(result, code)
        return result

    def keys(self):
        tasks = self.run_in_build("sig", "--all", "--json", "app").json["tasks"]
        return {task["name"]: task["signature"] for task in tasks}

    def have(self, *names):
        """Puts results of these tasks into the store."""
        keys = self.keys()
        for name in names:
            path = self.store / "ac" / keys[name][:2] / keys[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(reapi.seal(reapi.result(
                labels=[("bitzel/key", bytes.fromhex(keys[name]))])))

    def took(self, *rows, project=None):
        """Notes in the index how long tasks took: (recipe, version, task, nanoseconds)."""
        (self.store / "ac").mkdir(parents=True, exist_ok=True)
        self.assert_exit(self.run_in_build("cache", "reindex",
                                           env={"BITZEL_CACHE_DIR": str(self.store)}), 0)
        name = hashlib.sha256(str(self.store).encode()).hexdigest()[:16]
        with sqlite3.connect(self.dir / f".local/state/bitzel/index/{name}.db") as index:
            for number, (recipe, version, task, duration) in enumerate(rows):
                index.execute("INSERT INTO cost VALUES(?, 'board', ?, ?, ?, ?, ?, 0)",
                              (str(project or self.dir / "build"), recipe, task, version, number, duration))
        index.close()

    def counts(self, plan):
        return [plan[name] for name in ("tasks", "restored", "not_needed", "without_work", "run", "unless")]

    def test_without_a_store_everything_runs(self):
        result = self.plan("app")
        self.assertIn("note: there is no store at ", result.err)
        self.assertTrue(result.out.startswith("8 tasks: 0 restored, 0 not needed, 2 without work, 6 run "),
                        result.out)
        self.assertFalse(self.store.exists())

    def test_waves_wait_only_for_earlier_ones(self):
        waves = self.plan("--json", "app").json["waves"]
        names = [[task["name"] for task in wave] for wave in waves]
        self.assertEqual(sorted(names[0]), ["app:do_fetch", "lib:do_fetch"])
        self.assertEqual(names[1:], [["lib:do_compile"], ["lib:do_publish"], ["app:do_compile"],
                                     ["app:do_publish"]])
        self.assertEqual(waves[0][0]["signature"], self.keys()[waves[0][0]["name"]])
        self.assertIsNone(waves[0][0]["seconds"])

    def test_what_is_in_the_store_is_restored(self):
        self.have("app:do_publish", "lib:do_publish", "lib:do_fetch")
        got = self.plan("--json", "app").json
        # both do_build need the publications; nobody asks for what these were made of
        self.assertEqual(self.counts(got), [8, 2, 4, 2, 0, 0])
        self.assertEqual(sorted(got["restored_tasks"]), ["app:do_publish", "lib:do_publish"])
        self.assertEqual(self.plan("app").out,
                         "8 tasks: 2 restored, 4 not needed, 2 without work, 0 run\n")

    def test_a_directory_of_others_counts_as_the_store(self):
        self.have("app:do_publish", "lib:do_publish")
        self.store.rename(self.dir / "shared")
        self.write(".config/bitzel/bitzel.conf", f"[cache]\ntiers = dir:{self.dir}/shared\n"
                   "tiers = https://example.invalid/\n")
        result = self.plan("app")
        self.assertIn(" 2 restored, ", result.out)
        self.assertNotIn("example.invalid", result.err)  # nothing was left to ask it for
        self.assertIn(" 6 run ", self.plan("--force-local", "app").out)
        self.assertFalse(self.store.exists())

    def test_a_server_that_does_not_answer_is_told_of_and_can_be_left_out(self):
        self.write(".config/bitzel/bitzel.conf", "[cache]\ntiers = http://127.0.0.1:1/\n")
        result = self.plan("app")
        self.assertIn("note: the tier http://127.0.0.1:1/ does not answer: the plan is without it\n", result.err)
        self.assertIn(" 2 run, 4 run unless unchanged ", result.out)
        result = self.plan("--offline", "app")
        self.assertNotIn("does not answer", result.err)
        self.assertIn(" 6 run ", result.out)

    def test_a_damaged_result_is_none(self):
        self.have(*self.keys())
        for path in self.store.glob("ac/*/*"):
            path.write_bytes(b"")
        self.assertEqual(self.counts(self.plan("--json", "app").json), [8, 0, 0, 2, 2, 4])

    def test_a_change_runs_what_waits_for_it(self):
        self.have(*self.keys())
        self.write("meta-one/recipes/app.bb", 'DEPENDS = "lib"\nCOMPILE_WITH = "care"\n')
        got = self.plan("--json", "app").json
        self.assertEqual([[task["name"] for task in wave] for wave in got["waves"]],
                         [["app:do_compile"], ["app:do_publish"]])
        self.assertEqual([task["unless"] for wave in got["waves"] for task in wave], [False, True])
        self.assertEqual(sorted(got["restored_tasks"]), ["app:do_fetch", "lib:do_publish"])
        self.assertIn("\n  app:do_compile\nwave 2: 1 task\n  app:do_publish  unless unchanged\n",
                      self.plan("app").out)
        self.write("meta-one/recipes/lib.bb", 'FETCH_WITH = "care"\n')
        self.assertEqual(self.counts(self.plan("--json", "app").json), [8, 1, 0, 2, 1, 4])

    def test_a_task_without_a_stamp_is_never_restored(self):
        self.write("meta-one/recipes/app.bb", 'DEPENDS = "lib"\ndo_publish[nostamp] = "1"\n')
        self.have(*self.keys())
        got = self.plan("--json", "app").json
        self.assertEqual([[task["name"] for task in wave] for wave in got["waves"]],
                         [["app:do_publish"]])

    def test_times_are_those_of_earlier_runs(self):
        self.took(("app", "0.8", "do_compile", 3 * MINUTE), ("app", "0.9", "do_compile", 2 * MINUTE),
                  ("lib", "1.0", "do_compile", MINUTE), ("lib", "1.1", "do_compile", 7 * MINUTE),
                  ("app", "1.0", "do_fetch", 90 * MINUTE))
        self.took(("app", "1.0", "do_compile", 5 * MINUTE), project="/another")
        got = self.plan("--json", "app").json
        self.assertEqual((got["work_seconds"], got["unknown"]), (93 * 60, 3))
        self.assertEqual(got["critical_seconds"], 92 * 60)  # the later of two other versions counts
        self.assertEqual(got["critical_path"], ["app:do_fetch", "app:do_compile", "app:do_publish"])
        self.assertIn("6 run (about 1h33m and 3 of unknown length, critical path 1h32m: app:do_fetch > "
                      "app:do_compile > app:do_publish)\n", self.plan("app").out)
        self.assertIn("  app:do_compile  2m00s\n", self.plan("app").out)

    def test_long_plans_are_cut(self):
        for number in range(20):
            self.write(f"meta-one/recipes/part{number}.bb", "")
        self.write("meta-one/recipes/app.bb",
                   'DEPENDS = "' + " ".join(f"part{number}" for number in range(20)) + '"\n')
        lines = self.plan("app").out.splitlines()
        self.assertEqual(lines[-1], "and 23 more, 5 waves in all; --all lists them")
        self.assertEqual(sum(line.startswith("  ") for line in lines), 40)
        lines = self.plan("--all", "app").out.splitlines()
        self.assertEqual(sum(line.startswith("  ") for line in lines), 63)

    def test_another_task_and_no_such_target(self):
        self.assertEqual(self.counts(self.plan("--json", "-c", "fetch", "app").json), [1, 0, 0, 0, 1, 0])
        self.plan("nothing", code=3)


class Agreement(test_build.Kitchen):
    """A plan, a dry run and the build that follows them say the same."""

    def decisions(self, *args):
        """What the plan says, which is also what a dry run says."""
        result = self.run_bitzel("--directory", self.dir / "build", "plan", "--json", *args)
        self.assert_exit(result, 0)
        plan = result.json
        waves = [task for wave in plan["waves"] for task in wave]
        dry = self.build("-n", "--json", *args).json
        self.assertEqual({task["name"] for task in waves}, set(dry.get("would_execute", ())))
        self.assertEqual({task["name"] for task in waves if task["unless"]}, set(dry.get("unless", ())))
        self.assertEqual((plan["restored"], plan["not_needed"], plan["without_work"]),
                         (dry["cached"], dry["not_needed"], dry["noexec"]))
        return ({task["name"] for task in waves if not task["unless"]},
                {task["name"] for task in waves if task["unless"]}, set(plan["restored_tasks"]))

    def test_a_task_that_becomes_nostamp_runs_with_all_that_depends_on_it(self):
        self.build("pizza")
        self.edit("meta-kitchen/recipes/sauce.bb", "", 'do_compile[nostamp] = "1"\n')
        run, unless, restored = self.decisions("pizza")
        self.assertEqual(len(run), 6)
        self.assertEqual(unless, set())
        done = self.build("pizza")
        self.assertEqual(tasks(done, "Executed"), run)
        self.assertEqual(tasks(done, "Cached"), restored)

    def test_what_depends_on_a_change_runs_unless_it_comes_out_the_same(self):
        self.build("pizza")
        self.edit("meta-kitchen/classes/base.bbclass", 'echo "${PN} with ${SALT}" > made',
                  'printf "%s\\n" "${PN} with ${SALT}" > made')
        run, unless, restored = self.decisions("pizza")
        self.assertEqual(run, {"dough:do_compile", "sauce:do_compile"})
        self.assertEqual(restored, set())
        done = self.build("pizza")
        self.assertEqual(tasks(done, "Executed"), run)
        self.assertEqual(tasks(done, "Cached"), unless)

    def test_what_came_out_the_same_elsewhere_is_restored_by_what_it_sees(self):
        self.build("pizza")
        self.edit("meta-kitchen/classes/base.bbclass", 'echo "${PN} with ${SALT}" > made',
                  'printf "%s\\n" "${PN} with ${SALT}" > made')
        self.build("sauce", "dough")
        run, unless, restored = self.decisions("pizza")
        self.assertEqual((run, unless), (set(), set()))
        self.assertLess({"pizza:do_compile", "pizza:do_populate_sysroot"}, restored)
        done = self.build("pizza")
        self.assertEqual(tasks(done, "Cached"), restored)
        self.assertIn("pizza:do_compile (", done.err)
        self.assertIn("as what it needs came out the same", done.err)

    def test_what_tasks_took_is_known_of_each_project_alone(self):
        self.build("sauce")
        def known():
            result = self.run_bitzel("--directory", self.dir / "build", "plan", "--json", "sauce")
            return result.json["unknown"]
        self.edit("meta-kitchen/recipes/sauce.bb", "", 'SALT = "much"\n')
        self.assertEqual(known(), 0)
        self.edit("meta-kitchen/conf/bitbake.conf", 'PV = "1.0"', 'PV = "1.1"')
        self.assertEqual(known(), 0)
        self.edit("build/conf/local.conf", "stove", "oven")
        self.assertEqual(known(), 3)
        self.edit("build/conf/local.conf", "oven", "stove")
        (self.dir / "build").rename(self.dir / "elsewhere")
        (self.dir / "build").mkdir()
        (self.dir / "elsewhere/conf").rename(self.dir / "build/conf")
        self.assertEqual(known(), 0)  # that is where it was
        (self.dir / "build/conf").rename(self.dir / "elsewhere/conf")
        result = self.run_bitzel("--directory", self.dir / "elsewhere", "plan", "--json", "sauce")
        self.assertEqual(result.json["unknown"], 3)

    def test_a_forced_task_is_planned_as_it_was_forced(self):
        self.build("pizza")
        self.edit("meta-kitchen/recipes/sauce.bb", "", 'do_install() {\n    false\n}\n')
        self.build("-C", "compile", "sauce", code=1)
        self.edit("meta-kitchen/recipes/sauce.bb", "false", "true")
        run, unless, restored = self.decisions("sauce")
        self.assertEqual((run, restored), ({"sauce:do_install"}, {"sauce:do_compile"}))
        done = self.build("sauce")
        self.assertEqual(tasks(done, "Executed"), run | unless)

    def test_options_of_build_mean_the_same(self):
        self.build("pizza", "sauce")
        for options in (["-f", "-c", "install", "sauce"], ["--force", "-c", "compile", "pizza"],
                        ["-C", "compile", "sauce"], ["--clear-stamp", "do_install", "sauce"], ["--no-cache", "pizza"],
                        ["--no-cache", "-f", "-c", "install", "sauce"], ["-k", "pizza"]):
            with self.subTest(" ".join(options)):
                path = self.dir / "build/cache/bitzel.catalog"
                before = catalog.live(path, catalog.TAINT)
                run, unless, restored = self.decisions(*options)
                self.assertEqual(catalog.live(path, catalog.TAINT), before)
                done = self.build(*options)
                executed, cached = tasks(done, "Executed"), tasks(done, "Cached")
                self.assertLessEqual(run, executed)
                self.assertLessEqual(executed, run | unless)
                self.assertLessEqual(restored, cached)
                self.assertEqual(bool(run), options[0] != "-k")

    def test_a_task_that_is_not_there_cannot_be_forced(self):
        plan = self.run_bitzel("--directory", self.dir / "build", "plan", "-C", "bake", "sauce")
        self.assert_exit(plan, 3)
        self.assertEqual(plan.err.splitlines()[-1], self.build("-C", "bake", "sauce", code=3).err.splitlines()[-1])

    def test_what_cannot_be_built_is_left_out_on_request(self):
        self.edit("meta-kitchen/recipes/sauce.bb", "", 'python do_compile() {\n    pass\n}\n')
        for options in ([], ["-k"]):
            with self.subTest(options):
                plan = self.run_bitzel("--directory", self.dir / "build", "plan", "--json", *options, "pizza", "dough")
                dry = self.build("-n", "--json", *options, "pizza", "dough", code=2)
                self.assert_exit(plan, 2)
                self.assertEqual(plan.err.splitlines()[-1], dry.err.splitlines()[-1])
                self.assertEqual(bool(plan.out), bool(options))
        self.assertEqual({task["name"] for wave in plan.json["waves"] for task in wave},
                         set(dry.json["would_execute"]))

    def test_a_dry_run_names_what_it_is_not_sure_of(self):
        self.build("pizza")
        self.edit("meta-kitchen/classes/base.bbclass", "with ${SALT}", "without ${SALT}")
        out = self.build("-n", "pizza").out
        self.assertRegex(out, r"Would execute sauce:do_compile \([0-9a-f]{8}\)\n")
        self.assertRegex(out, r"Would execute pizza:do_compile \([0-9a-f]{8}\), "
                              r"unless what it needs comes out the same\n")
        self.assertIn("Nothing was run (9 tasks to execute, 7 of them unless unchanged, 0 from cache)\n", out)
        events = self.dir / "events"
        self.build("-n", "--events", events, "pizza")
        lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
        self.assertEqual({line["task"]: line["unless"] for line in lines if line["event"] == "wanted"}
                         ["pizza:do_compile"], True)


if __name__ == "__main__":
    bitzel.main()
