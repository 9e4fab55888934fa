"""The HTML report in a browser: it opens alone and quickly, sorts, searches, zooms."""

import os
import random
import time
import unittest

import bitzel
import browser
import test_report

EVIL = "</script><img src=x onerror=alert(1)>"


def many(n, slots):
    """The events of a build of n tasks, of which one in eight was found."""
    for i in range(n):
        task, after = f"recipe{i // 8}:do_{'abcdefgh'[i % 8]}", []
        if i % 8:
            after = [f"recipe{i // 8}:do_{'abcdefgh'[i % 8 - 1]}"]
        after += [f"recipe{k}:do_h" for k in range(max(0, i // 8 - 6), i // 8)]
        at = i // slots * 0.5 + i % slots * 0.01
        if i % 8 == 7:
            yield {"event": "cached", "at": at, "task": task, "key": "cd" * 32, "after": after, "same": False, "saved": 2}
            continue
        yield {"event": "started", "at": at, "task": task, "key": "ab" * 32, "after": after}
        yield {"event": "done", "at": at + 0.45, "task": task, "took": 0.45, "cpu": 0.4, "memory": 1 << 20}


@unittest.skipUnless(browser.PROGRAM or "BITZEL_MUST_WORK" in os.environ, "there is no chromium")
class Page(test_report.Past):
    @classmethod
    def setUpClass(cls):
        cls.page = browser.Browser()  # starting it takes longer than most tests
        cls.addClassCleanup(cls.page.close)

    def open(self, **how):
        self.ask("report", "--html", self.dir / "page.html")
        self.page.look(**how)
        began = time.monotonic()
        self.page.open(self.dir / "page.html")
        self.opened = time.monotonic() - began
        self.assertEqual(self.page.problems(), [])
        self.assertEqual(self.page.requests(), [f"file://{self.dir}/page.html"])

    def now(self, build):
        """The build is of today, and so are its logs."""
        events = self.dir / "build/builds" / build / "events"
        events.write_text(events.read_text().replace("2026-01-02T03:04:05Z", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())))

    def rows(self, table):
        return self.page.ask(f"[...document.querySelectorAll('#{table} .body .row')].map(r => r.firstChild.textContent)")

    def text(self, selector):
        return self.page.ask(f"document.querySelector('{selector}').textContent")

    def click(self, selector):
        self.page.ask(f"document.querySelector('{selector}').click()")

    def pixel(self, part, slot=0):
        """What the timeline shows in a slot, at a part of its width, above the names."""
        return tuple(self.page.ask(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {"
            " const c = document.querySelector('#canvas'), dot = new OffscreenCanvas(1, 1).getContext('2d');"
            f" dot.drawImage(c, Math.round(c.width * {part}), {22 + 22 * slot + 4}, 1, 1, 0, 0, 1, 1);"
            " done([...dot.getImageData(0, 0, 1, 1).data].slice(0, 3)); })))"))

    def color(self, name):
        value = self.page.ask(f"getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()")
        return tuple(bytes.fromhex(value[1:]))

    def test_a_page_of_ten_thousand_tasks_is_small_and_quick(self):
        self.tell(test_report.FIRST, *many(10000, 16))
        self.open()
        self.assertLess((self.dir / "page.html").stat().st_size, 3 << 20)
        self.assertLess(self.opened, 10)  # 2 on an idle machine
        self.assertLess(len(self.rows("task-table")), 60)
        self.page.type("#find", "recipe77: do_c")
        self.assertEqual(self.rows("task-table"), ["recipe77:do_c"])
        self.click("#zoom-in")
        self.page.look(width=360, height=740)
        self.assertLessEqual(self.page.ask("document.documentElement.scrollWidth"), 360)
        self.page.type("#find", "")
        self.assertLess(len(self.rows("task-table")), 60)
        self.assertNotEqual(self.pixel(0.5), self.color("back"))
        self.assertEqual(self.page.problems(), [])

    def test_a_page_with_many_dependencies_and_coloured_logs_is_small_too(self):
        chance = random.Random(7)
        log = self.dir / "log"
        log.write_text("".join(f"\x1b[1m\x1b[Kx.c:{i}:5:\x1b[m\x1b[K \x1b[01;35m\x1b[Kwarning: \x1b[m\x1b[Kunused \"x\"\r\n"
                               for i in range(2000)))
        def told():
            for i in range(10000):
                after = sorted({chance.randrange(i) for _ in range(40)} if i else ())
                yield {"event": "started", "at": i, "task": f"recipe{i}:do_x", "key": f"{chance.getrandbits(256):064x}",
                       "after": [f"recipe{k}:do_x" for k in after]}
                yield {"event": "done", "at": i + 1, "task": f"recipe{i}:do_x", "took": 1, "cpu": 1, "memory": 1 << 28,
                       "log": str(log)}
                if i == 9999:
                    self.last = after
        self.tell(test_report.FIRST, *told())
        self.now(test_report.FIRST)
        self.open()
        self.assertLess((self.dir / "page.html").stat().st_size, 3 << 20)
        self.page.type("#find", "recipe9999:")
        self.page.ask("document.querySelector('#task-table .body .row').click()")
        shown = self.page.ask("[...document.querySelectorAll('#before .name')].map(b => b.textContent)")
        self.assertEqual(len(shown), 24)
        self.assertLessEqual(set(shown), {f"recipe{k}:do_x" for k in self.last})
        self.assertIn(f"and {len(self.last) - 24} more", self.text("#before"))
        self.assertEqual(self.text("#behind"), "nothing")
        self.assertIn("warning: unused", self.text("#log-text"))
        self.assertNotIn("\x1b", (self.dir / "page.html").read_text())

    def test_dependencies_that_are_too_many_are_said_to_be(self):
        names = [f"r{i}:x" for i in range(1600)]
        self.tell(test_report.FIRST, *({"event": "cached", "at": 0, "task": n, "key": "ab", "after": names[:i]}
                                       for i, n in enumerate(names)))
        self.open()
        self.page.ask("document.querySelector('#task-table .body .row').click()")
        self.assertEqual((self.text("#before"), self.text("#behind")), ("not kept: there are too many",) * 2)

    def test_the_numbers_of_the_ring_are_those_of_the_build(self):
        self.tell_two()
        self.open()
        self.assertEqual(self.text("#donut .hole"), "50%")  # of four two did not run
        self.assertEqual(self.page.ask("document.querySelector('#donut svg').getAttribute('aria-label')"),
                         "1 executed, 1 from cache, 1 failed, 1 not needed, 1 nothing to run")
        self.assertEqual(self.page.ask("[...document.querySelectorAll('#legend li')].map(l => l.textContent)"),
                         ["executed1", "from cache1", "failed1", "not needed1", "nothing to run1"])
        # Each has its part of the ring.
        arcs = self.page.ask("[...document.querySelectorAll('#donut circle')].slice(1)"
                             ".map(c => parseFloat(c.getAttribute('stroke-dasharray')))")
        self.assertEqual(len(arcs), 5)
        for arc in arcs:
            self.assertAlmostEqual(arc, 2 * 3.14159 * 48 / 5, places=2)

    def test_the_timeline_is_drawn_zoomed_and_moved(self):
        self.tell_two()  # pizza:do_x from 1 to 4, do_y from 4 to 6 of 9 seconds
        for dark in (False, True):
            with self.subTest(dark=dark):
                self.open(dark=dark)
                back, ran, failed = (self.color(c) for c in ("back", "k0", "failed"))
                self.assertEqual([self.pixel(p) for p in (0.03, 0.4, 0.64, 0.9)], [back, ran, failed, back])
                self.click("#zoom-in")  # 2.25 to 6.75
                self.assertEqual([self.pixel(p) for p in (0.03, 0.3, 0.64, 0.9)], [ran, ran, failed, back])
                self.click("#zoom-all")
                self.assertEqual(self.pixel(0.03), back)
                self.page.ask("document.querySelector('#canvas').focus()")
                for _ in range(4):
                    self.page.press("+")  # 1.17 seconds around 4.5
                self.assertEqual([self.pixel(p) for p in (0.02, 0.2)], [ran, failed])
                self.page.press("ArrowLeft", 37)
                self.assertEqual(self.pixel(0.12), ran)
                self.page.press("Home", 36)
                self.assertEqual(self.pixel(0.5), back)
                self.page.press("0")
                self.assertEqual([self.pixel(p) for p in (0.03, 0.4)], [back, ran])
                self.assertEqual(self.page.problems(), [])

    def test_a_task_with_little_room_is_called_by_its_recipe(self):
        self.tell(test_report.FIRST, *self.ran("pizza:do_compile", 0, 80), *self.ran("dough:do_compile", 80, 85),
                  *self.ran("sauce:do_compile", 85, 85.5), *self.ran("pizza:do_serve", 85.5, 100))
        self.open(width=1000)
        words = self.page.ask("""new Promise((done) => {
            const words = [], pen = CanvasRenderingContext2D.prototype, was = pen.fillText;
            pen.fillText = function (text, ...where) { words.push(text); was.call(this, text, ...where); };
            document.querySelector('#zoom-all').click();
            requestAnimationFrame(() => requestAnimationFrame(() => done(words)));
        })""")
        self.assertEqual([word for word in words if not word[0].isdigit()], ["pizza:do_compile", "dough", "pizza:do_serve"])

    def test_tasks_are_picked_on_the_timeline_by_keys(self):
        self.tell(test_report.FIRST, *self.ran("a:do_x", 0, 4), *self.ran("b:do_y", 0, 8), *self.ran("a:do_z", 4, 9))
        self.open()
        self.page.ask("document.querySelector('#canvas').focus()")
        seen = []
        for key, code in (("ArrowDown", 40), ("ArrowDown", 40), ("ArrowUp", 38), ("n", 0), ("n", 0), ("p", 0)):
            self.page.press(key, code)
            seen.append(self.text("#tip").split(" ")[0])
        self.assertEqual(seen, ["a:do_x", "b:do_y", "a:do_x", "a:do_z", "a:do_z", "a:do_x"])
        self.page.press("n")
        self.page.press("Enter", 13)
        self.assertEqual(self.text("#here"), "a:do_z")
        self.assertTrue(self.page.ask("document.querySelector('#tip').hidden"))  # the focus went on
        self.assertEqual(self.page.problems(), [])

    def test_the_critical_path_stands_out(self):
        self.tell(test_report.FIRST, *self.ran("a:do_x", 0, 9), *self.ran("b:do_y", 0, 8))
        self.open()
        before = [self.pixel(0.5, slot) for slot in (0, 1)]
        self.click("#only-path")
        after = [self.pixel(0.5, slot) for slot in (0, 1)]
        self.assertEqual([before[i] == after[i] for i in (0, 1)], [True, False])
        self.assertEqual(self.text("#path-list button span"), "a:do_x")

    def test_numbers_sort_as_numbers(self):
        self.tell(test_report.FIRST, *(e for n, took in (("a", 2), ("b", 10), ("c", 1))
                                       for e in self.ran(f"{n}:do_x", 0, took)))
        self.open()
        self.assertEqual(self.rows("task-table"), ["b:do_x", "a:do_x", "c:do_x"])  # the slowest first
        took = "#task-table .heads > :nth-child(4)"
        self.assertEqual(self.page.ask(f"document.querySelector('{took}').getAttribute('aria-sort')"), "descending")
        self.click(took + " button")
        self.assertEqual(self.rows("task-table"), ["c:do_x", "a:do_x", "b:do_x"])

    def test_tables_sort_both_ways(self):
        self.tell_two()
        self.open()
        self.assertEqual(self.rows("recipe-table"), ["pizza", "dough"])
        click = "document.querySelector('#recipe-table .heads button').click()"
        self.page.ask(click)
        self.assertEqual(self.rows("recipe-table"), ["dough", "pizza"])
        self.page.ask(click)
        self.assertEqual(self.rows("recipe-table"), ["pizza", "dough"])
        self.page.ask("(() => { const s = document.querySelector('#state'); s.value = 2; s.onchange(); })()")
        self.assertEqual(self.rows("task-table"), ["dough:do_x"])

    def test_traffic_has_tables_if_there_was_any(self):
        self.tell(test_report.FIRST, *self.ran("dough:do_x", 0, 3))
        self.open()
        self.assertTrue(self.page.ask("document.querySelector('#traffic').hidden"))
        self.tell(test_report.SECOND, *self.ran("dough:do_x", 0, 3),
                  {"event": "fetched", "at": 1, "task": "dough:do_x", "what": "https://mill.example/flour", "bytes": 5 << 20, "took": 2},
                  {"event": "traffic", "at": 9, "place": "/store", "kind": "local", "hits": 1},
                  {"event": "traffic", "at": 9, "place": EVIL, "kind": "http", "hits": 3, "bytes_read": 2048, "blobs_read": 2})
        self.open()
        self.assertFalse(self.page.ask("document.querySelector('#traffic').hidden"))
        self.assertEqual(self.rows("place-table"), ["local store", EVIL])
        self.assertEqual(self.rows("download-table"), ["https://mill.example"])
        self.assertIn("5.0 MiB", self.page.ask("document.querySelector('#download-table').textContent"))

    def test_logs_are_searched(self):
        self.tell_two()
        self.now(test_report.SECOND)
        self.open()
        self.assertIn("the oven is cold", self.page.ask("document.querySelector('#log-text').textContent"))
        self.assertEqual(self.page.ask("document.querySelector('#failure-list').textContent"), "pizza:do_y exit status 7")
        self.page.type("#log-find", "BAKING")  # in the other log
        self.assertEqual(self.page.ask("document.querySelector('#log-text mark').textContent"), "baking")
        self.assertIn("1 match here", self.text("#log-found"))
        self.page.type("#log-find", "in")  # baking
        self.page.type("#log-find", "o")  # the oven is cold
        self.assertIn("2 matches here, 2 in all logs", self.text("#log-found"))
        at = "[...document.querySelectorAll('#log-text mark')].findIndex(m => m.className === 'now')"
        seen = [self.page.ask(at)]
        for _ in range(2):
            self.click("#log-next")
            seen.append(self.page.ask(at))
        self.assertEqual(seen, [0, 1, 0])

    def test_a_task_shows_what_is_around_it_also_by_keyboard(self):
        self.tell_two()
        self.open()
        self.page.ask("document.querySelector('#task-table .table').focus()")
        self.page.press("ArrowDown", 40)  # the slowest
        active = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))"
        self.assertEqual(self.page.ask(active + ".firstChild.textContent"), "pizza:do_x")
        self.assertEqual(self.page.ask(active + ".getAttribute('aria-selected')"), "true")
        self.page.press("Enter", 13)
        self.assertEqual(self.page.ask("document.querySelector('#here').textContent"), "pizza:do_x")
        self.assertEqual(self.page.ask("[...document.querySelectorAll('#before .name, #behind .name')].map(b => b.textContent)"),
                         ["dough:do_x", "pizza:do_y"])
        # Beyond what it waits for there is more; what failed is on the critical path.
        self.assertEqual(self.page.ask("document.querySelector('#before .grow').getAttribute('aria-expanded')"), "false")
        self.click("#before .grow")
        self.assertEqual(self.page.ask("document.querySelector('#before .grow').getAttribute('aria-expanded')"), "true")
        self.assertEqual(self.text("#before ul .name"), "dough:do_fetch")
        self.assertIsNone(self.page.ask("document.querySelector('#before .critical')"))
        self.assertEqual(self.page.ask("document.querySelector('#behind .critical').title"), "on the critical path")
        self.assertIn("on the critical path", self.text("#task-facts"))
        self.assertEqual(self.page.ask("document.querySelectorAll('#wires path').length"), 2)
        self.click("#behind .name")
        self.assertEqual(self.text("#here"), "pizza:do_y")
        self.assertEqual(self.page.problems(), [])

    def test_what_failed_and_what_overlaps_is_told(self):
        self.tell(test_report.FIRST, *self.ran("a:do_x", 0, 5, event="failed", signal=15, timeout=4), *self.ran("b:do_x", 0, 5),
                  {"event": "overlap", "at": 6, "task": "a:do_x", "other": "b:do_x", "path": EVIL, "more": 2}, failed=1)
        self.open()
        self.assertEqual(self.text("#failure-list"), "a:do_x not done after 4s, its timeout")
        self.assertEqual(self.text("#overlap-list"), EVIL + " and 2 more by a:do_x and b:do_x")
        self.assertFalse(self.page.ask("document.querySelector('#overlaps').hidden"))
        self.click("#overlap-list button:last-child")
        self.assertEqual(self.text("#here"), "b:do_x")
        self.tell_two()
        self.open()
        self.assertTrue(self.page.ask("document.querySelector('#overlaps').hidden"))

    def test_names_and_logs_cannot_do_anything(self):
        self.tell(test_report.FIRST, *self.ran("a:do_x", 0, 5, text=EVIL + "\n"),
                  {"event": "cached", "at": 1, "task": f"{EVIL}:do_x", "key": EVIL, "after": [EVIL]})
        self.open()
        self.assertEqual(self.page.ask("document.querySelectorAll('img').length"), 0)
        self.assertIn(f"{EVIL}:do_x", self.rows("task-table"))
        # The policy would stop what got through all the same.
        self.page.ask("document.body.append(document.createRange().createContextualFragment("
                      "'<script>window.ran = 1</' + 'script>'))")
        self.assertIsNone(self.page.ask("window.ran"))

    def test_a_phone_need_not_scroll_sideways(self):
        self.tell_two()
        for dark in (False, True):
            self.open(width=360, height=740, dark=dark)
            self.assertLessEqual(self.page.ask("document.documentElement.scrollWidth"), 360)
            back = self.page.ask("getComputedStyle(document.body).backgroundColor")
            self.assertEqual(back, "rgb(20, 23, 27)" if dark else "rgb(246, 247, 249)")


if __name__ == "__main__":
    bitzel.main()
