"""Edits of functions, of the order of tasks, of dependencies, and of flags that change how a
task runs."""

import kinds
from kinds import word

kind = kinds.group("functions")
flag = kinds.group("flags")
ADD = "mkdir -p ${D}; echo %s >> ${D}/x"


def function(name, *lines):
    return f"{name}() {{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


ONE_AND_TWO = function("one", ADD % 1) + function("two", ADD % 2)


@kind({"value": word})
def function_body(p, k):
    p.recipe("", ADD % k.value)


@kind({"value": word})
def function_called(p, k):
    p.recipe(function("help_one", "help_two") + function("help_two", ADD % k.value), "help_one")


@kind({"value": word})
def function_in_class(p, k):
    p.put(f"meta/classes/{p.name}.bbclass", function("do_compile", ADD % k.value))
    p.recipe(f"inherit {p.name}\n")


@kind({"value": word})
def function_appended(p, k):
    p.recipe(function("do_compile:append", ADD % k.value))


@kind({"value": word, "active": (True, False)})
def function_override(p, k):
    p.recipe(f'OVERRIDES .= ":{"red" if k.active else "off"}"\n' + function("do_compile:red", ADD % k.value)
             + function("do_deploy:prepend", ADD % k.value), ADD % "x")


@kind({"value": word})
def function_named_by_variable(p, k):
    p.recipe('RUN = "help_one"\n' + function("help_one", ADD % k.value), "${RUN}")


@kind({"there": (True, False)})
def function_named_by_variable_other(p, k):
    p.recipe(f'RUN = "{"help_one" if k.there else "help_two"}"\n' + function("help_one", ADD % 1)
             + function("help_two", ADD % 2), "${RUN}")


@kind({"names": ("", "one", "two", "one two", "two one")}, rounds=2)
def prefuncs_list(p, k):
    p.recipe(f'do_compile[prefuncs] = "{k.names}"\n' + ONE_AND_TWO, ADD % "x")


@kind({"value": word})
def prefuncs_body(p, k):
    p.recipe('do_compile[prefuncs] = "one"\n' + function("one", ADD % k.value), ADD % "x")


@kind({"names": ("", "one", "two", "one two", "two one")}, rounds=2)
def postfuncs_list(p, k):
    p.recipe(f'do_compile[postfuncs] = "{k.names}"\n' + ONE_AND_TWO, ADD % "x")


@kind({"value": word})
def postfuncs_body(p, k):
    p.recipe('do_compile[postfuncs] += "one"\n' + function("one", ADD % k.value), ADD % "x")


@kind({"names": ("one two", "two one")})
def prefuncs_order(p, k):
    p.recipe(f'do_compile[prefuncs] = "{k.names}"\n' + ONE_AND_TWO, ADD % "x")


@kind({"names": ("one two", "two one")})
def postfuncs_order(p, k):
    p.recipe(f'do_compile[postfuncs] = "{k.names}"\n' + ONE_AND_TWO, ADD % "x")


@kind({"name": ("one", "two")})
def prefuncs_directory(p, k):
    """The flag belongs to the function that runs before the task."""
    p.recipe(f'do_compile[prefuncs] = "before"\nbefore[dirs] = "${{D}} ${{B}}/{k.name}"\n'
             + function("before", "pwd > ${D}/x"))


@kind({"before": word, "after": word})
def functions_around_unpacking(p, k):
    p.put(f"{p.here}/files/x", "x\n")
    p.recipe('inherit sources\nSRC_URI = "file://x"\ndo_unpack[prefuncs] = "one"\ndo_unpack[postfuncs] = "two"\n'
             + function("one", f"echo {k.before} > ${{WORKDIR}}/one")
             + function("two", f"echo {k.after} >> ${{UNPACKDIR}}/x"))


@kind({"value": word, "overridden": (False, True)})
def exported_function(p, k):
    p.put("meta/classes/exporting.bbclass",
          function("exporting_do_one", ADD % k.value) + "EXPORT_FUNCTIONS do_one\n"
          "addtask one after do_compile before do_deploy\n")
    p.recipe("inherit exporting\n" + function("do_one", ADD % "own", "exporting_do_one") * k.overridden)


@kind({"order": ("one two", "two one")})
def class_order(p, k):
    for name in ("one", "two"):
        p.put(f"meta/classes/{p.name}-{name}.bbclass", f'X = "{name}"\n')
    p.recipe("inherit " + " ".join(f"{p.name}-{name}" for name in k.order.split()) + "\n", 'echo "${X}" > ${D}/x')


@kind({"there": (True, False)})
def inherit_added(p, k):
    p.put(f"meta/classes/{p.name}.bbclass", 'X = "of the class"\n')
    p.recipe('X ?= "x"\n' + f"inherit {p.name}\n" * k.there, 'echo "${X}" > ${D}/x')


@kind({"value": ("", "amber", "birch")}, reach="all", rounds=3)
def inherit_global(p, k):
    p.put(f"meta/classes/{p.name}.bbclass", f'{p.upper} = "{k.value}"\n')
    p.local(f'INHERIT += "{p.name}"\n' if k.value else "")
    p.recipe(f'{p.upper} ??= "x"\n', f'echo "${{{p.upper}}}" > ${{D}}/x')


@kind({"there": (True, False)})
def inherit_conditional(p, k):
    p.put(f"meta/classes/{p.name}.bbclass", 'X = "of the class"\n')
    p.recipe(f'KIND = "{p.name if k.there else ""}"\nX ?= "x"\ninherit ${{KIND}}\n', 'echo "${X}" > ${D}/x')


@kind({"order": ("one two", "two one")})
def task_order(p, k):
    first, second = k.order.split()
    p.recipe(f"addtask {first} after do_compile before do_deploy\n"
             f"addtask {second} after do_{first} before do_deploy\n"
             + function("do_one", ADD % 1) + function("do_two", ADD % 2))


@kind({"there": (True, False)})
def task_added(p, k):
    p.recipe("addtask one after do_compile before do_deploy\n" * k.there + function("do_one", ADD % 1))


@kind({"there": (True, False)})
def task_deleted(p, k):
    p.recipe("addtask one after do_compile before do_deploy\n" + "deltask one\n" * (not k.there)
             + function("do_one", ADD % 1))


@kind({"value": word, "waits": (True, False)})
def task_output_seen(p, k):
    """A task sees the output of those tasks only that it waits for."""
    p.recipe(f"addtask one {'before do_compile' if k.waits else 'before do_deploy'}\n"
             + function("do_one", "mkdir -p ${B}", f"echo {k.value} > ${{B}}/one"), "look ${B} > ${D}/x")


def library(p, name, text="", body='echo "${PN}" > ${D}/x'):
    p.recipe(text, body, suffix=name, target=False)
    p.owners[f"{p.name}-{name}"] = p.name
    return f"{p.name}-{name}"


@kind({"names": ("one", "two", "one two", "")}, rounds=2)
def depends_list(p, k):
    for name in ("one", "two"):
        library(p, name)
    p.recipe('DEPENDS = "%s"\n' % " ".join(f"{p.name}-{n}" for n in k.names.split()), "look ${DEPLOY_DIR} > ${D}/x")


@kind({"value": word})
def dependency_of_dependency(p, k):
    low = library(p, "low", "", f"echo {k.value} > ${{D}}/x")
    mid = library(p, "mid", f'DEPENDS = "{low}"\n', f"cat ${{DEPLOY_DIR}}/{low}/x > ${{D}}/x")
    p.recipe(f'DEPENDS = "{mid}"\n', f"cat ${{DEPLOY_DIR}}/{mid}/x > ${{D}}/x")


@kind({"name": ("one", "two")})
def dependency_of_dependency_list(p, k):
    for name in ("one", "two"):
        library(p, name)
    mid = library(p, "mid", f'DEPENDS = "{p.name}-{k.name}"\n', "echo the same > ${D}/x")
    p.recipe(f'DEPENDS = "{mid}"\n', "look ${DEPLOY_DIR} > ${D}/x")


@kind({"name": ("one", "two"), "value": word})
def runtime_depends(p, k):
    for name in ("one", "two"):
        library(p, name, "", f"echo {name} {k.value} > ${{D}}/x")
    p.recipe(f'RDEPENDS:${{PN}} = "{p.name}-{k.name}"\ndo_compile[rdeptask] = "do_deploy"\n',
             "look ${DEPLOY_DIR} > ${D}/x")


@kind({"name": ("one", "two"), "there": (True, False)})
def depends_flag(p, k):
    for name in ("one", "two"):
        library(p, name)
    p.recipe(f'do_compile[depends] = "{p.name}-{k.name}:do_deploy"\n' * k.there
             + f'do_deploy[depends] = "{p.name}-{k.name}:do_deploy"\n'
             + function("do_deploy:append", "look ${DEPLOY_DIR} > ${WORKDIR}/seen"), "look ${DEPLOY_DIR} > ${D}/x")


@kind({"value": word, "name": ("one", "two")})
def recursive_depends(p, k):
    for name in ("one", "two"):
        library(p, name, "", f"echo {name} {k.value} > ${{D}}/x")
    p.recipe(f'RDEPENDS:${{PN}} = "{p.name}-{k.name}"\ndo_deploy[recrdeptask] = "do_deploy"\n'
             + function("do_deploy:append", "look ${DEPLOY_DIR} > ${WORKDIR}/seen"))


@kind({"there": (True, False)})
def deptask_flag(p, k):
    low = library(p, "low")
    p.recipe(f'DEPENDS = "{low}"\n' + 'do_compile[deptask] = ""\n' * (not k.there), "look ${DEPLOY_DIR} > ${D}/x")


@kind({"value": word, "there": (True, False)})
def function_of_a_class_that_another_overrides(p, k):
    p.put(f"meta/classes/{p.name}-low.bbclass", function("do_compile", ADD % k.value))
    p.put(f"meta/classes/{p.name}-high.bbclass", f"inherit {p.name}-low\n"
          + function("do_compile", ADD % "high") * k.there + function("do_deploy:prepend", ADD % k.value))
    p.recipe(f"inherit {p.name}-high\n")


# ---- flags ----

@flag({"name": ("one", "two")})
def dirs_flag(p, k):
    p.recipe(f'do_compile[dirs] = "${{D}} ${{B}}/{k.name}"\n', "pwd > ${D}/x; ls ${B} >> ${D}/x")


@flag({"there": (True, False)})
def dirs_flag_more(p, k):
    p.recipe('do_compile[dirs] = "%s${D} ${B}"\n' % ("${WORKDIR}/more " if k.there else ""))


@flag({"there": (False, True)})
def cleandirs_flag(p, k):
    p.recipe("addtask one before do_compile\n" + function("do_one", "mkdir -p ${B}", "echo 1 > ${B}/left")
             + 'do_compile[cleandirs] = "${B}"\n' * k.there, "ls ${B} > ${D}/x")


@flag({"umask": ("022", "077", "002")}, rounds=2)
def umask_flag(p, k):
    p.recipe(f'do_compile[umask] = "{k.umask}"\n', "echo x > ${D}/x; mkdir ${D}/y; umask > ${D}/z")


@flag({"network": ("0", "1")}, changes=False)
def network_flag(p, k):
    p.recipe(f'do_compile[network] = "{k.network}"\n', "wc -l < /proc/net/dev > ${D}/x")


@flag({"fakeroot": (False, True)})
def fakeroot_flag(p, k):
    p.recipe("fakeroot " * k.fakeroot + function("do_compile", "id -u > ${D}/x"))


@flag({"noexec": (False, True)})
def noexec_flag(p, k):
    p.recipe("addtask one after do_compile before do_deploy\n" + 'do_one[noexec] = "1"\n' * k.noexec
             + function("do_one", ADD % 1))


@flag({"nostamp": (False, True), "value": word}, changes=False)
def nostamp_flag(p, k):
    p.recipe('do_compile[nostamp] = "1"\n' * k.nostamp, ADD % k.value)
    if k.nostamp:
        p.always.update({f"{p.name}:do_compile", f"{p.name}:do_deploy"})


@flag({"umask": ("022", "077")})
def umask_of_unpacking(p, k):
    p.put(f"{p.here}/files/x", "x\n")
    p.recipe(f'inherit sources\nSRC_URI = "file://x;subdir=below"\ndo_unpack[umask] = "{k.umask}"\n')


@flag({"there": (False, True)})
def cleandirs_of_unpacking(p, k):
    p.put(f"{p.here}/files/x", "x\n")
    p.recipe('inherit sources\nSRC_URI = "file://x"\nUNPACKDIR = "${WORKDIR}/in"\naddtask one before do_unpack\n'
             + function("do_one", "mkdir -p ${WORKDIR}/in", "echo 1 > ${WORKDIR}/in/left")
             + 'do_unpack[cleandirs] = "%s"\n' % ("${UNPACKDIR}" if k.there else ""))
