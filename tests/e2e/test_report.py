"""bitzel builds, log, report and trace: what is told of builds afterwards."""

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import time
import unicodedata

import bitzel
import test_build

OWN = "meta-kitchen/recipes/pizza.bb"
FIRST, SECOND = "20260102T030405-999999999", "20260102T040000-999999998"


class Past(test_build.Kitchen):
    def ask(self, *args, code=0, **how):
        result = self.run_bitzel("--directory", self.dir / "build", *args, **how)
        self.assert_exit(result, code)
        return result

    def builds(self):
        return self.ask("builds", "--json").json["builds"]

    def tell(self, build, *events, end=True, failed=0):
        """Writes the log of a build that never was."""
        lines = [{"event": "begin", "version": 1, "bitzel": "0", "time": "2026-01-02T03:04:05Z",
                  "targets": ["pizza"], "jobs": 2}, *events]
        if end:
            lines.append({"event": "end", "at": 9, "took": 9, "tasks": 4, "executed": 1, "cached": 1,
                          "failed": failed, "not_needed": 1, "noexec": 1, "not_started": 0})
        self.write(f"build/builds/{build}/events", "".join(json.dumps(e) + "\n" for e in lines))

    def ran(self, task, start, end, after=(), text="", event="done", **more):
        """The events of a task that ran, and its log."""
        log = self.dir / f"log.{task}"
        log.write_text(text)
        return ({"event": "started", "at": start, "task": task, "key": "ab", "after": list(after)},
                {"event": event, "at": end, "task": task, "took": end - start, "cpu": 0.5,
                 "memory": 2048, "log": str(log), **more})

    def tell_two(self):
        self.tell(FIRST, *self.ran("dough:do_x", 0, 3), *self.ran("pizza:do_x", 3, 5, ["dough:do_x"]))
        self.tell(SECOND, {"event": "cached", "at": 0, "task": "dough:do_x", "key": "cd",
                           "after": ["dough:do_fetch"], "same": False, "saved": 3},
                  *self.ran("pizza:do_x", 1, 4, ["dough:do_x"], "baking\n"),
                  *self.ran("pizza:do_y", 4, 6, ["pizza:do_x"], "the oven is cold\n", "failed", exit_code=7),
                  failed=1)


class Rules:
    """What the format of Chrome's trace events asks of a trace, strictly."""

    def __init__(self, case, trace):
        self.case, self.events = case, trace["traceEvents"]
        case.assertEqual(sorted(trace), ["displayTimeUnit", "otherData", "traceEvents"])
        case.assertEqual(trace["displayTimeUnit"], "ms")
        for event in self.events:
            self.check_fields(event)
        self.check_names()
        self.check_tracks()
        self.check_arrows()

    def of(self, *phases):
        return [e for e in self.events if e["ph"] in phases]

    @staticmethod
    def track(event):
        return event["pid"], event["tid"]

    def check_fields(self, event):
        need = {"M": {"args"}, "X": {"ts", "dur", "cat", "args"}, "i": {"ts", "s", "cat", "args"},
                "s": {"ts", "id", "cat"}, "f": {"ts", "id", "cat", "bp"}}
        self.case.assertIn(event["ph"], need, event)
        self.case.assertEqual(set(event), need[event["ph"]] | {"ph", "name", "pid", "tid"}, event)
        self.case.assertTrue(isinstance(event["name"], str) and event["name"], event)
        for key in {"pid", "tid", "ts", "dur", "id"} & set(event):
            self.case.assertTrue(type(event[key]) is int and event[key] >= 0, event)
        if event["ph"] == "i":
            self.case.assertIn(event["s"], ("g", "p", "t"))
        if event["ph"] == "f":
            self.case.assertEqual(event["bp"], "e")

    def check_names(self):
        """Each process and each track that is used has one name."""
        named = [(e["name"], e["pid"], e["tid"] if e["name"] == "thread_name" else None) for e in self.of("M")]
        self.case.assertEqual(len(named), len(set(named)))
        self.case.assertEqual({name for name, *_ in named}, {"process_name", "thread_name"})
        for event in self.of("M"):
            self.case.assertTrue(event["args"]["name"])
        for event in self.of("X", "i", "s", "f"):
            self.case.assertIn(("process_name", event["pid"], None), named)
            self.case.assertIn(("thread_name", *self.track(event)), named)

    def check_tracks(self):
        """One thing at a time on a track, in the order of time."""
        until = {}
        for event in self.of("X"):
            self.case.assertGreaterEqual(event["ts"], until.get(self.track(event), 0), event)
            until[self.track(event)] = event["ts"] + event["dur"]

    def check_arrows(self):
        """Every arrow begins once and ends once, later, each within something on its track."""
        begins = {(e["cat"], e["name"], e["id"]): e for e in self.of("s")}
        ends = {(e["cat"], e["name"], e["id"]): e for e in self.of("f")}
        self.case.assertEqual((len(begins), len(ends)), (len(self.of("s")), len(self.of("f"))))
        self.case.assertEqual(set(begins), set(ends))
        slices = {}
        for event in self.of("X"):
            slices.setdefault(self.track(event), []).append((event["ts"], event["ts"] + event["dur"]))
        for key, begin in begins.items():
            self.case.assertLessEqual(begin["ts"], ends[key]["ts"])
            for event in (begin, ends[key]):
                self.case.assertTrue(any(a <= event["ts"] <= b for a, b in slices[self.track(event)]), event)


class Traces(Past):
    def made_up(self, seed, tasks=300, slots=5):
        """The events of a build whose tasks start and end at any time, many at the same."""
        chance, free, at, ends, events = random.Random(seed), slots, 0, {}, []
        for i in range(tasks):
            while not free or (ends and chance.random() < 0.4):
                name = min(ends, key=lambda n: ends[n])
                at = max(at, ends.pop(name))
                free += 1
                events.append({"event": "done", "at": round(at, 6), "task": name, "took": 0})
            done = [e["task"] for e in events if e["event"] == "done"]
            events.append({"event": "started", "at": round(at, 6), "task": f"r{i}:do_x", "key": "ab",
                           "after": chance.sample(done, min(len(done), chance.randrange(4)))})
            ends[f"r{i}:do_x"] = at + chance.choice((0, 0.000001, 0.0000013, 0.1, 1.5))
            free -= 1
        return events

    def test_a_trace_keeps_the_rules_of_its_format(self):
        for seed in range(5):
            with self.subTest(seed=seed):
                self.tell(FIRST, *self.made_up(seed), end=seed != 0)
                trace = self.ask("trace").json
                Rules(self, trace)
                self.assertEqual(sum(e["ph"] == "X" for e in trace["traceEvents"]), 300)


    def test_a_trace_of_many_dependencies_has_an_arrow_a_task(self):
        names = [f"some-recipe{i}:do_compile" for i in range(400)]
        self.tell(FIRST, *(e for i, n in enumerate(names) for e in (
            {"event": "started", "at": i, "task": n, "key": "ab", "after": names[:i]},
            {"event": "done", "at": i + 1, "task": n, "took": 1})))
        text = self.ask("trace").out
        self.assertLess(len(text), 1 << 20)
        trace = json.loads(text)
        Rules(self, trace)
        self.assertEqual(trace["otherData"]["arrows"], "from the last that a task waited for")
        starts = sorted(e["ts"] for e in trace["traceEvents"] if e["ph"] == "s")
        self.assertEqual(starts, [1000000 * i - 1 for i in range(1, 400)])

    def test_a_file_that_cannot_be_written_is_no_missing_build(self):
        self.tell_two()
        for args in (("trace", "-o"), ("report", "--html")):
            self.assertIn("/nowhere/file", self.ask(*args, "/nowhere/file", code=4).err)
        self.assertIn("'bitzel builds' lists", self.ask("trace", "nonsense", code=3).err)


class Builds(Past):
    def test_where_nothing_ran_there_is_none(self):
        self.assertEqual(self.ask("builds").out, "")
        self.assertEqual(self.builds(), [])
        self.assertIn("no build has run anything", self.ask("log", code=3).err)
        for command in ("report", "trace"):
            self.assertIn("there was no build", self.ask(command, code=3).err)

    def test_a_build_that_runs_nothing_is_told_of_too(self):
        self.build("pizza")
        ran = self.builds()
        self.build("pizza", "-n")
        self.assertEqual(self.builds(), ran)
        for way in ("looks at everything", "finds that nothing has changed"):
            self.build("pizza")
            last = self.builds()[-1]
            self.assertNotEqual(last["build"], ran[-1]["build"], way)
            self.assertEqual((last["result"], last["executed"], last["failed"]), ("completed", 0, 0))
            report = self.ask("report", "--json").json
            self.assertEqual((report["build"], report["executed"], report["not_needed"]),
                             (last["build"], 0, 8), way)
            self.assertIn("0 executed, 1 from cache", self.ask("report", "--md").out)
            self.assertGreater(report["saved_not_needed"], 0.6 * report["saved"], way)
            Rules(self, self.ask("trace").json)
            self.assertIn("pizza:do_populate_sysroot (executed)", self.ask("log", "pizza").err)

    def test_builds_are_listed_the_last_one_last(self):
        self.tell_two()
        listed = self.builds()
        self.assertEqual([(b["build"], b["result"], b["failed"]) for b in listed],
                         [(FIRST, "completed", 0), (SECOND, "failed", 1)])
        self.assertEqual(listed[0]["targets"], ["pizza"])
        text = self.ask("builds").out.splitlines()
        self.assertEqual(text[0].split()[0], "BUILD")
        self.assertRegex(text[1], rf"^{FIRST} +\d+ d  completed  +1  +1  .*  pizza$")
        self.assertRegex(text[2], rf"^{SECOND} +\d+ d  1 failed +")
        self.assertEqual(len(text), 3)
        self.assertLessEqual(max(map(len, text)), 78)

    def test_a_wave_of_tasks_without_work_has_no_row(self):
        self.build("pizza")  # whose do_build comes last
        waves = self.ask("report").out.split("Waves\n", 1)[1].split("\n\n", 1)[0].splitlines()
        self.assertGreater(len(waves), 3)
        for row in waves[1:]:
            self.assertTrue(any(int(n) for n in row.split()[1:5]), row)

    def test_a_log_that_cannot_be_read_is_a_warning(self):
        self.tell_two()
        self.write(f"build/builds/{FIRST}/events", "nonsense\n")
        result = self.ask("builds", "--json")
        self.assertEqual(len(result.json["builds"]), 1)
        self.assertIn(f"{FIRST}/events:1: ", result.err)
        self.assertIn("events:1: ", self.ask("report", FIRST, code=2).err)

    def test_a_build_that_was_killed_is_told(self):
        self.tell(FIRST, *self.ran("pizza:do_x", 0, 5), end=False)
        self.assertEqual(self.builds()[0]["result"], "killed")

    def test_control_characters_of_a_log_do_not_reach_the_terminal(self):
        for evil in ("\x1b[31m", "\x9b31m", "\u202e"):
            with self.subTest(evil=evil):
                self.tell(FIRST, *self.ran(f"a{evil}b:do_x", 0, 5, text=f"{evil}\tKäse\n"))
                for line in (["report"], ["report", "--md"], ["log", f"a{evil}b"]):
                    self.assertNotIn(evil, self.run_in_terminal("--directory", self.dir / "build",
                                                                "--color=never", *line).out)

    def test_columns_line_up_below_names_of_any_letters(self):
        names = ("käse", "麵糰", "pizza")
        self.tell(FIRST, *(event for name in names for event in self.ran(f"{name}:do_x", 0, 5)))
        shown = self.ask("report").out.split("\nRecipes\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual(len(shown), 4)
        widths = {sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) for line in shown}
        self.assertEqual(len(widths), 1, shown)

    def test_a_log_on_a_terminal_keeps_its_letters_wherever_it_is_cut(self):
        text = "".join(f"{'x' * i}\tKäse 麵糰\n" for i in range(400))  # chunks end anywhere
        self.tell(FIRST, *self.ran("a:do_x", 0, 5, text=text))
        shown = self.run_in_terminal("--directory", self.dir / "build", "log", "a").out
        self.assertIn(text, shown.replace("\r\n", "\n"))


class Failed(Past):
    def test_a_report_has_the_line_that_tells_why_a_task_failed(self):
        self.write("meta-kitchen/recipes/sauce.bb", "do_compile() {\n    echo 'a.c:1:2: error: <no> salt'; seq 9; exit 3\n}\n")
        self.build("sauce", code=1)
        self.assertIn("\nsauce:do_compile: exit status 3; 'bitzel log sauce:do_compile'\n  a.c:1:2: error: <no> salt\n",
                      self.ask("report").out)
        self.assertIn("\n  a.c:1:2: error: &lt;no\\> salt\n", self.ask("report", "--md").out)
        self.assertEqual([task.get("first_error") for task in self.ask("report", "--json").json["details"]
                          if task["state"] == "failed"], ["a.c:1:2: error: <no> salt"])
        self.ask("report", "--html", self.dir / "page.html")
        self.assertIn('"exit status 3: a.c:1:2: error: ', (self.dir / "page.html").read_text())
        log = self.dir / "build/tmp/work/sauce/temp/log.do_compile"
        os.utime(log, (time.time() + 60, time.time() + 60))  # of a build since then
        self.assertNotIn("a.c:1:2", self.ask("report").out)


class Log(Past):
    def test_the_log_of_what_failed_is_shown(self):
        self.tell_two()
        result = self.ask("log")
        self.assertEqual(result.out, "the oven is cold\n")
        self.assertIn("pizza:do_y (failed)", result.err)
        found = self.ask("log", "--json").json
        self.assertEqual((found["task"], found["state"], found["exit_code"], found["text"]),
                         ("pizza:do_y", "failed", 7, result.out))
        path = self.ask("log", "--path").out.rstrip("\n")
        self.assertEqual(pathlib.Path(path).read_text(), result.out)

    def test_a_task_is_named_in_full_or_by_its_recipe(self):
        self.tell_two()
        for name in ("pizza:do_x", "pizza:x"):
            self.assertEqual(self.ask("log", name).out, "baking\n")
        self.assertEqual(self.ask("log", "pizza").out, "the oven is cold\n")
        self.assertIn("name one", self.ask("log", "--build", FIRST, code=3).err)
        self.assertIn("ran no task", self.ask("log", "pizza:do_dream", code=3).err)
        self.assertIn("came from the cache", self.ask("log", "dough:do_x", code=3).err)
        self.ask("log", "dough:do_x", "--build", FIRST)
        self.ask("log", "--path", "--json", code=2)

    def test_what_came_from_the_cache_shows_what_it_printed_then(self):
        for lines in (3, 3000):
            self.write("meta-kitchen/recipes/sauce.bb",
                       f"do_compile() {{\n    echo red > made\n    seq -f 'stir %.0f' {lines}\n}}\n")
            self.assert_exit(self.run_bitzel("--directory", self.dir / "build", "build", "sauce"), 0)
            self.edit(OWN, "cat ${KITCHEN}", "true; cat ${KITCHEN}")
            self.assert_exit(self.run_bitzel("--directory", self.dir / "build", "build",
                                             "sauce:do_compile", "pizza"), 0)
            result = self.ask("log", "sauce:compile")
            self.assertEqual(result.out, "".join(f"stir {n + 1}\n" for n in range(lines)))
            self.assertIn("sauce:do_compile (cached)", result.err)
            found = self.ask("log", "sauce:compile", "--json").json
            self.assertEqual((found["state"], found["text"]), ("cached", result.out))
            self.assertEqual("path" in found, lines > 1000)
            if lines > 1000:
                path = self.ask("log", "sauce:compile", "--path").out.rstrip("\n")
                self.assertEqual(pathlib.Path(path).read_text(), result.out)
            else:
                self.assertIn("part of the result", self.ask("log", "sauce:compile", "--path", code=3).err)
            shown = self.run_bitzel("cache", "ls", "--json").json
            keys = [r["key"] for r in shown["results"] if (r["recipe"], r["task"]) == ("sauce", "do_compile")]
            self.assertTrue(keys)
            sizes = []
            for key in keys:
                stdout = self.run_bitzel("cache", "show", key, "--json").json["stdout"]
                sizes.append(stdout.get("size", stdout["inline_bytes"]))
            self.assertIn(len(result.out), sizes)

    def test_a_stored_task_that_printed_nothing_says_so(self):
        self.build("sauce")
        self.build("pizza")
        result = self.ask("log", "sauce:populate_sysroot")
        self.assertEqual((result.out, result.err), ("", "sauce:do_populate_sysroot (cached), from the cache: it printed nothing\n"))
        self.assertIn("it printed nothing: there is no file", self.ask("log", "sauce:populate_sysroot", "--path", code=3).err)

    def test_a_log_that_was_replaced_since_is_noted(self):
        self.tell_two()  # in the past
        self.assertIn("has run again since", self.ask("log").err)

    @contextlib.contextmanager
    def slow_build(self, target):
        """A build whose do_compile runs long enough to ask for its log, on a busy machine too."""
        self.edit(OWN, 'DEPENDS = "dough sauce"', "")
        self.edit(OWN, "    cat ${SYSROOTS}/dough/bin/dough ${SYSROOTS}/sauce/bin/sauce > made",
                  "    echo begun\n    sleep 4\n    echo over > made\n    cat made")
        with subprocess.Popen([bitzel.PROGRAM, "--directory", self.dir / "build", "build", target],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment()) as build:
            log = self.dir / "build/tmp/work/pizza/temp/log.do_compile"
            until = time.monotonic() + bitzel.TIMEOUT
            while not (log.exists() and "begun" in log.read_text()) and build.poll() is None:
                self.assertLess(time.monotonic(), until)
                time.sleep(0.02)
            if build.poll() == 5:
                self.skipTest(build.stderr.read().decode().strip())
            yield build
            build.communicate(timeout=bitzel.TIMEOUT)

    def test_a_log_is_followed_until_the_task_ends(self):
        with self.slow_build("pizza:do_compile") as build:
            self.assertEqual(self.builds()[-1]["result"], "running")
            # Of a build that was killed nothing is left but its number, which others get.
            killed = f"20260102T030405-{build.pid:07}"
            self.tell(killed, *self.ran("pizza:do_x", 0, 5), end=False)
            self.assertEqual([b["result"] for b in self.builds() if b["build"] == killed], ["killed"])
            result = self.ask("log", "-f")
        self.assertEqual(build.returncode, 0)
        self.assertTrue(result.out.endswith("begun\nover\n"), result)

    def test_a_task_that_has_yet_to_start_is_waited_for(self):
        with self.slow_build("pizza") as build:
            self.assertIn("ran no task", self.ask("log", "pizza:do_install", code=3).err)
            result = self.ask("log", "-f", "pizza:install")
        self.assertEqual(build.returncode, 0)
        self.assertIn("waiting for pizza:install to start\n", result.err)
        self.assertIn("pizza:do_install (", result.err)
        self.assertIn("ran no task", self.ask("log", "-f", "pizza:do_dream", code=3).err)


class Report(Past):
    def test_text_and_markdown_say_the_same(self):
        self.tell_two()
        text, md = self.ask("report").out, self.ask("report", "--md").out
        self.assertIn(f"Build {SECOND} of pizza: failed after 9.0s\n", text)
        for line in ("4 tasks: 1 executed, 1 from cache, 1 not needed, 1 with nothing to run, 1 failed\n",
                     "The cache saved about 3.0s of tasks' time\n"):
            self.assertIn(line, text)
            self.assertIn(line, md)
        self.assertRegex(text, r"\npizza +1 +0 +1 +0 +5\.0s +- ")
        self.assertIn("\n| pizza | 1 | 0 | 1 | 0 | 5.0s | - |", md)
        self.assertIn("\n## Critical path, 5.0s\n", md)
        self.assertIn("\npizza:do_y: exit status 7; 'bitzel log pizza:do_y'\n", text)
        self.ask("report", "--md", "--json", code=2)

    def test_a_timeout_is_said_to_be_one(self):
        self.tell(FIRST, *self.ran("pizza:do_x", 0, 5, event="failed", signal=15, timeout=4), failed=1)
        self.assertIn("\npizza:do_x: not done after 4s, its timeout; 'bitzel log pizza:do_x'\n", self.ask("report").out)
        self.assertEqual(self.ask("report", "--json").json["details"][0]["timeout"], 4)

    def test_json_has_all_tasks(self):
        self.tell_two()
        report = self.ask("report", "--json").json
        tasks = {t["task"]: t for t in report["details"]}
        self.assertEqual({n: t["state"] for n, t in tasks.items()},
                         {"dough:do_fetch": "not needed", "dough:do_x": "cached",
                          "pizza:do_x": "executed", "pizza:do_y": "failed"})
        self.assertEqual(tasks["pizza:do_y"]["after"], ["pizza:do_x"])
        self.assertEqual(report["critical_path"], ["pizza:do_x", "pizza:do_y"])
        self.assertEqual(report["saved"], 3)

    def test_the_cause_of_what_ran_is_named(self):
        self.tell_two()
        for build, salt in ((FIRST, "a pinch"), (SECOND, "a spoon")):
            self.edit("meta-kitchen/conf/bitbake.conf", "a pinch", salt)
            self.ask("sig", "dough", "--record", self.dir / "build/builds" / build / "record")
        report = self.ask("report", "--json").json
        self.assertEqual([(c["kind"], c["name"]) for c in report["causes"]], [("variable", "SALT")])
        self.assertEqual(report["since"], FIRST)
        self.assertIn("\n1 change in meta-kitchen/conf/bitbake.conf:12 SALT, reaches ",
                      self.ask("report").out)
        first = self.ask("report", FIRST, "--json").json
        self.assertEqual((first["first"], first["causes"]), (True, []))
        self.assertIn(f"First build here: {first['new']} tasks are new\n", self.ask("report", FIRST).out)

    def test_the_cause_of_what_failed_is_named_too(self):
        self.build("pizza")
        self.edit(OWN, "    cat ${SYSROOTS}/dough/bin/dough ${SYSROOTS}/sauce/bin/sauce > made", "    exit 3")
        self.build("pizza", code=1)
        report = self.ask("report", "--json").json
        self.assertEqual(report["result"], "failed")
        self.assertEqual([(c["kind"], c["name"]) for c in report["causes"]], [("variable", "do_compile")])
        self.assertNotIn("not needed", {t["state"] for t in report["details"] if t["task"] == "pizza:do_install"})
        # Nothing is compared with a build that failed.
        self.edit(OWN, "    exit 3", "    echo cheese > made")
        self.build("pizza")
        self.assertEqual(self.ask("report", "--json").json["since"], report["since"])

    def test_the_first_build_here_is_compared_with_what_others_stored(self):
        self.build("pizza")
        self.assertIn("First build here: 10 tasks are new\n", self.ask("report").out)
        shutil.rmtree(self.dir / "build/builds")
        self.write("meta-kitchen/files/topping", "ham\n")
        self.build("pizza")
        report = self.ask("report", "--json").json
        self.assertEqual([(c["kind"], c["name"]) for c in report["causes"]], [("file", "topping")])
        self.assertEqual((report["first"], report["new"]), (True, 0))
        self.assertIn("First build here: compared with what stored results were made from\n", self.ask("report").out)


class Page(Past):
    """What can be seen of the page without a browser; test_page.py has one."""

    def test_the_page_holds_all_it_needs(self):
        self.tell_two()
        self.ask("report", "--html", self.dir / "page.html")
        page = (self.dir / "page.html").read_text()
        self.assertIn(f"<title>Build {SECOND}</title>", page)
        self.assertNotRegex(page, r"(src|href)=(?!\"#)|https?://(?!www\.w3\.org/2000/svg)|@import|url\(")
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
        self.assertEqual((data["result"], len(data["s"]), data["counts"]["failed"]), ("failed", 4, 1))

    def test_only_its_own_script_and_style_may_be_used(self):
        self.tell_two()
        self.ask("report", "--html", self.dir / "page.html")
        page = (self.dir / "page.html").read_text()
        policy = re.search(r'Content-Security-Policy" content="(.*?)"', page).group(1)
        self.assertIn("default-src 'none';", policy)
        for tag, kind in (("script", "script-src"), ("style", "style-src")):
            text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S).group(1)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertIn(f"{kind} 'sha256-{digest}'", policy)


class Real(Past):
    """Everything of a build that took place."""

    def test_what_is_told_is_what_happened(self):
        self.build("pizza")
        self.write("meta-kitchen/files/topping", "ham\n")
        self.build("pizza")
        report = self.ask("report", "--json").json
        self.check_report(report)
        self.check_memory(report)
        self.check_events()
        self.check_saved(report, self.ask("report", self.builds()[0]["build"], "--json").json)
        self.check_buildstats(self.builds()[0]["build"])
        self.check_trace()

    def check_report(self, report):
        self.assertEqual((report["executed"], report["cached"], report["not_needed"]), (3, 2, 4))
        states = [t["state"] for t in report["details"]]
        self.assertEqual({s: states.count(s) for s in set(states)},
                         {"executed": 3, "cached": 2, "not needed": 4, "nothing to run": 1})
        self.assertEqual([w["executed"] for w in report["waves"]], [0, 0, 0, 1, 1, 1, 0])
        self.assertEqual([w["not_needed"] for w in report["waves"]], [2, 2, 0, 0, 0, 0, 0])
        self.assertEqual([(c["kind"], c["name"]) for c in report["causes"]], [("file", "topping")])

    def check_saved(self, report, before):
        """What did not run saves what it took in the build before, needed or not."""
        took = {t["task"]: t["end"] - t["start"] for t in before["details"] if t["state"] == "executed"}
        rest = [t for t in report["details"] if t["state"] in ("cached", "not needed") and t["task"] in took]
        self.assertEqual(len(rest), 6)
        for task in rest:
            self.assertGreater(task["saved"], 0, task)
            self.assertLess(task["saved"], 2 * took[task["task"]] + 0.5, task)  # by another clock
        for key, states in (("saved", ("cached", "not needed")), ("saved_not_needed", ("not needed",))):
            self.assertAlmostEqual(report[key], sum(t["saved"] for t in rest if t["state"] in states), places=3)
        for sums in ("recipes", "waves"):
            self.assertAlmostEqual(sum(row["saved"] for row in report[sums]), report["saved"], places=3)

    def check_memory(self, report):
        with open("/proc/meminfo", encoding="ascii") as info:
            total = int(info.readline().split()[1]) << 10
        self.assertGreater(report["memory"], 0)
        self.assertGreater(report["memory_used"], report["memory"])  # of one process, of all
        self.assertLessEqual(report["memory_used"], total)
        self.assertRegex(self.ask("report").out, r"\nMemory: the largest process had [0-9.]+ [KM]i?B; "
                         r"of the whole machine up to [0-9.]+ [MG]i?B were in use\n")

    def check_events(self):
        """Whatever is written the manual page tells of."""
        page = self.run_bitzel("help", "--man", "bitzel-events").out.partition("\n.SH \"LINES\"\n")[2]
        told = {name.strip("\""): set(re.findall(r"^\.TP\n\\fB([a-z_]+)\\fR$", text, re.M)) | {"event", "at"}
                for name, text in (part.split("\n", 1) for part in ("\n" + page).split("\n.SS ")[1:])}
        seen = set()
        for log in (self.dir / "build/builds").glob("*/events*"):
            for line in map(json.loads, log.read_text().splitlines()):
                seen.add(line["event"])
                self.assertLessEqual(set(line), told[line["event"]], line)
        self.assertLessEqual({"begin", "cached", "unneeded", "planned", "started", "done", "traffic", "end"}, seen)

    def check_buildstats(self, name):
        self.ask("report", name, "--buildstats", self.dir / "stats")
        top = self.dir / "stats" / name
        self.assertRegex((top / "build_stats").read_text(),
                         r"\nBuild Started: [0-9.]+ \nElapsed time: [0-9.]+ seconds \n")
        self.assertEqual({p.name for p in top.iterdir()},
                         {"build_stats", "pizza-1.0-r0", "dough-1.0-r0", "sauce-1.0-r0"})
        task = dict(line.split(":", 1) for line in
                    (top / "pizza-1.0-r0/do_compile").read_text().splitlines())
        self.assertLessEqual(float(task["Started"]), float(task["Ended"]))
        self.assertEqual(task["Status"].strip(), "PASSED")
        self.assertIn("is there already",
                      self.ask("report", name, "--buildstats", self.dir / "stats", code=4).err)

    def check_trace(self):
        self.ask("trace", "-o", self.dir / "trace.json")
        trace = json.loads((self.dir / "trace.json").read_text())
        self.assertEqual(json.loads(self.ask("trace").out), trace)
        Rules(self, trace)
        ran = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        self.assertEqual({e["name"] for e in ran},
                         {f"pizza:do_{t}" for t in ("compile", "install", "populate_sysroot")})
        cached = {e["name"] for e in trace["traceEvents"] if e["ph"] == "i" and e["args"]["cached"]}
        self.assertEqual(cached, {"dough:do_populate_sysroot", "sauce:do_populate_sysroot"})
        ends = [e["id"] for e in trace["traceEvents"] if e["ph"] == "f"]
        self.assertEqual(ends, [e["id"] for e in trace["traceEvents"] if e["ph"] == "s"])


if __name__ == "__main__":
    bitzel.main()
