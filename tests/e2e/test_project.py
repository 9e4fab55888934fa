"""bitzel project, and how commands find the project they are about."""

import re
import subprocess

import bitzel
import demo

KAS = '''\
header:
  version: 14
machine: board
target: [hello, "mc:arm:hello"]
env:
  GREETING: hi
  EDITOR:
repos:
  own:
    layers: {meta-one: }
  two:
    url: https://example.com/meta-two.git
    branch: main
    path: meta-two
local_conf_header:
  mc: |
    include conf/multiconfig/${BB_CURRENT_MC}.conf
'''


class Directory(demo.Project):
    def test_without_targets_there_is_nothing_to_build(self):
        for command in ("build", "plan"):
            result = self.run_in_build(command)
            self.assert_exit(result, 2)
            self.assertIn("no target is given", result.err)


class Kas(demo.Project):
    """The layers of the demo, but no build directory: a kas file instead."""

    def setUp(self):
        super().setUp()
        (self.dir / "build/conf/bblayers.conf").unlink()
        self.write("kas-project.yml", KAS)
        self.write("build/conf/multiconfig/arm.conf", 'MACHINE = "arm"\n')
        self.git("init", "-q", "-b", "main")
        self.commit()

    def git(self, *words):
        env = self.environment(GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="a",
                               GIT_AUTHOR_EMAIL="a@example.com", GIT_COMMITTER_NAME="a",
                               GIT_COMMITTER_EMAIL="a@example.com")
        done = subprocess.run(["git", *words], cwd=self.dir / "meta-two", env=env, check=True,
                              stdout=subprocess.PIPE)
        return done.stdout.decode().strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "step")
        return self.git("rev-parse", "HEAD")

    def value(self, *args, **how):
        result = self.run_bitzel("getvar", "--value", *args, **how)
        self.assert_exit(result, 0)
        return result.out.rstrip("\n")

    def test_the_kas_file_makes_the_build_directory(self):
        self.assertEqual(self.value("MACHINE"), "board")
        self.assertEqual(self.value("-r", "hello", "LIST"), "a b c d")
        self.assertEqual(self.value("-r", "mc:arm:hello", "MACHINE"), "arm")
        conf = (self.dir / "build/conf/bblayers.conf").read_text()
        self.assertIn("${TOPDIR}/../meta-one", conf)
        self.assertEqual(self.value("TOPDIR"), str(self.dir / "build"))

    def test_a_recipe_can_be_asked_for_in_every_configuration(self):
        text = self.run_bitzel("getvar", "-r", "mc:*:hello", "MACHINE").out
        self.assertEqual(text, '# mc::hello\nMACHINE="board"\n# mc:arm:hello\nMACHINE="arm"\n')
        got = self.run_bitzel("getvar", "-r", "mc:*:hello", "--json", "MACHINE").json
        self.assertEqual([(x.get("mc"), x["value"]) for x in got], [(None, "board"), ("arm", "arm")])
        self.assertEqual(self.value("-r", "mc:arm", "MACHINE"), "arm")
        unknown = self.run_bitzel("getvar", "-r", "mc:ppc:hello", "MACHINE")
        self.assert_exit(unknown, 3)
        self.assertIn("no configuration is called 'ppc'", unknown.err)

    def test_variables_of_the_kas_file_pass(self):
        self.assertEqual(self.value("GREETING"), "hi")
        self.assertEqual(self.value("GREETING", env={"GREETING": "ho"}), "ho")
        self.assertEqual(self.value("EDITOR", env={"EDITOR": "vi"}), "vi")
        self.assertEqual(self.value("DL_DIR", env={"DL_DIR": "/d"}), "/d")
        self.assert_exit(self.run_bitzel("getvar", "FOO", env={"FOO": "1"}), 3)

    def test_without_targets_a_build_is_about_those_of_the_kas_file(self):
        def plan(*args, **how):
            result = self.run_bitzel("plan", "--json", *args, **how)
            self.assert_exit(result, 0)
            return sorted(task["name"] for wave in result.json["waves"] for task in wave)
        self.assertEqual(plan(), plan("hello", "mc:arm:hello"))
        self.assertEqual(plan(), ["hello:do_build", "mc:arm:hello:do_build"])
        self.assertEqual(plan(env={"KAS_TARGET": "hello"}), ["hello:do_build"])
        self.write("kas-project.yml", KAS + "task: nothing\n")
        for command in ("plan", "build"):
            self.assertIn("has no task do_nothing", self.run_bitzel(command).err)
        self.assertEqual(plan("-c", "build"), ["hello:do_build", "mc:arm:hello:do_build"])
        self.assertEqual(plan("hello"), ["hello:do_build"])  # the task is for its own targets

    def test_the_machine_of_the_environment_wins_and_counts(self):
        self.assertEqual(self.value("MACHINE", env={"MACHINE": "other"}), "other")
        self.assertEqual(self.value("DISTRO", env={"DISTRO": "mine"}), "mine")
        self.assertEqual(self.value("MACHINE", env={"MACHINE": "other", "BB_ENV_PASSTHROUGH": "HOME"}), "board")
        self.write("build/conf/multiconfig/arm.conf", "")
        self.write("meta-one/recipes/made.bb", "do_build() {\n    echo ${MACHINE} ${DISTRO}\n}\n")
        keys = [self.run_bitzel("sig", "--json", "made", env=env).json["tasks"][0]["signature"]
                for env in ({}, {"MACHINE": "other"}, {"DISTRO": "mine"}, {"MACHINE": "board"})]
        self.assertEqual(len(set(keys)), 3)
        self.assertEqual(keys[0], keys[3])

    def test_what_is_named_wins_over_what_is_near(self):
        self.write("other.yml", KAS.replace("machine: board", "machine: other"))
        self.write("top.yml", "header: {version: 14}\nmachine: top\n")
        self.assertEqual(self.value("MACHINE"), "board")
        self.assertEqual(self.value("MACHINE", env={"BITZEL_PROJECT": "other.yml"}), "other")
        self.assertEqual(self.value("MACHINE", "--project", "other.yml:top.yml",
                                    env={"BITZEL_PROJECT": "no.yml"}), "top")
        self.assertEqual(self.value("MACHINE", "--project", "build"), "top")

    def test_a_missing_checkout_says_what_to_run(self):
        (self.dir / "meta-two").rename(self.dir / "elsewhere")
        result = self.run_bitzel("getvar", "MACHINE")
        self.assert_exit(result, 2)
        self.assertIn("repository 'two' is not checked out", result.err)
        self.assertIn("kas-project.yml:12:", result.err)
        self.assertIn(f"git clone -b main https://example.com/meta-two.git {self.dir}/meta-two",
                      result.err)
        shown = self.run_bitzel("project", "--json")
        self.assert_exit(shown, 0)
        self.assertEqual([r["present"] for r in shown.json["repos"]], [True, False])

    def test_a_mistake_in_the_kas_file_is_shown_with_its_place(self):
        self.write("kas-project.yml", KAS.replace("machine: board", "machin: board"))
        self.assertIn("kas-project.yml:3: unknown key 'machin'",
                      self.run_bitzel("getvar", "MACHINE").err)

    def test_show_tells_what_there_is(self):
        head = self.git("rev-parse", "HEAD")
        got = self.run_bitzel("project", "--json").json
        self.assertEqual((got["kind"], got["project"]), ("kas", str(self.dir / "kas-project.yml")))
        self.assertIn("upwards", got["chosen_by"])
        self.assertEqual((got["machine"], got["targets"]), ("board", ["hello", "mc:arm:hello"]))
        two = got["repos"][1]
        self.assertEqual((two["branch"], two["commit"]), ("main", None))
        self.assertEqual(two["checkout"], {"commit": head, "branch": "main", "changed": False})
        self.assertEqual(got["layers"], [f"{self.dir}/meta-one", f"{self.dir}/meta-two"])
        self.assertEqual(got["environment"]["GREETING"], "hi")
        text = self.run_bitzel("project", "show").out
        self.assertIn(f"  checked out {head} (main)\n", text)
        self.assertIn("environment   GREETING=hi\n", text)
        self.assertFalse((self.dir / "build/conf/bblayers.conf").exists(), "show writes nothing")

    @staticmethod
    def pinned(lock):
        """The one commit of a lock file. In quotes if it looks like a number, as some do."""
        return re.search(r'^ +commit: "?([0-9a-f]{40})"?$', lock.read_text(), re.M).group(1)

    def test_lock_pins_what_is_checked_out(self):
        lock = self.dir / "kas-project.lock.yml"
        first = self.git("rev-parse", "HEAD")
        self.assertEqual(self.run_bitzel("project", "lock", "-n").out, f"new       {first}  two\n")
        self.assertFalse(lock.exists())
        self.assertEqual(self.run_bitzel("project", "lock").out, f"new       {first}  two\n")
        self.assertEqual(self.pinned(lock), first)
        self.assertEqual(self.run_bitzel("project", "lock").out, f"unchanged {first}  two\n")
        second = self.commit()
        got = self.run_bitzel("project", "lock", "--json").json
        self.assertEqual(got["repos"], [{"id": "two", "state": "updated", "commit": second,
                                         "before": first, "changed": False}])
        self.assertEqual(got["lock"], str(lock))
        self.assertEqual(self.pinned(lock), second)
        self.assertEqual(self.run_bitzel("project", "--json").json["repos"][1]["commit"], second)

    def test_lock_warns_of_changes_and_leaves_fixed_commits_alone(self):
        self.write("meta-two/conf/layer.conf", "")
        result = self.run_bitzel("project", "lock", "--dry-run")
        self.assertIn("two has changes that its commit does not hold", result.err)
        self.write("kas-project.yml",
                   KAS.replace("branch: main", f"commit: {self.git('rev-parse', 'HEAD')}"))
        self.assertEqual(self.run_bitzel("project", "lock", "--json").json["repos"], [])
        self.assertFalse((self.dir / "kas-project.lock.yml").exists())


class BuildDirectory(demo.Project):
    def test_show_tells_what_the_configuration_says(self):
        got = self.run_in_build("project", "--json").json
        self.assertEqual((got["kind"], got["machine"]), ("build directory", "board"))
        self.assertEqual(len(got["layers"]), 2)
        got = self.run_bitzel("project", "--json", env={"BUILDDIR": str(self.dir / "build")}).json
        self.assertEqual(got["chosen_by"], "BUILDDIR")

    def test_there_is_nothing_to_lock(self):
        result = self.run_in_build("project", "lock")
        self.assert_exit(result, 2)
        self.assertIn("--project names a kas file", result.err)

    def test_files_of_the_user_come_before_and_after(self):
        self.write("build/pre.conf", 'A ?= "pre"\nB = "pre"\n')
        self.write("build/post.conf", 'A ?= "post"\nB = "post"\n')
        run = ["--read", "pre.conf", "--postread", "post.conf", "getvar", "--value"]
        self.assertEqual(self.run_in_build(*run, "A").out, "pre\n")
        self.assertEqual(self.run_in_build(*run, "B").out, "post\n")
        again = self.run_in_build("-r", "pre.conf", "getvar", "--value", "B",
                                  env={"BBPOSTCONF": "post.conf"})
        self.assertEqual(again.out, "post\n")
        missing = self.run_in_build("-r", "none.conf", "getvar", "B")
        self.assert_exit(missing, 2)
        self.assertIn("none.conf", missing.err)

    def test_the_environment_passes_by_bitbakes_rules(self):
        env = {"FOO": "1", "BB_ENV_PASSTHROUGH_ADDITIONS": "FOO"}
        self.assertEqual(self.run_in_build("getvar", "FOO", env=env).out, 'FOO="1"\n')
        self.assertEqual(self.run_in_build("getvar", "LC_ALL", env=env).out,
                         'LC_ALL="en_US.UTF-8"\n')
        self.assert_exit(self.run_in_build("getvar", "FOO", env={"FOO": "1"}), 3)


if __name__ == "__main__":
    bitzel.main()
