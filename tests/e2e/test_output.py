"""Standard output: a result that did not arrive is an error, and colour is for people."""

import os
import subprocess

import bitzel

LINES = (["help"], ["version"], ["version", "--json"], ["doctor"], ["doctor", "--json"])


class Output(bitzel.Case):
    def test_a_full_disk_is_an_error(self):
        for line in LINES:
            with self.subTest(line=line), open("/dev/full", "wb") as full:
                result = self.run_bitzel(*line, stdout=full)
                self.assert_exit(result, 4)
                self.assertIn("standard output: No space left on device", result.err)

    def test_a_reader_that_went_away_ends_it_quietly(self):
        for line in LINES:
            with self.subTest(line=line):
                reading, writing = os.pipe()
                os.close(reading)
                with open(writing, "wb") as pipe:
                    result = self.run_bitzel(*line, stdout=pipe)
                self.assert_exit(result, 128 + 13)
                self.assertEqual(result.err, "")

    def test_a_closed_stdout_is_an_error(self):
        for line in LINES:
            with self.subTest(line=line):
                done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', bitzel.PROGRAM, *line],
                                      stderr=subprocess.PIPE, cwd=self.dir, check=False,
                                      env=self.environment(), timeout=bitzel.TIMEOUT)
                self.assertEqual(done.returncode, 4)
                self.assertIn(b"standard output: Bad file descriptor", done.stderr)

    def test_a_wrong_line_keeps_its_exit_code_when_nothing_can_be_said(self):
        for redirection in (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full"):
            with self.subTest(redirection=redirection):
                script = f'exec "$0" nonsense {redirection}'
                done = subprocess.run(["sh", "-c", script, bitzel.PROGRAM], cwd=self.dir,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      env=self.environment(), timeout=bitzel.TIMEOUT, check=False)
                self.assertEqual(done.returncode, 2)

    def test_a_pipe_gets_the_same_as_a_file(self):
        with open(self.dir / "out", "wb") as file:
            self.assert_exit(self.run_bitzel("help", stdout=file), 0)
        self.assertEqual((self.dir / "out").read_text(), self.run_bitzel("help").out)

    def test_a_slow_reader_of_a_non_blocking_pipe_gets_all(self):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        while True:  # fill the pipe, so that the first write cannot go through
            try:
                os.write(writing, b"#" * 4096)
            except BlockingIOError:
                break
        with subprocess.Popen([bitzel.PROGRAM, "help"], stdout=writing, cwd=self.dir,
                              stdin=subprocess.DEVNULL, env=self.environment()) as child:
            os.close(writing)
            with open(reading, "rb") as pipe:
                text = pipe.read().lstrip(b"#").decode()
            self.assertEqual(child.wait(bitzel.TIMEOUT), 0)
        self.assertEqual(text, self.run_bitzel("help").out)


class Color(bitzel.Case):
    def colored(self, result):
        self.assertIn("ok", result.out)
        return "\x1b[" in result.out

    def test_a_terminal_gets_color_and_a_pipe_does_not(self):
        self.assertTrue(self.colored(self.run_in_terminal("doctor")))
        self.assertFalse(self.colored(self.run_bitzel("doctor")))

    def test_no_color_and_dumb_terminals_are_honoured(self):
        self.assertFalse(self.colored(self.run_in_terminal("doctor", env={"NO_COLOR": "1"})))
        self.assertTrue(self.colored(self.run_in_terminal("doctor", env={"NO_COLOR": ""})))
        self.assertFalse(self.colored(self.run_in_terminal("doctor", env={"TERM": "dumb"})))

    def test_the_option_has_the_last_word(self):
        self.assertFalse(self.colored(self.run_in_terminal("doctor", "--color=never")))
        always = self.run_bitzel("doctor", "--color=always", env={"NO_COLOR": "1"})
        self.assertTrue(self.colored(always))

    def test_json_is_never_colored(self):
        self.assertNotIn("\x1b", self.run_bitzel("doctor", "--json", "--color=always").out)

    def test_errors_are_colored_as_the_option_says(self):
        self.assertIn("\x1b[31m", self.run_bitzel("--color=always", "nonsense").err)
        self.assertNotIn("\x1b", self.run_bitzel("nonsense").err)


if __name__ == "__main__":
    bitzel.main()
