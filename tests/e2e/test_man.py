"""Manual pages: made of the same tables as help, and fit for the programs that show them."""

import os
import re
import shlex
import shutil
import subprocess

import bitzel


def option_names(text):
    """The long options at the start of lines of help."""
    return re.findall(r"^  (?:-\w, |    )--(\S+)", text, re.M)


class Man(bitzel.Case):
    pages = {}  # by the names of their files
    texts = {}  # of help, by command

    def setUp(self):
        super().setUp()
        if not self.pages:
            self.write_pages()

    def write_pages(self):
        self.assert_exit(self.run_bitzel("help", "--man-dir", self.dir), 0)
        for section in ("man1", "man5"):
            for page in (self.dir / section).iterdir():
                self.pages[page.name] = page.read_text(encoding="utf-8")

    def need(self, program):
        if not shutil.which(program):
            if os.environ.get("BITZEL_MUST_WORK") == "1":
                self.fail(f"{program} is missing")
            self.skipTest(f"{program} is missing")

    def help_on(self, *words):
        if words not in self.texts:
            self.texts[words] = self.run_bitzel("help", *words, env={"COLUMNS": "200"}).out
        return self.texts[words]

    def lines_of(self, *words):
        """A command and all of its commands, as words."""
        yield words
        section = self.help_on(*words).partition("\nCommands:\n")[2].split("\n\n", 1)[0]
        for line in section.splitlines():
            yield from self.lines_of(*words, line.split()[0])

    def test_there_is_a_page_for_the_program_each_command_and_the_settings(self):
        wanted = ["bitzel.1", "bitzel.conf.5", "bitzel-events.5", *(f"bitzel-{name}.1" for name in self.commands())]
        self.assertEqual(sorted(self.pages), sorted(wanted))

    def test_one_page_is_printed_by_name(self):
        for words, page in (([], "bitzel.1"), (["build"], "bitzel-build.1"), (["cache", "gc"], "bitzel-cache.1"),
                            (["bitzel.conf"], "bitzel.conf.5"), (["bitzel-events"], "bitzel-events.5")):
            with self.subTest(words=words):
                self.assertEqual(self.run_bitzel("help", "--man", *words).out, self.pages[page])
        self.assert_exit(self.run_bitzel("help", "--man", "biuld"), 2)

    def test_every_option_of_every_command_is_in_its_page(self):
        for name in self.commands():
            page = self.pages[f"bitzel-{name}.1"].replace("\\-", "-")
            for words in self.lines_of(name):
                names = option_names(self.help_on(*words))
                self.assertIn("help", names)
                for option in names:
                    with self.subTest(command=words, option=option):
                        self.assertIn(f"\\fB--{option}\\fR", page)

    def test_a_page_has_the_usual_sections(self):
        for name, page in self.pages.items():
            if name.endswith(".5"):
                continue
            sections = re.findall(r'^\.SH "(.*)"$', page, re.M)
            with self.subTest(page=name):
                self.assertEqual([s for s in sections if s != "COMMANDS"],
                                 ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT",
                                  "FILES", "EXAMPLES", "SEE ALSO"])

    def test_every_setting_is_in_the_page_of_the_settings(self):
        for setting in self.run_bitzel("config", "--json").json["settings"]:
            page = self.pages["bitzel.conf.5"]
            self.assertIn(f"\\fB{setting['name']}\\fR ({setting['type']})", page)
            self.assertIn(setting["variable"], page)

    def test_mandoc_has_nothing_to_say(self):
        self.need("mandoc")
        said = subprocess.run(["mandoc", "-Tlint", *self.page_files()], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(said.stdout, "")

    def test_groff_renders_them_without_a_warning(self):
        self.need("groff")
        for path in self.page_files():
            shown = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", path], capture_output=True, text=True, check=True)
            self.assertEqual(shown.stderr, "", path)
            self.assertIn("DESCRIPTION", shown.stdout)

    def page_files(self):
        for name, page in self.pages.items():
            (self.dir / name).write_text(page, encoding="utf-8")
        return [str(self.dir / name) for name in sorted(self.pages)]

    def test_every_command_has_examples_that_its_options_allow(self):
        for name in self.commands():
            for words in self.lines_of(name):
                text = self.help_on(*words)
                section = text.partition("\nExamples:\n")[2]
                lines = re.findall(r"^  (\S.*)$", section, re.M)
                if len(words) == 1:
                    self.assertTrue(lines, words)
                for line in lines:
                    self.check_example(words, line)

    def check_example(self, words, line):
        """Asks each bitzel of a line for help at its end: what is before that is checked."""
        self.assertIn(" ".join(words), line)
        calls = [[]]
        split = shlex.shlex(line, posix=True, punctuation_chars="&|>()$")
        split.whitespace_split = True
        for word in split:
            if word[0] in "&|>()$":
                calls.append([])
            else:
                calls[-1].append(word)
        for call in calls:
            if call and call[0] == "bitzel":
                result = self.run_bitzel(*call[1:], "--help")
                self.assertEqual((result.code, result.err), (0, ""), line)


if __name__ == "__main__":
    bitzel.main()
