#!/usr/bin/env python3
"""Makes the pictures of .docs: a build on a terminal, its report, a graph.

usage: BITZEL=PROGRAM tests/pictures/make.py [DIRECTORY]

A small project is built for it. Chromium draws; DIRECTORY is .docs unless given.
"""

import html
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
import bitzel  # noqa: E402
import browser  # noqa: E402
import screen  # noqa: E402

FILES = {
    "build/conf/bblayers.conf": '''\
BBPATH = "${TOPDIR}"
BBFILES = ""
BBLAYERS = "${TOPDIR}/../meta-kitchen"
''',
    "build/conf/bitzel.conf": "jobs = 4\n",
    "meta-kitchen/conf/layer.conf": '''\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*.bb"
BBFILE_COLLECTIONS += "kitchen"
BBFILE_PATTERN_kitchen = "^${LAYERDIR}/"
LAYERSERIES_CORENAMES = "spring"
LAYERSERIES_COMPAT_kitchen = "spring"
''',
    "meta-kitchen/conf/bitbake.conf": '''\
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'nothing'}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
PROVIDES = "${PN}"
TMPDIR = "${TOPDIR}/tmp"
WORKDIR = "${TMPDIR}/work/${PN}"
T = "${WORKDIR}/temp"
B = "${WORKDIR}/build"
D = "${WORKDIR}/image"
TABLE = "${TMPDIR}/table"
''',
    "meta-kitchen/classes/base.bbclass": '''\
addtask prepare
addtask compile after do_prepare
addtask install after do_compile
addtask serve after do_install
addtask build after do_serve
do_compile[deptask] = "do_serve"
do_prepare[dirs] = "${B}"
do_compile[dirs] = "${B}"
do_install[dirs] = "${B}"
do_build[noexec] = "1"
do_prepare() {
    sleep 0.${@len(d.getVar('PN'))}
    echo ${PN} > list
}
do_compile() {
    sleep ${TAKES}
    echo "${PN}" > made
}
do_install() {
    sleep 0.2
    install -D made ${D}/${PN}
}
do_serve() {
    mkdir -p ${TABLE}
    cp ${D}/${PN} ${TABLE}/
}
do_build() {
    :
}
''',
}
# The version of each, how long it takes, and what it needs.
RECIPES = {
    "flour": ("4.05", 0.9, ""), "yeast": ("42", 0.6, ""), "tomatoes": ("2.1", 1.4, ""),
    "cheese": ("1.9", 2.2, ""), "basil": ("0.3", 0.4, ""), "coffee": ("8.15", 5.5, ""),
    "eggs": ("12", 0.5, ""), "dough": ("1.4", 2.8, "flour yeast"),
    "sauce": ("3.0", 3.6, "tomatoes basil"), "salad": ("1.2", 1.9, "tomatoes cheese"),
    "pizza": ("2.0", 3.2, "dough sauce cheese"), "tiramisu": ("1.1", 2.4, "coffee eggs cheese"),
    "dinner": ("1.0", 0.8, "pizza salad tiramisu"),
}

INKS = {"1": "font-weight:bold;color:#fff", "2": "color:#8b949e", "31": "color:#ff7b72",
        "32": "color:#7ee787", "33": "color:#e3b341"}
TERMINAL = """\
<!doctype html><meta charset="utf-8"><style>
body { margin: 0; }
div { width: max-content; border-radius: 8px; background: #0d1117; overflow: hidden; }
header { background: #21262d; color: #8b949e; font: 12px/14px sans-serif; padding: 7px 12px; text-align: center; }
header i { float: left; width: 11px; height: 11px; border-radius: 6px; margin: 1.5px 7px 0 0; }
pre { margin: 0; padding: 12px 16px 14px; color: #c9d1d9; font: 13px/18px "DejaVu Sans Mono", monospace; }
</style><div><header><i style="background:#ff5f57"></i><i style="background:#febc2e"></i><i
style="background:#28c840"></i>~/kitchen/build</header><pre>"""


class Inked(str):
    """A cell that knows its colour."""

    ink = ""


class Screen(screen.Screen):
    ink = ""

    def obey(self, private, number, letter):
        super().obey(private, number, letter)
        if letter == "m":
            self.ink = "" if number in ("", "0") else number

    def put(self, c):
        cell = Inked(c)
        cell.ink = self.ink
        super().put(cell)

    def page(self):
        spans = []
        for line in self.lines[:len(self.shown())]:
            for cell in line:
                style = INKS.get(getattr(cell, "ink", ""), "")
                spans.append(f'<span style="{style}">{html.escape(cell)}</span>' if style else html.escape(cell))
            spans.append("\n")
        return TERMINAL + "".join(spans).rstrip("\n") + "</pre></div>\n"


class Kitchen:
    """The project, in a home of its own."""

    def __init__(self, home):
        self.home, self.build = home, home / "kitchen/build"
        recipes = {self.recipe(name): f'DEPENDS = "{needs}"\nTAKES = "{takes}"\n'
                   for name, (_, takes, needs) in RECIPES.items()}
        for name, text in {**FILES, **recipes}.items():
            path = home / "kitchen" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
                    "TERM": "xterm-256color", "BITZEL_NO_SAMPLE": "1"}
        self.program = str(pathlib.Path(bitzel.PROGRAM).resolve())

    @staticmethod
    def recipe(name):
        return f"meta-kitchen/recipes/{name}_{RECIPES[name][0]}.bb"

    def run(self, *args):
        done = subprocess.run([self.program, *args], cwd=self.build, env=self.env, check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return done.stdout.decode().replace(str(self.home), "/home/me")

    def change(self, *names):
        for name in names:
            with (self.home / "kitchen" / self.recipe(name)).open("a", encoding="utf-8") as file:
                file.write('do_compile:append() {\n    echo "with care" >> made\n}\n')

    def watch(self, moment):
        """A page of what the terminal shows at that moment of a build."""
        session = screen.Session([self.program, "build", "dinner"], 92, 18, cwd=self.build, env=self.env)
        session.screen = Screen(92, 18)
        session.screen.feed("\033[32m~/kitchen/build $\033[0m bitzel build dinner\r\n")
        try:
            session.until(moment)
            page = session.screen.page()
            session.end()
        finally:
            session.close()
        return page


def busy(shown):
    """Several tasks run, some have ended, and one has done so for seconds."""
    lines = shown.shown()
    return lines[-1].startswith("[") and any(line.startswith("     3s ") for line in lines) \
        and sum(line.startswith("     ") for line in lines) >= 3


def shoot(path, page, selector, width=0, below=0, scale=1.0):
    """Draws an element of a page, from the top of the page to the end of the element."""
    source = path.with_suffix(".html")
    source.write_text(page, encoding="utf-8")
    window = browser.Browser(width=width or 1600, height=1200)
    try:
        window.call("Emulation.setScrollbarsHidden", hidden=True)
        window.open(source)
        right, bottom = window.ask(
            f"(() => {{ const r = document.querySelector('{selector}').getBoundingClientRect();"
            " return [Math.ceil(r.right), Math.ceil(r.bottom)]; })()")
        window.call("Emulation.setDefaultBackgroundColorOverride", color={"r": 0, "g": 0, "b": 0, "a": 0})
        window.call("Emulation.setDeviceMetricsOverride", width=width or right, height=bottom + below,
                    deviceScaleFactor=scale, mobile=False)
        window.screenshot(path, whole=False)
        if window.problems():
            sys.exit(f"{path}: {window.problems()}")
    finally:
        window.close()
        source.unlink()
    print(f"{path}: {path.stat().st_size} bytes", file=sys.stderr)


def main(out=ROOT / ".docs"):
    out = pathlib.Path(out).resolve()
    with tempfile.TemporaryDirectory(prefix="bitzel-pictures-") as home:
        kitchen = Kitchen(pathlib.Path(home).resolve())
        kitchen.run("build", "dinner")  # so that there are times to expect, and a cache
        kitchen.change("tomatoes", "yeast", "coffee")
        shoot(out / "console.png", kitchen.watch(busy), "div", scale=1.5)
        kitchen.run("report", "--html", "report.html")
        page = (kitchen.build / "report.html").read_text(encoding="utf-8")
        shoot(out / "report.png", page.replace(home, "/home/me"), "#timeline", width=1000, below=8)
        svg = kitchen.run("graph", "--recipes", "--reduce", "--svg", "dinner")
        shoot(out / "graph.png", '<!doctype html><meta charset="utf-8"><body style="margin:0;background:#fff">'
              + svg[svg.index("<svg"):], "svg", scale=1.5)


if __name__ == "__main__":
    main(*sys.argv[1:])
