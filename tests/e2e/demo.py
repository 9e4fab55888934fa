"""A small project of two layers, for the tests of commands that need one; the manual
shows what the commands say about it."""

import bitzel

FILES = {
    "build/conf/bblayers.conf": '''\
BBPATH = "${TOPDIR}"
BBFILES ?= ""
BBLAYERS ?= "${TOPDIR}/../meta-one ${TOPDIR}/../meta-two"
''',
    "build/conf/local.conf": 'MACHINE = "board"\nCOLOR:board = "green"\n',
    "meta-one/conf/layer.conf": '''\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*.bb"
BBFILE_COLLECTIONS += "one"
BBFILE_PATTERN_one = "^${LAYERDIR}/"
BBFILE_PRIORITY_one = "5"
LAYERVERSION_one = "4"
LAYERSERIES_CORENAMES = "spring"
LAYERSERIES_COMPAT_one = "spring"
''',
    "meta-one/conf/bitbake.conf": '''\
COLOR ?= "red"
OVERRIDES = "${MACHINE}:pn-${PN}"
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'nothing'}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
P = "${PN}-${PV}"
require conf/local.conf
''',
    "meta-one/classes/base.bbclass": 'do_build() {\n    :\n}\naddtask build\n',
    "meta-one/recipes/hello_1.2.bb": '''\
SUMMARY = "greets"
LIST = "a"
LIST += "b"
LIST:append = " c"
LIST[doc] = "letters"
NAME = "${P}"
''',
    "meta-one/recipes/clock_1.9.bb": 'PROVIDES = "virtual/clock"\n',
    "meta-one/recipes/clock_1.10.bb": 'PROVIDES = "virtual/clock"\n',
    "meta-one/recipes/clock_2.0.bb": 'PROVIDES = "virtual/clock"\nDEFAULT_PREFERENCE = "-1"\n',
    "meta-one/recipes/sundial_0.9.bb": 'PROVIDES = "virtual/clock"\nRPROVIDES:sundial = "time"\n',
    "meta-two/conf/layer.conf": '''\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*.bbappend"
BBFILE_COLLECTIONS += "two"
BBFILE_PATTERN_two = "^${LAYERDIR}/"
LAYERDEPENDS_two = "one (>= 3)"
LAYERSERIES_COMPAT_two = "spring"
''',
    "meta-two/recipes/hello_%.bbappend": 'LIST:append = " d"\n',
}


class Project(bitzel.Case):
    files = FILES

    def setUp(self):
        super().setUp()
        for name, text in self.files.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_in_build(self, *args, **how):
        return self.run_bitzel("--directory", self.dir / "build", *args, **how)
