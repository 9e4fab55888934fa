"""A checkout as data, and the code that brings a directory to that state.

A kind of edit describes its part of the checkout as a function of its knobs (kinds.py). The
functions of all kinds of a project write into one Checkout; Checkout.files() is then the
whole project: layers, recipes, the configuration of the build directory. An edit is another
value of a knob: Site.sync() changes the files that differ, and no others.
"""

import hashlib
import os
import shutil
import stat
import zlib

BITBAKE_CONF = '''\
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'none'}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
PR = "r0"
BPN = "${PN}"
BP = "${BPN}-${PV}"
PF = "${PN}-${PV}-${PR}"
DEPENDS ?= ""
PROVIDES = ""
PROVIDES:prepend = "${PN} "
PACKAGES = "${PN}"
RDEPENDS:${PN} ?= ""
SRC_URI ??= ""
MACHINE ??= "board-a"
DISTRO ??= "distro-a"
CLASSOVERRIDE ?= "class-target"
OVERRIDES = "${MACHINE}:${DISTRO}:${CLASSOVERRIDE}:pn-${PN}"
TMPDIR = "${TOPDIR}/tmp"
DL_DIR ?= "${TOPDIR}/downloads"
DEPLOY_DIR = "${TMPDIR}/deploy"
WORKDIR = "${TMPDIR}/work/${PN}/${PV}"
UNPACKDIR = "${WORKDIR}/sources"
S = "${UNPACKDIR}"
T = "${WORKDIR}/temp"
B = "${WORKDIR}/build"
D = "${WORKDIR}/image"
FILE_DIRNAME = "${@os.path.dirname(d.getVar('FILE', False))}"
THISDIR = "${@os.path.dirname(d.getVar('FILE', False))}"
FILESPATH = "${FILE_DIRNAME}/${BP}:${FILE_DIRNAME}/${BPN}:${FILE_DIRNAME}/files"
BB_NO_NETWORK = "1"
PREMIRRORS = "http://.*/.* file://${TOPDIR}/../mirror/"
PARALLEL_MAKE ?= "-j 2"
BB_BASEHASH_IGNORE_VARS = "TMPDIR TOPDIR FILE PATH PWD BBPATH DL_DIR THISDIR FILE_DIRNAME HOME \\
    LOGNAME SHELL TERM USER FILESPATH PARALLEL_MAKE BB_NUMBER_THREADS WORKDIR \\
    PREMIRRORS"
include conf/site.conf
include conf/auto.conf
include conf/local.conf
include conf/machine/${MACHINE}.conf
include conf/distro/${DISTRO}.conf
'''

# OpenEmbedded has this. With it, flags that it does not name count by themselves.
EXCLUDE_FLAGS = '''\
BB_SIGNATURE_EXCLUDE_FLAGS = "doc deps depends lockfiles type vardepsexclude vardeps vardepvalue \\
    vardepvalueexclude defaultval deptask rdeptask recrdeptask recideptask mcdepends rdepends \\
    nostamp func task export unexport noexec python exports timeout progress filename lineno \\
    dirs cleandirs umask network fakeroot postfuncs prefuncs file-checksums"
'''

BASE_CLASS = '''\
addtask compile
addtask deploy after do_compile
addtask build after do_deploy
do_build[noexec] = "1"
do_compile[deptask] = "do_deploy"
do_compile[dirs] = "${D} ${B}"
do_compile[umask] = "022"
do_deploy[umask] = "022"
do_compile() {
    :
}
do_deploy() {
    mkdir -p ${DEPLOY_DIR}/${PN}
    cp -a ${D}/. ${DEPLOY_DIR}/${PN}
}
do_build() {
    :
}
# All that is below a directory: names, kinds, modes, link targets, then bytes.
look() {
    mkdir -p "$1"
    (cd "$1" && find . -printf '%p %y %m %l\\n' | LC_ALL=C sort)
    (cd "$1" && find . -type f | LC_ALL=C sort | xargs -r cat)
}
'''

SOURCES_CLASS = '''\
addtask fetch
addtask unpack after do_fetch
addtask patch after do_unpack before do_compile
do_fetch[network] = "1"
do_fetch[file-checksums] = "${@bb.fetch.get_checksum_file_list(d)}"
do_unpack[cleandirs] = "${UNPACKDIR}"
python do_fetch() {
    bb.fetch2.Fetch((d.getVar('SRC_URI') or '').split(), d).download()
}
python do_unpack() {
    bb.fetch2.Fetch((d.getVar('SRC_URI') or '').split(), d).unpack(d.getVar('UNPACKDIR'))
}
python do_patch() {
    oe.patch.apply(d.getVar('SRC_URI'), d.getVar('S'))
}
do_compile() {
    cp -a ${UNPACKDIR}/. ${D}
    rm -rf ${D}/git/.git
}
'''

LAYER_CONF = '''\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*/*.bb ${LAYERDIR}/recipes/*/*.bbappend"
BBFILE_COLLECTIONS += "%(name)s"
BBFILE_PATTERN_%(name)s = "^${LAYERDIR}/"
BBFILE_PRIORITY_%(name)s = "%(priority)s"
LAYERSERIES_CORENAMES = "x"
LAYERSERIES_COMPAT_%(name)s = "x"
'''


class File:
    """The content of a regular file and its permission bits."""

    def __init__(self, data, mode=0o644):
        self.data = data.encode() if isinstance(data, str) else data
        self.mode = mode

    def __eq__(self, other):
        return isinstance(other, File) and (self.data, self.mode) == (other.data, other.mode)


class Link:
    """A symbolic link."""

    def __init__(self, to):
        self.to = to

    def __eq__(self, other):
        return isinstance(other, Link) and self.to == other.to


class Dir:
    """A directory that exists also if nothing is in it."""

    def __init__(self, mode=0o755):
        self.mode = mode

    def __eq__(self, other):
        return isinstance(other, Dir) and self.mode == other.mode


class Checkout:
    """The state of a project, and of the caller who builds it."""

    def __init__(self, shared, exclude_flags=False):
        self.shared = shared  # a directory outside of the checkout, for repositories
        self.entries = {}
        self.outside = {}     # entries below `shared`
        self.targets = []
        self.always = set()   # tasks that may run in every build
        self.harmed = False   # results may be missing in the cache, and be made again at any time
        self.owners = {}      # recipe -> name of its kind
        self.layers = ["meta"]
        self.confs = {"local": "", "site": "", "auto": ""}
        self.bblayers = ""
        self.env = {}
        self.args = []
        self.prefix = []      # a command that runs bitzel
        self.umask = 0o022
        self.user = None
        self.where = "checkout"
        self.name = ""        # of the kind that is writing
        self.put("meta/conf/bitbake.conf", BITBAKE_CONF + EXCLUDE_FLAGS * exclude_flags)
        self.put("meta/classes/base.bbclass", BASE_CLASS)
        self.put("meta/classes/sources.bbclass", SOURCES_CLASS)
        self.layer_conf("meta", 5, 'METADIR := "${LAYERDIR}"\n')

    # ---- what kinds call ----

    @property
    def here(self):
        """The directory of the kind's recipes."""
        return f"meta/recipes/{self.name}"

    @property
    def upper(self):
        """A prefix for the kind's variables in configuration files."""
        return self.name.upper().replace("-", "_")

    def put(self, path, data, mode=0o644):
        self.entries[path] = File(data, mode)

    def link(self, path, to):
        self.entries[path] = Link(to)

    def mkdir(self, path, mode=0o755):
        self.entries[path] = Dir(mode)

    def append(self, path, text):
        entry = self.entries.setdefault(path, File(""))
        entry.data += text.encode()

    def layer_conf(self, name, priority, more=""):
        self.put(f"{name}/conf/layer.conf",
                 LAYER_CONF % {"name": "x" + name.replace("-", ""), "priority": priority} + more)

    def layer(self, name, priority=6, first=False, more=""):
        """One more layer; `first` puts it before the others in BBLAYERS."""
        self.layer_conf(name, priority, more)
        self.layers.insert(0 if first else len(self.layers), name)
        return name

    def recipe(self, text="", body=None, name=None, version="1.0", layer="meta", target=True,
               suffix=None):
        """A recipe; `body` is the text of its do_compile, `suffix` is added to the kind's name."""
        name = name or self.name + (f"-{suffix}" if suffix else "")
        if body is not None:
            text += f"do_compile() {{\n    {body}\n}}\n"
        self.put(f"{layer}/recipes/{self.name}/{name}_{version}.bb", text)
        if target:
            self.target(name)
        return name

    def target(self, name):
        self.owners[name] = self.name
        if name not in self.targets:
            self.targets.append(name)

    def bbappend(self, text, layer, name=None, version="%"):
        self.put(f"{layer}/recipes/{self.name}/{name or self.name}_{version}.bbappend", text)

    def conf(self, which, text):
        """Adds to conf/local.conf, site.conf or auto.conf of the build directory."""
        self.confs[which] += text

    def local(self, text):
        self.conf("local", text)

    def repository(self, name, history, tags=()):
        """A git repository outside of the checkout: `history` maps branches to lists of
        {path: text}, one for each commit; `tags` maps names to commits. Returns its path and,
        for each branch, its commits."""
        commits = {}
        for branch, states in history.items():
            parent, commits[branch] = None, []
            for state in states:
                parent = self._commit(name, state, parent)
                commits[branch].append(parent)
            self.outside[f"{name}/refs/heads/{branch}"] = File(parent + "\n")
        for tag, commit in dict(tags).items():
            self.outside[f"{name}/refs/tags/{tag}"] = File(commit + "\n")
        self.outside[f"{name}/HEAD"] = File(f"ref: refs/heads/{next(iter(history))}\n")
        self.outside[f"{name}/config"] = File("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        return f"{self.shared}/{name}", commits

    def _object(self, name, kind, data):
        raw = f"{kind} {len(data)}".encode() + b"\0" + data
        digest = hashlib.sha1(raw).hexdigest()
        self.outside[f"{name}/objects/{digest[:2]}/{digest[2:]}"] = File(zlib.compress(raw), 0o444)
        return digest

    def _commit(self, name, state, parent):
        tree = b""
        for path, text in sorted(state.items()):
            blob = self._object(name, "blob", text.encode())
            tree += b"100644 " + path.encode() + b"\0" + bytes.fromhex(blob)
        who = "A U Thor <author@example.org> 1700000000 +0000"
        text = f"tree {self._object(name, 'tree', tree)}\n"
        text += f"parent {parent}\n" if parent else ""
        return self._object(name, "commit", f"{text}author {who}\ncommitter {who}\n\nchange\n".encode())

    # ---- what Site reads ----

    def files(self, build="build"):
        """Every entry of the checkout by path, with the configuration in `build`."""
        layers = " ".join(f"${{TOPDIR}}/../{name}" for name in self.layers)
        entries = dict(self.entries)
        entries[f"{build}/conf/bblayers.conf"] = File(
            f'BBPATH = "${{TOPDIR}}"\nBBFILES ?= ""\nBBLAYERS = "{layers}"\n{self.bblayers}')
        for which, text in self.confs.items():
            if text or which == "local":
                entries[f"{build}/conf/{which}.conf"] = File(text)
        return entries


# How a file gets other content.
STYLES = ("write", "replace", "same-times")


def remove(path):
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def store(path, entry, style="write"):
    """Brings one path to the state of an entry."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(entry, Dir):
        if path.is_symlink() or not path.is_dir():
            remove(path)
            path.mkdir()
        path.chmod(entry.mode)
        return
    if isinstance(entry, Link):
        remove(path)
        path.symlink_to(entry.to)
        return
    before = path.lstat() if path.is_symlink() or path.exists() else None
    if before and not stat.S_ISREG(before.st_mode):
        remove(path)
        before = None
    if before and style == "replace":
        beside = path.with_name(path.name + ".new")
        beside.write_bytes(entry.data)
        beside.chmod(entry.mode)
        beside.rename(path)
        return
    if not before or path.read_bytes() != entry.data:
        path.write_bytes(entry.data)
    if not before or before.st_mode & 0o7777 != entry.mode:
        path.chmod(entry.mode)
    if before and style == "same-times":
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def sync(root, was, now, style="write"):
    """Brings a directory from the entries `was` to the entries `now`."""
    for path in sorted(was.keys() - now.keys(), reverse=True):
        remove(root / path)
        parent = (root / path).parent
        while parent != root and not any(p.startswith(f"{parent.relative_to(root)}/")
                                         or p == str(parent.relative_to(root)) for p in now):
            if not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()
            parent = parent.parent
    for path in sorted(now):
        if path not in was or was[path] != now[path]:
            store(root / path, now[path], style)
