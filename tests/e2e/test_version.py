"""The version, for people and for programs."""

import re

import bitzel


class Version(bitzel.Case):
    def test_the_option_and_the_command_agree(self):
        line = self.run_bitzel("--version")
        self.assert_exit(line, 0)
        self.assertRegex(line.out, r"\Abitzel \d+\.\d+\.\d+\n\Z")
        self.assertEqual(self.run_bitzel("version").out.splitlines(True)[0], line.out)
        self.assertEqual(self.run_bitzel("doctor", "--version").out, line.out)
        self.assertEqual(self.run_bitzel("version", "-q").out, line.out)

    def test_json_names_compiler_and_libraries(self):
        result = self.run_bitzel("version", "--json")
        self.assert_exit(result, 0)
        self.assertEqual(sorted(result.json), ["compiler", "libraries", "version"])
        self.assertEqual(self.run_bitzel("--version").out, f"bitzel {result.json['version']}\n")
        self.assertRegex(result.json["compiler"], r"^(gcc|clang) \d+\.")
        self.assertEqual(sorted(result.json["libraries"]),
                         ["cjson", "libc", "libcrypto", "libyaml"])
        for name, version in result.json["libraries"].items():
            with self.subTest(library=name):
                self.assertTrue(re.match(r"\d+\.\d+", version), version)

    def test_the_text_says_the_same_as_the_json(self):
        text = dict(line.split(maxsplit=1) for line in self.run_bitzel("version").out.splitlines())
        data = self.run_bitzel("version", "--json").json
        self.assertEqual(text, {"bitzel": data["version"], "compiler": data["compiler"],
                                **data["libraries"]})


if __name__ == "__main__":
    bitzel.main()
