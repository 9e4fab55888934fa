"""The tutorial goes as it is told: its files are written, its lines are run one after
another, and they say what is shown."""

import os
import pathlib
import re
import subprocess

import bitzel

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / ".docs/tutorial.md").read_text(encoding="utf-8")

# What differs from run to run, and what stands for it.
VARIES = (
    (r"\([0-9a-f]{8}\)", "(DIGEST)"),
    (r"\b\d{8}T\d{6}-\d+", "BUILD"),
    (r"\b(\d+m)?\d+(\.\d+)?m?s\b", "TIME"),
    (r" +", " "),  # columns are as wide as what is in them
)
BLOCK = re.compile(r"(.*?)^```(\w+)\n(.*?)^```$", re.M | re.S)  # the words before it, its kind, itself


def usual(text):
    for pattern, word in VARIES:
        text = re.sub(pattern, word, text)
    return text


def parts():
    """What is to be done, in order: (name, text) of files, (line, shown) of commands."""
    for words, kind, body in BLOCK.findall(TEXT):
        if kind == "console":
            for line, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.M):
                yield "line", line, shown
        else:
            names = re.findall(r"^`([\w.-]+/[\w./-]+)` ", words, re.M)
            yield "file", " ".join(names), body


def script():
    """All of it for a shell; a mark after each line tells where its output ends."""
    for kind, what, text in parts():
        if kind == "file":
            yield f"cat > ~/kitchen/{what} <<'END-OF-FILE'\n{text}END-OF-FILE\n"
        else:
            yield f"{what}\nprintf '<%s>@@\\n' $?\n"


class Tutorial(bitzel.Case):
    def follow(self):
        (self.dir / "bin").mkdir()
        (self.dir / "bin/bitzel").symlink_to(pathlib.Path(bitzel.PROGRAM).resolve())
        (self.dir / "script").write_text("".join(script()), encoding="utf-8")
        env = self.environment(PATH=f"{self.dir}/bin:{os.environ['PATH']}")
        done = subprocess.run(["bash", str(self.dir / "script")], stdin=subprocess.DEVNULL, env=env,
                              cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=240, check=False, text=True)
        if "user namespaces do not work here" in done.stdout and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest("user namespaces do not work here")
        return re.findall(r"(.*?)<(\d+)>@@\n", done.stdout.replace(str(self.dir), "/home/me"), re.S)

    def test_every_line_says_what_is_shown(self):
        lines = [part[1:] for part in parts() if part[0] == "line"]
        said = self.follow()
        self.assertEqual(len(said), len(lines))
        for (line, shown), (real, code) in zip(lines, said):
            with self.subTest(line=line):
                wanted = map(re.escape, usual(shown).split("[...]"))
                self.assertRegex(usual(real), "(?s)^" + ".*".join(wanted) + "$")
                self.assertEqual(code != "0", "\nerror: " in shown, real)

    def test_it_is_about_all_of_these(self):
        lines = [what for kind, what, _ in parts() if kind == "line"]
        for command in ("build", "why", "log", "shell", "report", "cache push", "graph", "plan"):
            with self.subTest(command=command):
                self.assertTrue(any(line.startswith("bitzel " + command) for line in lines))

    def test_every_file_has_a_name_and_no_block_is_overlooked(self):
        files = [what for kind, what, _ in parts() if kind == "file"]
        self.assertEqual(len(files), 7)
        for name in files:
            self.assertRegex(name, r"^(build/conf|meta-kitchen/\w+)/[\w.]+$")
        self.assertEqual(len(BLOCK.findall(TEXT)) * 2, len(re.findall("^```", TEXT, re.M)))

    def test_links_lead_somewhere(self):
        links = re.findall(r"\]\(([^)#]+)(?:#([^)]*))?\)", TEXT)
        self.assertGreater(len(links), 3)
        for path, heading in links:
            with self.subTest(path=path, heading=heading):
                target = ROOT / ".docs" / path
                self.assertTrue(target.exists())
                if heading:
                    words = heading.replace("-", " ")
                    self.assertRegex(target.read_text(encoding="utf-8"), rf"(?im)^#+ {words}$")


if __name__ == "__main__":
    bitzel.main()
