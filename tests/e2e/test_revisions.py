"""Tags, branches and ${AUTOREV} are resolved once, remembered, and resolved again when asked to."""

import os
import subprocess

import bitzel
import test_build
import test_sources


class Revisions(test_build.Kitchen):
    def setUp(self):
        super().setUp()
        self.write("meta-kitchen/classes/base.bbclass", test_sources.CLASS)
        self.edit("meta-kitchen/conf/bitbake.conf", "SALT ?=",
                  'DL_DIR ?= "${TOPDIR}/downloads"\nFILESPATH = "${KITCHEN}/files"\n'
                  'AUTOREV = "AUTOINC"\n'
                  'BB_SIGNATURE_EXCLUDE_FLAGS = "doc defaultval func python"\nSALT ?=')
        self.repo = self.dir / "repo"
        self.memory = self.dir / "build/cache/bitzel.revisions"
        self.repo.mkdir()
        self.git("init", "-q", "-b", "main")
        self.first = self.commit("one")
        self.git("tag", "v1")
        self.recipe("v1")

    def git(self, *args):
        return subprocess.run(
            ["git", "-C", str(self.repo), "-c", "user.name=c", "-c", "user.email=c@c", *args], check=True,
            stdout=subprocess.PIPE, text=True, env={**os.environ, "HOME": str(self.dir)}).stdout.strip()

    def commit(self, text):
        (self.repo / "greeting").write_text(f"{text}\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", text)
        return self.git("rev-parse", "HEAD")

    def recipe(self, revision, params=";branch=main"):
        self.write("meta-kitchen/recipes/soup.bb",
                   f'SRC_URI = "git://{self.repo};protocol=file{params}"\n'
                   f'SRCREV = "{revision}"\nS = "${{WORKDIR}}/git"\n')

    def fetch(self, *args, code=0):
        result = self.run_bitzel("--directory", self.dir / "build", "fetch", "--json", *args, "soup")
        self.assert_exit(result, code)
        return result

    def resolved(self, *args):
        (source,) = self.fetch(*args).json["sources"]
        return source["commit"]

    def greeting(self):
        return (self.out("soup") / "image/greeting").read_text()

    def test_a_name_is_resolved_once_and_again_when_asked_to(self):
        for revision, params in (("v1", ";branch=main"), ("${AUTOREV}", ";branch=main"), ("main", ";nobranch=1"),
                                 ("refs/heads/main", ";nobranch=1"), ("${AUTOREV}", ";usehead=1"),
                                 ("", ";nobranch=1;tag=v1")):
            with self.subTest((revision, params)):
                before = self.git("rev-parse", "HEAD")
                self.git("tag", "-f", "v1")
                self.recipe(revision, params)
                self.assertEqual(self.resolved("--refresh"), before)
                after = self.commit(f"after {revision} {params}")
                self.git("tag", "-f", "-a", "-m", "moved", "v1")
                self.assertEqual(self.resolved(), before)
                self.assertEqual(self.resolved("--offline"), before)
                self.assertEqual(self.resolved("--refresh"), after)
                self.assertEqual(self.resolved("--offline"), after)

    def test_a_commit_is_taken_as_it_is(self):
        self.recipe(self.first)
        self.assertEqual(self.resolved(), self.first)
        self.assertFalse(self.memory.exists())

    def test_offline_a_name_that_is_not_resolved_is_told(self):
        result = self.fetch("--offline", code=2)
        self.assertIn(f"git://{self.repo}: revision v1 is not resolved yet: run 'bitzel fetch' once", result.err)
        self.recipe("${AUTOREV}")
        self.assertIn("branch main is not resolved yet", self.fetch("--offline", code=2).err)
        self.recipe("", ";nobranch=1;tag=v1")
        self.assertIn("tag v1 is not resolved yet", self.fetch("--offline", code=2).err)

    def test_what_is_unpacked_is_what_is_remembered(self):
        self.resolved()
        self.commit("two")
        self.git("tag", "-f", "v1")
        self.build("soup")
        self.assertEqual(self.greeting(), "one\n")
        subprocess.run(["rm", "-rf", str(self.dir / "build/downloads")], check=True)
        self.build("soup")
        self.assertEqual(self.greeting(), "one\n")
        self.build("soup", "--refresh")
        self.assertEqual(self.greeting(), "two\n")

    def test_a_build_resolves_what_is_not_remembered(self):
        self.build("soup")
        self.commit("two")
        self.git("tag", "-f", "v1")
        self.assertEqual(self.resolved("--offline"), self.first)

    def test_a_damaged_memory_is_as_good_as_none(self):
        self.resolved()
        whole = self.memory.read_bytes()
        for bytes_ in (b"", whole[:-1], whole[:60], whole.replace(self.first.encode(), b"0" * 40)):
            self.memory.write_bytes(bytes_)
            self.fetch("--offline", code=2)
        self.assertEqual(self.resolved(), self.first)
        self.assertEqual(self.resolved("--offline"), self.first)

    def test_a_commit_that_is_gone_says_how_to_resolve_anew(self):
        self.resolved()
        subprocess.run(["rm", "-rf", str(self.dir / "build/downloads")], check=True)
        (self.repo / "greeting").write_text("other\n")
        self.git("commit", "-q", "--amend", "-a", "-m", "other")
        self.git("tag", "-f", "v1")
        result = self.fetch(code=1)
        self.assertIn("--refresh", result.err)
        self.assertEqual(self.resolved("--refresh"), self.git("rev-parse", "HEAD"))

    def test_a_name_that_is_nowhere_is_an_error(self):
        self.recipe("v9")
        self.assertIn("neither branch nor tag v9", self.fetch(code=1).err)
        self.recipe(self.first[:10])
        self.assertIn("all digits of a commit", self.fetch(code=1).err)

    def test_refresh_and_offline_contradict_each_other(self):
        for command in ("fetch", "build"):
            result = self.run_bitzel("--directory", self.dir / "build", command, "--offline", "--refresh", "soup")
            self.assert_exit(result, 2)
            self.assertIn("--offline and --refresh contradict each other", result.err)

    def test_no_credentials_are_remembered(self):
        self.write("meta-kitchen/recipes/soup.bb",
                   f'SRC_URI = "git://me:secret@{self.repo};protocol=file;branch=main;user=me;pswd=secret"\n'
                   'SRCREV = "v1"\n')
        self.fetch()
        self.assertNotIn("secret", self.memory.read_text())


if __name__ == "__main__":
    bitzel.main()
