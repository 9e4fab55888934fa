"""A terminal for tests: what a program writes, as somebody would see it.

It knows the few sequences that bitzel uses; any other fails the test. When its size
changes it cuts and widens lines, as xterm does, or breaks them anew if it is to reflow,
as most others do.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata

SEQUENCE = re.compile(r"\033\[(\??)([0-9;]*)([A-Za-z])")


class Line(list):
    """Cells: one text for each column."""

    goes_on = False  # on the next line


class Screen:
    def __init__(self, columns, rows, reflow=False):
        self.columns, self.rows, self.reflow = columns, rows, reflow
        self.lines = [Line() for _ in range(rows)]
        self.gone = []  # lines that went over the top
        self.x = self.y = 0
        self.cursor = self.wraps = True
        self.frames = 0
        self.inks = set()
        self.rest = ""

    def resize(self, columns, rows):
        if self.reflow:
            self.break_anew(columns)
        while len(self.lines) > rows:
            if self.y < len(self.lines) - 1:
                self.lines.pop()
            else:
                self.gone.append(self.text(self.lines.pop(0)))
                self.y -= 1
        self.lines += [Line() for _ in range(rows - len(self.lines))]
        for line in self.lines:
            del line[columns:]
        self.columns, self.rows = columns, rows
        self.x = min(self.x, columns - 1)

    def break_anew(self, columns):
        """Lines that are too long go on below; the cursor stays at its character."""
        whole, self.lines, begun = self.lines, [], False
        at, self.y = (self.y, self.x), 0
        for y, line in enumerate(whole):
            if not begun:
                self.lines.append(Line())
            x = 0
            while x < len(line) or (y, x) == at:
                width = 2 if line[x + 1:x + 2] == [""] else 1
                if x < len(line) and len(self.lines[-1]) + width > columns:
                    self.lines[-1].goes_on = True
                    self.lines.append(Line())
                if (y, x) == at:
                    self.y, self.x = len(self.lines) - 1, len(self.lines[-1])
                if x >= len(line):
                    break
                self.lines[-1] += line[x:x + width]
                x += width
            if y == at[0] and x < at[1]:
                self.y, self.x = len(self.lines) - 1, len(self.lines[-1])
            begun = line.goes_on

    @staticmethod
    def text(line):
        return "".join(line).rstrip()

    def shown(self):
        """The lines on the screen, without the empty ones at its end."""
        return "\n".join(map(self.text, self.lines)).rstrip("\n").split("\n")

    def all(self):
        return self.gone + self.shown()

    def feed(self, text):
        text = self.rest + text
        at = 0
        while at < len(text):
            if text[at] == "\033":
                found = SEQUENCE.match(text, at)
                if not found:
                    if len(text) - at > 20:
                        raise AssertionError(f"unknown sequence {text[at:at + 20]!r}")
                    break  # the rest of it is still to come
                self.obey(*found.groups())
                at = found.end()
            else:
                self.put(text[at])
                at += 1
        self.rest = text[at:]

    def obey(self, private, number, letter):
        n = int(number) if number.isdigit() else 0
        if private:
            if (number, letter) in (("25", "l"), ("25", "h")):
                self.cursor = letter == "h"
            elif number == "7":
                self.wraps = letter == "h"
            elif (number, letter) == ("2026", "h"):
                self.frames += 1
            elif (number, letter) != ("2026", "l"):
                raise AssertionError(f"unknown mode {number}{letter}")
        elif letter == "A":
            self.y = max(0, self.y - max(n, 1))
        elif letter == "K" and n == 0:
            del self.lines[self.y][self.x:]
            self.lines[self.y].goes_on = False
        elif letter == "J" and n == 0:
            del self.lines[self.y][self.x:]
            self.lines[self.y + 1:] = [Line() for _ in self.lines[self.y + 1:]]
        elif letter == "m":
            self.inks.add(number)
        else:
            raise AssertionError(f"unknown sequence {number}{letter}")

    def down(self):
        self.y += 1
        if self.y == self.rows:
            self.gone.append(self.text(self.lines.pop(0)))
            self.lines.append(Line())
            self.y -= 1

    def put(self, c):
        if c == "\r":
            self.x = 0
        elif c == "\n":
            self.down()
        elif unicodedata.combining(c):
            if self.lines[self.y]:
                self.lines[self.y][-1] += c
        elif c < " " or "\x7f" <= c <= "\x9f":
            raise AssertionError(f"control character {c!r}")
        else:
            width = 2 if unicodedata.east_asian_width(c) in "WF" else 1
            if self.x + width > self.columns and not self.wraps:
                self.x = self.columns - width
                del self.lines[self.y][self.x:]
            if self.x + width > self.columns:
                self.lines[self.y].goes_on = True
                self.x = 0
                self.down()
            line = self.lines[self.y]
            line += " " * (self.x - len(line))
            line[self.x:self.x + width] = [c] + [""] * (width - 1)
            self.x += width


class Session:
    """A program that runs on a screen, as in a terminal of its own."""

    def __init__(self, command, columns, rows=24, reflow=False, **how):
        self.screen = Screen(columns, rows, reflow)
        self.text = ""
        self.ours, theirs = pty.openpty()
        self.size(columns, rows)
        self.before = termios.tcgetattr(theirs)
        self.child = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **how)
        self.theirs = theirs

    def size(self, columns, rows):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.read(0)
        self.size(columns, rows)
        self.screen.resize(columns, rows)

    def modes(self):
        return termios.tcgetattr(self.theirs)

    def set_modes(self, modes):
        termios.tcsetattr(self.theirs, termios.TCSANOW, modes)

    def type(self, keys):
        os.write(self.ours, keys.encode())

    def read(self, seconds):
        """What comes in that time, at least; False once the program has ended."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return self.child.poll() is None
        part = os.read(self.ours, 1 << 20).decode("utf-8", "replace")
        self.text += part
        self.screen.feed(part)
        return True

    def until(self, condition, seconds=30):
        """Reads until condition(screen) holds."""
        end = time.monotonic() + seconds
        while not condition(self.screen):
            if time.monotonic() > end or not self.read(0.05):
                raise AssertionError("it was never seen:\n" + "\n".join(self.screen.all()))

    def shows(self, pattern, **how):
        """Reads until a line on the screen matches."""
        self.until(lambda s: any(re.search(pattern, line) for line in s.shown()), **how)

    def end(self, seconds=60):
        """Reads to the end; returns the exit status."""
        limit = time.monotonic() + seconds
        while self.read(0.05):
            if time.monotonic() > limit:
                raise AssertionError("it does not end:\n" + "\n".join(self.screen.all()))
        while select.select([self.ours], [], [], 0)[0]:
            self.read(0)
        return self.child.wait()

    def close(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGKILL)
            self.child.wait()
        os.close(self.theirs)
        os.close(self.ours)
