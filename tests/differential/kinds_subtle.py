"""Edits that reach a task in ways that are easy to forget: by questions about files that are
not read, by lists of ignored variables, by equal names, by overrides of one task."""

import kinds
from checkout import File
from kinds import word

kind = kinds.group("subtle")

THERE = {"there": (False, True)}


def probed(p, k):
    """An expression that asks whether a file outside of the checkout exists."""
    name = f"{p.name}-flag"
    if k.there:
        p.outside[name] = File("x")
    return f"os.path.exists('{p.shared}/{name}')"


def collection(p, path, more):
    """A layer in a directory that is called as another layer's may be."""
    name = path.replace("/", "").replace("-", "")
    p.put(f"{path}/conf/layer.conf", f'BBFILE_COLLECTIONS += "{name}"\n'
          f'BBFILE_PATTERN_{name} = "^${{LAYERDIR}}/"\nBBFILE_PRIORITY_{name} = "6"\n{more}')


# ---- where things lie ----

@kind({"where": ("tmp", "tmp2")}, reach="all", exclusive="directories", changes=False)
def temporary_directory(p, k):
    p.local(f'TMPDIR = "${{TOPDIR}}/{k.where}"\n')
    p.recipe("", "echo x > ${D}/x")


@kind({"where": ("p", "q")}, reach="all", exclusive="directories", changes=False)
def ignored_deploy_directory(p, k):
    p.local(f'BB_BASEHASH_IGNORE_VARS += "DEPLOY_DIR"\nDEPLOY_DIR = "${{TOPDIR}}/{k.where}"\n')
    p.recipe("", "echo x > ${D}/x")


@kind({"first": ("one", "two")}, reach="all")
def order_of_layers_of_alike_names(p, k):
    names = [f"{p.name}-b/meta", f"{p.name}-c/meta-2"]
    for name, variable in zip(names, ("B", "C")):
        collection(p, name, f'{p.upper}_{variable} := "${{LAYERDIR}}"\n')
    p.layers += names if k.first == "one" else names[::-1]
    p.recipe("", f"echo ${{{p.upper}_B}} > ${{D}}/x")
    p.always.add(f"{p.name}:do_compile")  # other layers may be called meta, too


@kind({"value": word})
def file_of_the_ninth_layer(p, k):
    for i in range(8):
        p.layer(f"{p.name}-{i}", more=f'{p.upper}_{i} := "${{LAYERDIR}}"\n')
    p.put(f"{p.name}-7/f", k.value)
    p.recipe("", f"cat ${{{p.upper}_7}}/f > ${{D}}/x")


@kind({"swapped": (False, True)})
def files_of_layers_of_one_name_swapped(p, k):
    other = f"{p.name}-b/meta"
    collection(p, other, f'{p.upper} := "${{LAYERDIR}}"\n')
    p.layers.append(other)
    one, two = "21" if k.swapped else "12"
    p.put(f"meta/{p.name}", one)
    p.put(f"{other}/{p.name}", two)
    p.recipe("", f"cat ${{METADIR}}/{p.name} ${{{p.upper}}}/{p.name} > ${{D}}/x")


@kind({"swapped": (False, True)})
def absolute_sources_of_one_name_swapped(p, k):
    for where, text in zip("ab", "21" if k.swapped else "12"):
        p.outside[f"{p.name}/{where}/f"] = File(text)
    p.recipe(f'inherit sources\nSRC_URI = "file://{p.shared}/{p.name}/a/f;subdir=1 '
             f'file://{p.shared}/{p.name}/b/f;subdir=2"\n')


@kind({"where": ("a", "b")})
def file_moved_between_absolute_directories(p, k):
    for where in "ab":
        p.outside[f"{p.name}/{where}/kept"] = File("x")
    p.outside[f"{p.name}/{k.where}/f"] = File("x")
    p.recipe(f'inherit sources\nSRC_URI = "file://{p.shared}/{p.name}/a;subdir=1 '
             f'file://{p.shared}/{p.name}/b;subdir=2"\n')


# ---- questions about files ----

@kind(THERE, reach="all")
def probe_in_configuration(p, k):
    p.local(f"{p.upper} := \"${{@'y' if {probed(p, k)} else 'n'}}\"\n")
    p.recipe("", f"echo ${{{p.upper}}} > ${{D}}/x")


@kind(THERE, reach="all")
def probe_for_an_include(p, k):
    for name in "yn":
        p.put(f"meta/conf/{p.name}-{name}.inc", f'{p.upper} = "{name}"\n')
    p.local(f"require ${{@'conf/{p.name}-y.inc' if {probed(p, k)} else 'conf/{p.name}-n.inc'}}\n")
    p.recipe("", f"echo ${{{p.upper}}} > ${{D}}/x")


@kind(THERE, reach="all")
def probe_for_a_layer(p, k):
    p.local(f'{p.upper} ?= "n"\n')
    p.layer_conf(f"{p.name}-more", 7, f'{p.upper} = "y"\n')
    p.bblayers += f"BBLAYERS += \"${{@'${{TOPDIR}}/../{p.name}-more' if {probed(p, k)} else ''}}\"\n"
    p.recipe("", f"echo ${{{p.upper}}} > ${{D}}/x")


@kind(THERE)
def probe_for_a_class(p, k):
    for name in "yn":
        p.put(f"meta/classes/{p.name}-{name}.bbclass", f'X = "{name}"\n')
    p.recipe(f"inherit ${{@'{p.name}-y' if {probed(p, k)} else '{p.name}-n'}}\n", "echo ${X} > ${D}/x")


@kind(THERE)
def probe_at_once(p, k):
    p.recipe(f"X := \"${{@'y' if {probed(p, k)} else 'n'}}\"\n", "echo ${X} > ${D}/x")


@kind({**THERE, "text": word})
def probe_for_a_checksum(p, k):
    p.put(f"{p.here}/files/a", "a")
    p.put(f"{p.here}/files/b", f"{k.text} {k.there}")
    p.recipe('inherit sources\nSRC_URI = "file://b"\n'
             f"do_fetch[file-checksums] = \"${{@'${{FILE_DIRNAME}}/files/b:True' if {probed(p, k)} "
             "else '${FILE_DIRNAME}/files/a:True'}\"\n")


@kind({"value": word})
def checksums_of_sources_dropped(p, k):
    p.put(f"{p.here}/files/a", k.value)
    p.recipe('inherit sources\nSRC_URI = "file://a"\ndo_fetch[file-checksums] = ""\n')


# ---- ignored variables ----

def ignored(p, value, key=True):
    p.local((f'BB_BASEHASH_IGNORE_VARS += "{p.upper}"\n' if key else "")
            + f'BB_HASHCONFIG_IGNORE_VARS += "{p.upper}"\n{p.upper} = "{value}"\n')


@kind({"value": word}, reach="all")
def ignored_variable_read_by_code(p, k):
    ignored(p, k.value)
    p.recipe("", f"echo ${{@d.getVar('{p.upper}')}} > ${{D}}/x")


@kind({"value": word}, reach="all", exclusive="path")
def ignored_path(p, k):
    p.local(f'BB_HASHCONFIG_IGNORE_VARS += "PATH"\nPATH = "/usr/{k.value}:/usr/bin:/bin"\nexport PATH\n')
    p.recipe("", "echo $PATH > ${D}/x")


@kind({"value": ("a", "b")}, reach="all")
def ignored_variable_names_a_dependency(p, k):
    for suffix in "ab":
        p.recipe("do_deploy() {\n    mkdir -p ${DEPLOY_DIR}/%s\n    echo ${PN} > ${DEPLOY_DIR}/%s/x\n}\n"
                 % (p.name, p.name), suffix=suffix, target=False)
        p.owners[f"{p.name}-{suffix}"] = p.name
    ignored(p, k.value, key=False)
    p.recipe(f'DEPENDS = "{p.name}-${{{p.upper}}}"\n', f"cat ${{DEPLOY_DIR}}/{p.name}/x > ${{D}}/y")


@kind({"value": ("n", "y")}, reach="all")
def ignored_variable_in_an_expression(p, k):
    ignored(p, k.value)
    p.recipe("", f"echo ${{@{{'a': '1'}}['a'] if '${{{p.upper}}}' == 'y' else '2'}} > ${{D}}/x")


@kind({"value": ("foo", "bar")})
def removal_from_an_ignored_variable(p, k):
    ignored(p, "bar")
    p.recipe(f'X = "${{{p.upper}}} q"\nX:remove = "{k.value}"\n', "echo ${X} > ${D}/x")


@kind({"value": ("\x01", "$")})
def control_character(p, k):
    p.recipe(f'X = "a{k.value}b"\n', "echo '${X}' > ${D}/x")


@kind({"value": word})
def function_named_by_an_excluded_list(p, k):
    p.recipe('FUNCS = "one"\ndo_compile[vardeps] = "${FUNCS}"\ndo_compile[vardepsexclude] = "FUNCS"\n'
             f"one() {{\n    echo {k.value}\n}}\n", "for f in one; do $f > ${D}/x; done")


# ---- overrides of one task ----

@kind({"value": word})
def source_directory_by_task(p, k):
    p.put(f"{p.here}/files/a", "a\n")
    p.recipe(f'inherit sources\nSUB = "{k.value}"\nSUB:task-unpack = "{k.value}z"\nSUB:task-fetch = "z"\n'
             'SRC_URI = "file://a;subdir=${SUB}"\n')


@kind({"value": word})
def source_directory_by_current_task(p, k):
    p.put(f"{p.here}/files/x", "x")
    p.recipe("inherit sources\nSRC_URI = \"file://x;subdir="
             f"${{@'{k.value}' if d.getVar('BB_CURRENTTASK') else 'none'}}\"\n")


@kind({"value": word})
def override_found_by_code(p, k):
    p.recipe(f'X = "{k.value}"\nY = "other"\n'
             "Z = \"${@d.getVar('X') if 'task-compile' in d.getVar('OVERRIDES').split(':') "
             "else d.getVar('Y')}\"\n", "echo ${Z} > ${D}/x")


@kind({"value": ("0", "1")})
def network_by_task(p, k):
    p.recipe(f'NET = "0"\nNET:task-compile = "{k.value}"\ndo_compile[network] = "${{NET}}"\n',
             "cut -d: -f1 /proc/net/dev > ${D}/x; test ${NET} = 0 || echo network > ${D}/x")


# ---- layer files that a task is shown ----

@kind({"mode": (0o755, 0o750)})
def mode_of_a_shown_directory(p, k):
    p.put(f"{p.here}/data/sub/f", "x\n")
    p.mkdir(f"{p.here}/data/sub", k.mode)
    p.recipe("", f"cp -a ${{METADIR}}/recipes/{p.name}/data ${{D}}/")


@kind({"value": word})
def shown_version_control_file(p, k):
    p.put("meta/.git/" + p.name, k.value)
    p.recipe("", f"cat ${{METADIR}}/.git/{p.name} > ${{D}}/x")


@kind({"value": word})
def version_control_below_a_shown_directory(p, k):
    p.put(f"{p.here}/data/CVS/f", k.value)
    p.recipe("", f"cp -r ${{METADIR}}/recipes/{p.name}/data ${{D}}/")
