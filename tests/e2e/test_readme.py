"""README.md and the manual show what the program really says, and their links lead somewhere."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

import bitzel
import demo
import reapi
import test_build

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRONT = (ROOT / "README.md").read_text()
MANUAL = (ROOT / ".docs/manual.md").read_text()
README = FRONT + MANUAL  # one after the other


class Readme(bitzel.Case):
    def shown(self, *line):
        """The output that README.md shows for ./cmd/run with these arguments."""
        block = re.search(rf"^\$ \./cmd/run {' '.join(line)}\n(.*?)^(?:\$ |```)", README,
                          re.M | re.S)
        self.assertIsNotNone(block, line)
        return block.group(1)

    def test_help_is_shown_as_it_is(self):
        self.assertEqual(self.shown("help"), self.run_bitzel("help").out)

    def test_version_and_doctor_are_shown_with_their_rows(self):
        version = self.run_bitzel("version")
        self.assertEqual(self.shown("version").splitlines()[0], version.out.splitlines()[0])
        for line, of_row in ((["version"], str.split), (["doctor"], lambda row: [row[6:23]])):
            real = self.run_bitzel(*line, "--color=never", env={"COLUMNS": "100"}).out
            rows = [text for text in real.splitlines() if not text.startswith(" ")]
            self.assertEqual([of_row(row)[0] for row in self.shown(*line).splitlines()],
                             [of_row(row)[0] for row in rows])

    def test_the_two_commands_stand_there(self):
        first = FRONT.split("## ", 1)[0]  # and what it is, and a picture
        self.assertIn("\n./cmd/run build busybox", first)
        self.assertIn("\n./tests/run", first)
        self.assertIn("(.docs/tutorial.md)", first)
        self.assertIn("(.docs/console.png)", first)
        self.assertLess(len(FRONT), 12000)  # what is long is for the manual

    def test_links_lead_somewhere(self):
        for page in ("README.md", ".docs/manual.md", ".docs/tutorial.md"):
            text = (ROOT / page).read_text()
            links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
            self.assertGreater(len(links), 0, page)
            for link in links:
                with self.subTest(page=page, link=link):
                    name, _, place = link.partition("#")
                    target = (ROOT / page).parent / name if name else ROOT / page
                    self.assertTrue(target.exists())
                    if place:
                        self.assertIn(place, self.places(target))

    def places(self, page):
        """What links can lead to in a page, as GitHub names headings."""
        heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.M)
        return [re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-") for head in heads]

    def test_commands_that_are_named_exist_with_their_options(self):
        commands = self.commands()
        named = re.findall(r"`bitzel ([a-z]\w*)((?: [^`]*)?)`", FRONT)
        self.assertGreater(len(named), 15)
        for command, rest in named:
            with self.subTest(command=command + rest):
                self.assertIn(command, commands)
                words = [command] + ([rest.split()[0]] if command == "cache" else [])
                text = self.run_bitzel("help", *words).out
                for option in re.findall(r"(?<= )--?\w[\w-]*", rest.split("|")[0]):
                    self.assertRegex(text, rf"(?m)^ +(-\w, )?{re.escape(option)}[ ,]")

    def test_pictures_are_there_and_small(self):
        pictures = re.findall(r"!\[[^\]]+\]\((\S+\.png)\)", FRONT)
        self.assertEqual(sorted(pictures), [f".docs/{name}.png" for name in ("console", "graph", "report")])
        bytes_of = [(ROOT / picture).read_bytes() for picture in pictures]
        for data in bytes_of:
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(data[-8:-4], b"IEND")
        self.assertLess(sum(map(len, bytes_of)), 300 * 1000)


class FirstLook(bitzel.Case):
    """A reader who has a checkout and nothing else can type the first examples."""

    def setUp(self):
        super().setUp()
        program = self.dir / "checkout/build/release/cmd/bitzel/bitzel"  # where ./cmd/run has it
        program.parent.mkdir(parents=True)
        shutil.copy(bitzel.PROGRAM, program)
        shutil.copytree(ROOT / "recipes", self.dir / "checkout/recipes", symlinks=True)
        self.how = {"program": program, "env": {"BITZEL_NO_SAMPLE": ""}}
        self.story = re.search(r"^## A first look\n.*?^```console\n(.*?)^```", FRONT, re.M | re.S).group(1)

    def run_there(self, *args):
        result = self.run_bitzel("--directory", self.dir / "checkout", *args, **self.how)
        self.assert_exit(result, 0)
        return result

    def test_every_command_is_there_and_every_target_known(self):
        lines = re.findall(r"^(?:\$ )?\./(\S+)((?: (?!#)\S+)*)", FRONT.split("## Installing")[0], re.M)
        self.assertIn(("cmd/run", " build busybox"), lines)
        for script, words in lines:
            with self.subTest(script + words):
                self.assertTrue(os.access(ROOT / script, os.X_OK))
                if script == "cmd/run":
                    command, *targets = words.split()
                    self.assertEqual(command, "build")
                    plan = self.run_there("plan", "--json", *targets).json
                    self.assertIn(f"({plan['run']} tasks executed, 0 from cache)", self.story)

    def test_the_story_goes_as_it_is_told(self):
        """With a recipe that builds in no time, whose sources are in the layer."""
        if self.run_bitzel("build", "--sandbox=required", "-n", "newc-native", **self.how).code == 5:
            self.skipTest("no sandbox here")
        runs = re.findall(r"^\$ ./cmd/run build busybox\n((?:(?!\$ ).*\n)*)", self.story, re.M)
        self.assertEqual(len(runs), 2)
        for shown in runs:
            result = self.run_there("build", "newc-native")
            shown = shown.replace("busybox", "newc-native").replace("(65 ", "(7 ")
            # It has no packages, and its sources are here.
            shown = shown.replace(", 11 MiB downloaded", "")
            shown = shown.replace("Cached newc-native:do_package ([...])\n", "").replace("2 from", "1 from")
            parts = map(re.escape, shown.split("[...]"))
            self.assertRegex(result.err + result.out, "(?s)^" + ".*".join(parts) + "$")
        self.assertTrue((self.dir / "checkout/build/sample/bitzel-out/newc-native/image").is_dir())


class Transcripts(demo.Project):
    """What is shown for the small project is what the commands say about it."""

    COMMANDS = ("appends", "cache", "config", "env", "getvar", "layers", "plan", "project", "query", "recipes")

    def test_commands_on_a_project_are_shown_as_they_are(self):
        seen = set()
        reapi.fill(reapi.Store(self.dir / ".cache/bitzel"))
        self.run_in_build("cache", "reindex")  # the first to come says that there is none
        for line, shown in re.findall(r"^\$ bitzel (.*)\n((?:(?!\$ |```).*\n)*)", README, re.M):
            command = line.split()[0]
            if command not in self.COMMANDS:
                continue
            seen.add(command)
            with self.subTest(line=line):
                result = self.run_in_build(*shlex.split(line), env={"COLUMNS": "100"})
                real = (result.out + result.said).replace(str(self.dir), "/home/me/demo")
                if "[...]\n" not in shown:
                    self.assertEqual(real, shown)
                parts = map(re.escape, shown.split("[...]\n"))
                self.assertRegex(real, "(?s)^" + ".*".join(parts) + "$")
        self.assertEqual(seen, set(self.COMMANDS))

    def test_a_story_goes_as_it_is_told(self):
        """A block that begins by writing a record; its lines are run one after another."""
        story = re.search(r"^(\$ bitzel sig .* --record .*\n(?:(?!```).*\n)*)", README, re.M)
        steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", story.group(1), re.M)
        self.assertGreater(len(steps), 3)
        for line, shown in steps:
            command, *words = shlex.split(line)
            with self.subTest(line=line):
                if command == "bitzel":
                    result = self.run_in_build(*words, env={"COLUMNS": "100"})
                    self.assertEqual(result.out + result.said, shown)
                else:
                    self.assertEqual(command, "sed")
                    subprocess.run([command, *words], cwd=self.dir / "build", check=True)


class Build(test_build.Kitchen):
    def test_what_is_told_of_a_build_is_shown(self):
        self.build("pizza")
        told = re.findall(r"^\$ bitzel ((?:builds|report|log) ?.*)\n((?:(?!\$ |```).*\n)*)", README, re.M)
        self.assertEqual([line.split()[0] for line, _ in told], ["builds", "report", "log"])
        for line, shown in told:
            result = self.run_bitzel("--directory", self.dir / "build", *line.split())
            real = (result.err + result.out).replace(str(self.dir), "/home/me/demo")
            parts = [re.escape(part.strip("\n")) for part in shown.split("[...]")]
            with self.subTest(line=line):
                self.assertRegex(real, "(?s)^" + ".*".join(parts))

    def test_so_is_a_look_into_a_sandbox(self):
        shown = re.findall(r"^\$ bitzel shell (\w+) -c '(.*)'\n((?:(?!```).*\n)*)", README, re.M)
        self.assertEqual(len(shown), 1)
        for target, command, want in shown:
            result = self.run_bitzel("--directory", self.dir / "build", "shell", target, "-c", command)
            self.assertEqual(result.out, want, result)


if __name__ == "__main__":
    bitzel.main()
