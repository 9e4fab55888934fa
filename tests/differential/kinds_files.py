"""Edits of files: metadata that is found elsewhere, layers, local sources, patches, files that
scripts name by path."""

import gzip
import io
import tarfile

import kinds
from checkout import Dir, File, Link
from kinds import word

kind = kinds.group("metadata files")
local = kinds.group("local sources")
named = kinds.group("files named by path")
SHOW = 'echo "${X}" > ${D}/x'


@kind({"value": word})
def include_content(p, k):
    p.put(f"{p.here}/{p.name}.inc", f'X = "{k.value}"\n')
    p.recipe(f"require {p.name}.inc\n", SHOW)


@kind({"there": (False, True)})
def include_earlier_in_bbpath(p, k):
    """A layer that comes first has the file, too, or gets it."""
    layer = p.layer(f"{p.name}-first", first=True)
    p.put(f"meta/conf/{p.name}.inc", 'X = "later"\n')
    if k.there:
        p.put(f"{layer}/conf/{p.name}.inc", 'X = "earlier"\n')
    p.recipe(f"require conf/{p.name}.inc\n", SHOW)


@kind({"there": (False, True)})
def include_that_was_missing(p, k):
    if k.there:
        p.put(f"{p.here}/{p.name}.inc", 'X = "found"\n')
    p.recipe(f'X = "x"\ninclude {p.name}.inc\n', SHOW)


@kind({"name": ("one", "two")})
def include_by_variable(p, k):
    for name in ("one", "two"):
        p.put(f"{p.here}/{name}.inc", f'X = "{name}"\n')
    p.recipe(f'NAME = "{k.name}"\nrequire ${{NAME}}.inc\n', SHOW)


@kind({"name": ("one", "two"), "value": word})
def include_through_link(p, k):
    for name in ("one", "two"):
        p.put(f"{p.here}/{name}.inc", f'X = "{name} {k.value}"\n')
    p.link(f"{p.here}/{p.name}.inc", f"{k.name}.inc")
    p.recipe(f"require {p.name}.inc\n", SHOW)


@kind({"there": (False, True)})
def class_earlier_in_bbpath(p, k):
    layer = p.layer(f"{p.name}-first", first=True)
    p.put(f"meta/classes/{p.name}.bbclass", 'X = "later"\n')
    if k.there:
        p.put(f"{layer}/classes/{p.name}.bbclass", 'X = "earlier"\n')
    p.recipe(f"inherit {p.name}\n", SHOW)


@kind({"there": (False, True)})
def class_in_special_directory(p, k):
    """classes-recipe is looked into before classes."""
    p.put(f"meta/classes/{p.name}.bbclass", 'X = "of all"\n')
    if k.there:
        p.put(f"meta/classes-recipe/{p.name}.bbclass", 'X = "of recipes"\n')
    p.recipe(f"inherit {p.name}\n", SHOW)


@kind({"value": word})
def class_content(p, k):
    p.put(f"meta/classes/{p.name}.bbclass", f'X = "{k.value}"\n')
    p.recipe(f"inherit {p.name}\n", SHOW)


@kind({"value": word}, reach="all")
def base_class_content(p, k):
    p.append("meta/classes/base.bbclass", f'do_deploy:append() {{\n    : {k.value}\n}}\n{p.upper} = "{k.value}"\n')
    p.recipe("", f'echo "${{{p.upper}}}" > ${{D}}/x')


@kind({"value": word}, style="same-times")
def recipe_same_size_and_times(p, k):
    p.recipe(f'X = "{k.value}"\n', SHOW)


@kind({"value": word}, style="same-times")
def include_same_size_and_times(p, k):
    p.put(f"{p.here}/{p.name}.inc", f'X = "{k.value}"\n')
    p.recipe(f"require {p.name}.inc\n", SHOW)


@kind({"value": word}, style="replace")
def recipe_replaced(p, k):
    p.recipe(f'X = "{k.value}"\n', SHOW)


@kind({"value": word}, style="replace")
def local_conf_replaced(p, k):
    p.local(f'{p.upper} = "{k.value}"\n')
    p.recipe(f'X = "${{{p.upper}}}"\n', SHOW)


@kind({"value": ("", "amber", "birch")}, rounds=3)
def append_file(p, k):
    layer = p.layer(f"{p.name}-more")
    if k.value:
        p.bbappend(f'X .= " {k.value}"\n', layer)
    p.recipe('X = "x"\n', SHOW)


@kind({"value": word})
def append_file_content(p, k):
    layer = p.layer(f"{p.name}-more")
    p.bbappend(f'X .= " {k.value}"\n', layer)
    p.recipe('X = "x"\n', SHOW)


@kind({"version": ("1.0", "2.%", "%", "1.%")}, rounds=2)
def append_file_version(p, k):
    layer = p.layer(f"{p.name}-more")
    p.bbappend(f'X .= " {k.version}"\n', layer, version=k.version)
    if k.version == "2.%":
        p.recipe('X = "x"\n', SHOW, version="2.1")
    p.recipe('X = "x"\n', SHOW)


@kind({"high": ("one", "two")})
def append_order_by_priority(p, k):
    for name in ("one", "two"):
        layer = p.layer(f"{p.name}-{name}", 9 if name == k.high else 8)
        p.bbappend(f'X .= " {name}"\n', layer)
    p.recipe('X = "x"\n', SHOW)


@kind({"high": ("one", "two")})
def layer_priority(p, k):
    """Two layers have a recipe of one name and version."""
    for name in ("one", "two"):
        layer = p.layer(f"{p.name}-{name}", 9 if name == k.high else 8)
        p.recipe(f'X = "{name}"\n', SHOW, layer=layer)


@kind({"order": ("one two", "two one")})
def layer_order(p, k):
    for name in k.order.split():
        layer = p.layer(f"{p.name}-{name}", first=True)
        p.put(f"{layer}/conf/{p.name}.inc", f'X = "{name}"\n')
        p.put(f"{layer}/classes/{p.name}.bbclass", f'Y = "{name}"\n')
    p.recipe(f"require conf/{p.name}.inc\ninherit {p.name}\n", 'echo "${X} ${Y}" > ${D}/x')


@kind({"there": (True, False)})
def layer_removed(p, k):
    if k.there:
        layer = p.layer(f"{p.name}-more")
        p.bbappend('X .= " more"\n', layer)
    p.recipe('X = "x"\n', SHOW)


@kind({"value": word})
def layer_conf_variable(p, k):
    p.layer(f"{p.name}-more", more=f'{p.upper} = "{k.value}"\n')
    p.recipe(f'X = "${{{p.upper}}}"\n', SHOW)


@kind({"masked": (False, True)})
def masked_recipe(p, k):
    p.local(f'BBMASK += "{p.name}_2.0.bb"\n' * k.masked)
    for version in ("1.0", "2.0"):
        p.recipe(f'X = "of {version}"\n', SHOW, version=version)


@kind({"masked": (False, True)})
def masked_append(p, k):
    layer = p.layer(f"{p.name}-more")
    p.local(f'BBMASK += "{layer}/"\n' * k.masked)
    p.bbappend('X .= " more"\n', layer)
    p.recipe('X = "x"\n', SHOW)


@kind({"value": word})
def local_conf(p, k):
    p.local(f'{p.upper} = "{k.value}"\n')
    p.recipe(f'X = "${{{p.upper}}}"\n', SHOW)


@kind({"value": word, "there": (False, True)})
def auto_conf(p, k):
    if k.there:
        p.conf("auto", f'{p.upper}:append = " of auto.conf"\n')
    p.conf("site", f'{p.upper} = "{k.value}"\n')
    p.recipe(f'X = "${{{p.upper}}}"\n', SHOW)


@kind({"value": word})
def bblayers_conf(p, k):
    p.bblayers += f'{p.upper} = "{k.value}"\n'
    p.recipe(f'X = "${{{p.upper}}}"\n', SHOW)


@kind({"value": word}, reach="all", exclusive="machine")
def machine_conf(p, k):
    p.put("meta/conf/machine/board-a.conf", f'TUNE = "{k.value}"\n')
    p.recipe('X = "${TUNE}"\n', SHOW)


@kind({"machine": ("board-a", "board-b"), "value": word}, reach="all", exclusive="machine")
def machine_switched(p, k):
    for machine in ("board-a", "board-b"):
        p.put(f"meta/conf/machine/{machine}.conf", f'TUNE = "{machine} {k.value}"\n')
    p.local(f'MACHINE = "{k.machine}"\n')
    p.recipe('X = "${TUNE}"\n', SHOW)


@kind({"there": (False, True)}, reach="all", exclusive="machine")
def machine_conf_earlier_in_bbpath(p, k):
    layer = p.layer(f"{p.name}-first", first=True)
    p.put("meta/conf/machine/board-a.conf", 'TUNE = "later"\n')
    if k.there:
        p.put(f"{layer}/conf/machine/board-a.conf", 'TUNE = "earlier"\n')
    p.recipe('X = "${TUNE}"\n', SHOW)


@kind({"value": word}, reach="all", exclusive="distro")
def distro_conf(p, k):
    p.put("meta/conf/distro/distro-a.conf", f'LIBC = "{k.value}"\n')
    p.recipe('X = "${LIBC}"\n', SHOW)


@kind({"value": word})
def bitbake_conf(p, k):
    p.append("meta/conf/bitbake.conf", f'{p.upper} = "{k.value}"\n')
    p.recipe(f'X = "${{{p.upper}}}"\n', SHOW)


@kind({"there": (True, False)})
def recipe_in_two_layers(p, k):
    """The recipe of the layer with the higher priority goes and comes."""
    layer = p.layer(f"{p.name}-more", 9)
    if k.there:
        p.recipe('X = "more"\n', SHOW, layer=layer)
    p.recipe('X = "meta"\n', SHOW)


# ---- local sources ----

def sources(p, uri, text="", **how):
    p.recipe(f'inherit sources\nSRC_URI = "{uri}"\n{text}', **how)


@local({"value": word})
def source_content(p, k):
    p.put(f"{p.here}/files/x", f"{k.value}\n")
    sources(p, "file://x")


@local({"value": word}, style="same-times")
def source_same_size_and_times(p, k):
    p.put(f"{p.here}/files/x", f"{k.value}\n")
    sources(p, "file://x")


@local({"value": word}, style="replace")
def source_replaced(p, k):
    p.put(f"{p.here}/files/x", f"{k.value}\n")
    sources(p, "file://x")


@local({"mode": (0o644, 0o755)})
def source_executable(p, k):
    p.put(f"{p.here}/files/x", "x\n", k.mode)
    sources(p, "file://x")


@local({"mode": (0o644, 0o600, 0o640, 0o666, 0o444)}, changes=False)
def source_other_mode(p, k):
    p.put(f"{p.here}/files/x", "x\n", k.mode)
    sources(p, "file://x")


@local({"there": (False, True)})
def source_earlier_in_filespath(p, k):
    p.put(f"{p.here}/files/x", "later\n")
    if k.there:
        p.put(f"{p.here}/{p.name}-1.0/x", "earlier\n")
    sources(p, "file://x")


@local({"there": (False, True)})
def source_of_an_append(p, k):
    layer = p.layer(f"{p.name}-more")
    p.bbappend('FILESPATH:prepend := "${THISDIR}/files:"\n', layer)
    p.put(f"{p.here}/files/x", "of the recipe\n")
    if k.there:
        p.put(f"{layer}/recipes/{p.name}/files/x", "of the append\n")
    sources(p, "file://x")


@local({"value": word, "name": ("one", "two")})
def source_through_link(p, k):
    for name in ("one", "two"):
        p.put(f"{p.here}/{name}", f"{name} {k.value}\n")
    p.link(f"{p.here}/files/x", f"../{k.name}")
    p.mkdir(f"{p.here}/files")
    sources(p, "file://x")


@local({"linked": (False, True)}, changes=False)
def source_link_or_file(p, k):
    p.put(f"{p.here}/files/y", "y\n")
    p.put(f"{p.here}/files/x", "y\n")
    if k.linked:
        p.link(f"{p.here}/files/x", "y")
    sources(p, "file://x")


@local({"name": ("x", "y")})
def source_name(p, k):
    p.put(f"{p.here}/files/{k.name}", "the same\n")
    sources(p, f"file://{k.name}")


@local({"names": ("x", "x y", "y")}, rounds=2)
def source_list(p, k):
    for name in ("x", "y"):
        p.put(f"{p.here}/files/{name}", f"{name}\n")
    sources(p, " ".join(f"file://{name}" for name in k.names.split()))


def tree(p, entries):
    """A source that is a directory."""
    p.put(f"{p.here}/files/dir/fixed", "fixed\n")
    for name, entry in entries.items():
        p.entries[f"{p.here}/files/dir/{name}"] = entry
    sources(p, "file://dir")


@local({"there": (False, True), "value": word})
def directory_file_added(p, k):
    tree(p, {"value": File(k.value), **({"x": File("x")} if k.there else {})})


@local({"name": ("x", "y", "sub/x")}, rounds=2)
def directory_file_renamed(p, k):
    tree(p, {k.name: File("x")})


@local({"mode": (0o644, 0o755)})
def directory_file_executable(p, k):
    tree(p, {"x": File("x", k.mode)})


@local({"mode": (0o644, 0o600, 0o664, 0o444)}, changes=False)
def directory_file_mode(p, k):
    tree(p, {"x": File("x", k.mode)})


@local({"mode": (0o755, 0o700, 0o775)}, changes=False)
def directory_mode(p, k):
    tree(p, {"sub": Dir(k.mode), "sub/x": File("x")})


@local({"to": ("fixed", "./fixed", "nowhere", "sub")}, rounds=2)
def directory_link_target(p, k):
    tree(p, {"x": Link(k.to), "sub/y": File("y")})


@local({"link": (False, True)})
def directory_link_or_file(p, k):
    tree(p, {"x": Link("fixed") if k.link else File("fixed\n")})


@local({"link": (False, True)})
def directory_link_or_directory(p, k):
    tree(p, {"sub/y": File("y"), **({"x": Link("sub")} if k.link else {"x/y": File("y")})})


@local({"there": (False, True)})
def directory_empty_one(p, k):
    tree(p, {"x": Dir()} if k.there else {})


@local({"kind": ("file", "directory")})
def directory_file_or_directory(p, k):
    tree(p, {"x": File("") if k.kind == "file" else Dir()})


@local({"value": word}, changes=False)
def directory_with_git(p, k):
    tree(p, {".git/config": File(k.value)})


@local({"value": word}, style="same-times")
def directory_same_size_and_times(p, k):
    tree(p, {"sub/x": File(k.value)})


@local({"there": (True, False)})
def directory_hidden_file(p, k):
    tree(p, {".hidden": File("x")} if k.there else {})


@local({"name": ("one", "two")})
def directory_through_link(p, k):
    for name in ("one", "two"):
        p.put(f"{p.here}/{name}/x", f"{name}\n")
    p.mkdir(f"{p.here}/files")
    p.link(f"{p.here}/files/dir", f"../{k.name}")
    sources(p, "file://dir")


def archive(members):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name, entry in members.items():
            info = tarfile.TarInfo(name)
            if isinstance(entry, Dir):
                info.type, info.mode = tarfile.DIRTYPE, entry.mode
            elif isinstance(entry, Link):
                info.type, info.linkname = tarfile.SYMTYPE, entry.to
            else:
                info.size, info.mode = len(entry.data), entry.mode
            tar.addfile(info, io.BytesIO(getattr(entry, "data", b"")))
    return gzip.compress(data.getvalue(), mtime=0)


@local({"value": word, "mode": (0o644, 0o755, 0o600), "to": ("x", "y"), "there": (True, False)})
def archive_content(p, k):
    members = {"a/x": File(k.value, k.mode), "a/l": Link(k.to), **({"a/e": Dir()} if k.there else {})}
    p.put(f"{p.here}/files/a.tar.gz", archive(members))
    sources(p, "file://a.tar.gz")


# ---- patches ----

def patch(new, old="old", path="x", prefix="a/"):
    other = "b/" if prefix else ""
    return f"--- {prefix}{path}\n+++ {other}{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


def patched(p, uri, **files):
    p.put(f"{p.here}/files/x", "old\n")
    for name, text in files.items():
        p.put(f"{p.here}/files/{name}.patch", text)
    sources(p, f"file://x {uri}")


@local({"value": word})
def patch_content(p, k):
    patched(p, "file://one.patch", one=patch(k.value))


@local({"order": ("one two", "two one")})
def patch_order(p, k):
    add = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n+%s\n old\n"
    patched(p, " ".join(f"file://{n}.patch" for n in k.order.split()), one=add % "one", two=add % "two")


@local({"apply": ("yes", "no")})
def patch_apply(p, k):
    patched(p, f"file://one.patch;apply={k.apply}", one=patch("new"))


@local({"level": (1, 2)})
def patch_striplevel(p, k):
    """The file that is meant depends on how many components are cut off."""
    p.put(f"{p.here}/files/sub/x", "old\n")
    patched(p, f"file://sub file://one.patch;striplevel={k.level}", one=patch("new", path="sub/x"))


@local({"where": ("one", "two")})
def patch_directory(p, k):
    for name in ("one", "two"):
        p.put(f"{p.here}/files/{name}/x", "old\n")
    patched(p, f"file://one file://two file://one.patch;patchdir={k.where}", one=patch("new"))


@local({"there": (True, False)})
def patch_added(p, k):
    patched(p, "file://one.patch" * k.there, one=patch("new"))


@local({"there": (False, True)})
def patch_earlier_in_filespath(p, k):
    patched(p, "file://one.patch", one=patch("later"))
    if k.there:
        p.put(f"{p.here}/{p.name}-1.0/one.patch", patch("earlier"))


@local({"directory": ("one", "two")})
def patch_source_directory(p, k):
    for name in ("one", "two"):
        p.put(f"{p.here}/files/{name}/x", "old\n")
    p.put(f"{p.here}/files/a.patch", patch("new"))
    sources(p, "file://one file://two file://a.patch", f'S = "${{UNPACKDIR}}/{k.directory}"\n')


# ---- files that a script names ----

@named({"value": word, "mode": (0o644, 0o755)})
def layer_file(p, k):
    p.put(f"meta/files/{p.name}", f"echo {k.value}\n", k.mode)
    p.recipe("", f"cat ${{METADIR}}/files/{p.name} > ${{D}}/x\n"
             f"    stat -c %A ${{METADIR}}/files/{p.name} | cut -c4 >> ${{D}}/x")


@named({"value": word})
def file_beside_the_recipe(p, k):
    p.put(f"{p.here}/x.txt", f"{k.value}\n")
    p.recipe("HERE := \"${THISDIR}\"\n", "cat ${HERE}/x.txt > ${D}/x")


@named({"value": word}, style="same-times")
def layer_file_same_size_and_times(p, k):
    p.put(f"meta/files/{p.name}", f"{k.value}\n")
    p.recipe("", f"cat ${{METADIR}}/files/{p.name} > ${{D}}/x")


@named({"value": word})
def layer_file_through_variable(p, k):
    p.put(f"meta/files/{p.name}", f"{k.value}\n")
    p.recipe(f'FROM = "${{METADIR}}/files"\n', f"cat ${{FROM}}/{p.name} > ${{D}}/x")


@named({"value": word})
def layer_file_in_function(p, k):
    p.put(f"meta/files/{p.name}", f"{k.value}\n")
    p.recipe(f"one() {{\n    cat ${{METADIR}}/files/{p.name} > ${{D}}/x\n}}\n", "one")


@named({"value": word})
def layer_file_in_prefunc(p, k):
    p.put(f"meta/files/{p.name}", f"{k.value}\n")
    p.recipe('do_compile[prefuncs] = "one"\n'
             f"one() {{\n    mkdir -p ${{D}}; cat ${{METADIR}}/files/{p.name} > ${{D}}/x\n}}\n")


@named({"value": word})
def layer_file_in_exported_variable(p, k):
    p.put(f"meta/files/{p.name}", f"{k.value}\n")
    p.recipe(f'export FROM = "${{METADIR}}/files/{p.name}"\n', 'cat "$FROM" > ${D}/x')


@named({"there": (False, True), "name": ("one", "two")})
def layer_directory(p, k):
    p.put(f"meta/files/{p.name}/{k.name}", "x\n")
    if k.there:
        p.put(f"meta/files/{p.name}/sub/more", "more\n")
    p.recipe("", f"look ${{METADIR}}/files/{p.name} > ${{D}}/x")


@named({"to": ("one", "two", None)}, rounds=3)
def layer_directory_link(p, k):
    for name in ("one", "two"):
        p.put(f"meta/files/{p.name}/{name}", f"{name}\n")
    if k.to:
        p.link(f"meta/files/{p.name}/link", k.to)
    p.recipe(f'FROM = "${{METADIR}}/files/{p.name}"\n', "ls ${FROM} > ${D}/x; cat ${FROM}/link >> ${D}/x || :")


@named({"there": (False, True)})
def layer_directory_empty_one(p, k):
    p.put(f"meta/files/{p.name}/x", "x\n")
    if k.there:
        p.mkdir(f"meta/files/{p.name}/empty")
    p.recipe("", f"ls ${{METADIR}}/files/{p.name} > ${{D}}/x")


@named({"mode": (0o644, 0o755)})
def layer_directory_executable(p, k):
    p.put(f"meta/files/{p.name}/x", "x\n", k.mode)
    p.recipe("", f"test -x ${{METADIR}}/files/{p.name}/x && echo yes > ${{D}}/x || echo no > ${{D}}/x")


@named({"mode": (0o644, 0o600, 0o664, 0o444)}, changes=False)
def layer_file_other_mode(p, k):
    p.put(f"meta/files/{p.name}", "x\n", k.mode)
    p.recipe("", f"cp -p ${{METADIR}}/files/{p.name} ${{D}}/x")


@named({"to": ("one", "two"), "value": word})
def layer_file_is_a_link(p, k):
    for name in ("one", "two"):
        p.put(f"meta/other/{p.name}-{name}", f"{name} {k.value}\n")
    p.link(f"meta/files/{p.name}", f"../other/{p.name}-{k.to}")
    p.recipe("", f"cat ${{METADIR}}/files/{p.name} > ${{D}}/x")


@named({"value": word})
def file_checksums_flag(p, k):
    p.put(f"meta/files/{p.name}", f"{k.value}\n")
    p.recipe(f'do_compile[file-checksums] = "${{METADIR}}/files/{p.name}:True"\nPLACE = "${{METADIR}}/files"\n',
             f"cat ${{PLACE}}/{p.name} > ${{D}}/x")


@named({"there": (False, True)})
def layer_file_that_was_missing(p, k):
    if k.there:
        p.put(f"meta/files/{p.name}", "there\n")
    p.recipe("", f"cat ${{METADIR}}/files/{p.name} > ${{D}}/x || echo missing > ${{D}}/x")


@named({"value": word})
def whole_layer(p, k):
    p.put(f"meta/files/{p.name}", f"{k.value}\n")
    p.recipe("", f"cd ${{METADIR}}; cat files/{p.name} > ${{D}}/x")
    p.always.add(f"{p.name}:do_compile")  # any edit of the layer is one of its inputs


@named({"value": word})
def file_of_another_layer(p, k):
    layer = p.layer(f"{p.name}-more", more=f'{p.upper} := "${{LAYERDIR}}"\n')
    p.put(f"{layer}/x.txt", f"{k.value}\n")
    p.recipe("", f"cat ${{{p.upper}}}/x.txt > ${{D}}/x")
