"""Edits of variables: values, operators, overrides, flags, versions, providers."""

import kinds
from kinds import word

kind = kinds.group("variables")
SHOW = 'echo "${X}" > ${D}/x'


@kind({"value": word})
def value_in_script(p, k):
    p.recipe(f'X = "{k.value}"\n', SHOW)


@kind({"value": word, "middle": word})
def value_through_chain(p, k):
    p.local(f'{p.upper} = "{k.value}"\n')
    p.recipe(f'X = "${{Y}}-${{Y}}"\nY = "{k.middle}.${{Z}}"\nZ = "${{{p.upper}}}"\n', SHOW)


@kind({"value": word})
def exported_variable(p, k):
    p.recipe(f'export X = "{k.value}"\n', 'printenv X > ${D}/x')


@kind({"name": ("FIRST", "SECOND")})
def exported_name(p, k):
    p.recipe(f'export {k.name} = "x"\n', "env | grep -E '^(FIRST|SECOND)=' > ${D}/x")


@kind({"exported": (True, False)})
def unexport(p, k):
    flag = "" if k.exported else 'X[unexport] = "1"\n'
    p.recipe(f'export X = "x"\n{flag}', 'echo "${X} <$(printenv X || :)>" > ${D}/x')


@kind({"value": word, "there": (True, False)})
def append_operator(p, k):
    p.recipe('X = "x"\n' + f'X:append = " {k.value}"\n' * k.there, SHOW)


@kind({"value": word, "late": word})
def prepend_operator(p, k):
    p.local(f'X:prepend:pn-{p.name} = "{k.late} "\n')
    p.recipe(f'X = "x"\nX:prepend = "{k.value} "\n', SHOW)


@kind({"value": ("a", "b", "c", "a c")})
def remove_operator(p, k):
    p.recipe(f'X = "a b c"\nX:remove = "{k.value}"\n', SHOW)


@kind({"operator": ("=", "?=", "??=", "+=", "=+", ".=", "=.", ":=")}, rounds=2)
def assignment_operator(p, k):
    p.recipe(f'X = "x"\nX {k.operator} "y"\n', SHOW)


@kind({"weak": word, "default": word, "which": ("weak", "default")})
def default_values(p, k):
    p.recipe(f'X ??= "{k.weak}"\n' + f'X ?= "{k.default}"\n' * (k.which == "default")
             + f'Y ?= "{k.default}"\nY ?= "other"\n', 'echo "${X} ${Y}" > ${D}/x')


@kind({"order": ("ab", "ba")})
def immediate_expansion(p, k):
    lines = {"a": 'Y = "late"\n', "b": 'X := "${Y}"\n'}
    p.recipe('Y = "early"\n' + "".join(lines[c] for c in k.order), SHOW)


@kind({"active": ("red", "blue", "none"), "value": word})
def override_custom(p, k):
    p.recipe(f'OVERRIDES .= ":{k.active}"\nX = "x"\nX:red = "{k.value}-red"\nX:blue = "{k.value}-blue"\n'
             f'Y = "{k.value}"\nY:off = "off"\n', 'echo "${X} ${Y}" > ${D}/x')


@kind({"order": ("red:blue", "blue:red")})
def override_order(p, k):
    p.recipe(f'OVERRIDES .= ":{k.order}"\nX:red = "red"\nX:blue = "blue"\n', SHOW)


@kind({"machine": ("board-a", "board-b")}, reach="all", exclusive="machine")
def override_machine(p, k):
    p.local(f'MACHINE = "{k.machine}"\n')
    p.recipe('X = "x"\nX:board-b = "b"\n', SHOW)


@kind({"distro": ("distro-a", "distro-b")}, reach="all", exclusive="distro")
def override_distro(p, k):
    p.local(f'DISTRO = "{k.distro}"\n')
    p.recipe('X = "x"\nX:distro-b = "b"\n', SHOW)


@kind({"value": word})
def override_recipe_name(p, k):
    p.local(f'X:pn-{p.name} = "{k.value}"\n')
    p.recipe('X ?= "x"\n', SHOW)


@kind({"value": word, "task": ("compile", "deploy")})
def override_task(p, k):
    p.recipe(f'X = "x"\nX:task-{k.task} = "{k.value}"\n'
             'do_deploy:prepend() {\n    echo "${X}" > ${D}/y\n}\n', SHOW)


@kind({"there": (True, False)})
def override_append(p, k):
    p.recipe('OVERRIDES .= ":red"\nX = "x"\n' + f'X:append:{"red" if k.there else "off"} = " y"\n', SHOW)


@kind({"value": word})
def flag_value(p, k):
    p.recipe(f'Y[odd] = "{k.value}"\n', "echo \"${@d.getVarFlag('Y', 'odd')}\" > ${D}/x")


@kind({"value": word})
def flag_through_variable(p, k):
    p.recipe(f'Y[odd] = "{k.value}"\nX = "${{@d.getVarFlag(\'Y\', \'odd\')}}"\n', SHOW)


@kind({"features": ("a b", "a", "b", "c")}, rounds=2)
def contains(p, k):
    p.local(f'{p.upper} = "{k.features}"\n')
    p.recipe(f"X = \"${{@bb.utils.contains('{p.upper}', 'a', 'with', 'without', d)}}\"\n"
             f"Y = \"${{@bb.utils.filter('{p.upper}', 'b c', d)}}\"\n", 'echo "${X} ${Y}" > ${D}/x')


@kind({"value": word})
def inline_condition(p, k):
    p.recipe(f'Y = "{k.value}"\nX = "${{@\'same\' if d.getVar(\'Y\') == \'amber\' else d.getVar(\'Y\').upper()}}"\n',
             SHOW)


@kind({"value": word})
def named_by_vardeps(p, k):
    p.recipe(f'Y = "{k.value}"\nX = "${{@d.getVar(chr(89))}}"\ndo_compile[vardeps] = "Y"\n', SHOW)


@kind({"value": word})
def hidden_name(p, k):
    p.recipe(f'Y = "{k.value}"\nX = "${{@d.getVar(chr(89))}}"\n', SHOW)


@kind({"value": word})
def value_by_vardepvalue(p, k):
    p.recipe(f'Y = "{k.value}"\nX = "${{@d.getVar(\'Y\') + \'!\'}}"\nX[vardepvalue] = "${{Y}}"\n', SHOW)


@kind({"value": word})
def excluded_in_one_task(p, k):
    p.recipe(f'X = "{k.value}"\ndo_compile[vardepsexclude] = "X"\n'
             'do_deploy:append() {\n    echo "${X}" > ${DEPLOY_DIR}/${PN}/x\n}\n', ': "${X}"')


@kind({"excluded": (True, False), "value": word}, changes=False)
def exclusion_dropped(p, k):
    """While X is excluded, its value is no part of the output."""
    flag = 'do_compile[vardepsexclude] = "X"\n' if k.excluded else ""
    p.recipe(f'X = "{k.value}"\n{flag}', ': "${X}"' if k.excluded else SHOW)


@kind({"value": word})
def ignored_through_inline_python(p, k):
    p.local(f'BB_BASEHASH_IGNORE_VARS:append = " {p.upper}"\n{p.upper} = "{k.value}"\n')
    p.recipe(f'X = "${{@d.getVar(\'{p.upper}\')}}"\n', SHOW)


@kind({"version": ("1.0", "2.0", "1.10")}, rounds=2)
def recipe_renamed(p, k):
    p.recipe("", 'echo "${PV}" > ${D}/x', version=k.version)


@kind({"version": ("1.0", "2.0")})
def recipe_renamed_unread(p, k):
    """The version is read by nothing but WORKDIR."""
    p.recipe("", "pwd > ${D}/x", version=k.version)


@kind({"version": ("1.0", "2.0")})
def recipe_renamed_dependent(p, k):
    p.recipe("", 'echo "${PF}" > ${D}/x', version=k.version, suffix="lib", target=False)
    p.owners[f"{p.name}-lib"] = p.name
    p.recipe(f'DEPENDS = "{p.name}-lib"\n', "look ${DEPLOY_DIR} > ${D}/x")


@kind({"revision": ("r0", "r1")})
def package_revision(p, k):
    p.recipe(f'PR = "{k.revision}"\n', 'echo "${PF}" > ${D}/x')


@kind({"name": ("one", "two")})
def recipe_file_name(p, k):
    p.put(f"{p.here}/{p.name}-{k.name}_1.0.bb",
          f'PROVIDES += "{p.name}-any"\n'
          'do_compile() {\n    echo "${@os.path.basename(d.getVar(\'FILE\'))}" > ${D}/x\n}\n')
    p.recipe(f'DEPENDS = "{p.name}-any"\n', "look ${DEPLOY_DIR} > ${D}/x")
    for name in ("one", "two"):
        p.owners[f"{p.name}-{name}"] = p.name


@kind({"version": ("1.0", "2.0")})
def preferred_version(p, k):
    p.local(f'PREFERRED_VERSION_{p.name} = "{k.version}"\n')
    for version in ("1.0", "2.0"):
        p.recipe("", 'echo "${PV}" > ${D}/x', version=version)


@kind({"version": ("1.0", "2.0")})
def preferred_version_unread(p, k):
    """The two versions differ in a file that both name alike."""
    p.local(f'PREFERRED_VERSION_{p.name} = "{k.version}"\n')
    p.put(f"{p.here}/{p.name}.inc", 'inherit sources\nSRC_URI = "file://x"\nWORKDIR = "${TMPDIR}/work/${PN}"\n')
    for version in ("1.0", "2.0"):
        p.recipe(f"require {p.name}.inc\n", version=version)
        p.put(f"{p.here}/{p.name}-{version}/x", f"of {version}\n")


@kind({"newer": ("1.0", "3.0")})
def newer_version_appears(p, k):
    p.recipe("", 'echo "${PV}" > ${D}/x', version="2.0")
    p.recipe("", 'echo "${PV}" > ${D}/x', version=k.newer)


@kind({"preference": ("0", "-1")})
def default_preference(p, k):
    p.recipe("", 'echo "${PV}" > ${D}/x', version="1.0")
    p.recipe(f'DEFAULT_PREFERENCE = "{k.preference}"\n', 'echo "${PV}" > ${D}/x', version="2.0")


@kind({"provider": ("one", "two")})
def preferred_provider(p, k):
    p.local(f'PREFERRED_PROVIDER_virtual/{p.name} = "{p.name}-{k.provider}"\n')
    for name in ("one", "two"):
        p.recipe(f'PROVIDES += "virtual/{p.name}"\n', 'echo "${PN}" > ${D}/x', suffix=name, target=False)
        p.owners[f"{p.name}-{name}"] = p.name
    p.recipe(f'DEPENDS = "virtual/{p.name}"\n', "look ${DEPLOY_DIR} > ${D}/x")


@kind({"provider": ("one", "two")})
def preferred_provider_alike(p, k):
    """Both providers have the same scripts; only their names differ."""
    p.local(f'PREFERRED_PROVIDER_virtual/{p.name} = "{p.name}-{k.provider}"\n')
    for name in ("one", "two"):
        p.recipe(f'PROVIDES += "virtual/{p.name}"\nX = "of {name}"\n', SHOW, suffix=name, target=False)
        p.owners[f"{p.name}-{name}"] = p.name
        p.append(f"{p.here}/{p.name}-{name}_1.0.bb",
                 f"do_deploy() {{\n    mkdir -p ${{DEPLOY_DIR}}\n    cp ${{D}}/x ${{DEPLOY_DIR}}/{p.name}.x\n}}\n")
    p.recipe(f'DEPENDS = "virtual/{p.name}"\n', f"cp ${{DEPLOY_DIR}}/{p.name}.x ${{D}}/x")


@kind({"native": word, "target": word})
def class_extended(p, k):
    p.put("meta/classes/native.bbclass", 'PN = "${BPN}-native"\nCLASSOVERRIDE = "class-native"\n')
    p.recipe(f'BPN = "{p.name}"\nBBCLASSEXTEND = "native"\nX:class-native = "{k.native}"\n'
             f'X:class-target = "{k.target}"\n', SHOW)
    p.target(f"{p.name}-native")


@kind({"layout": ("a", "b")})
def work_directory(p, k):
    p.recipe(f'WORKDIR = "${{TMPDIR}}/work/{k.layout}/${{PN}}"\n', "pwd > ${D}/x")


@kind({"layout": ("a", "b")})
def work_directory_of_dependency(p, k):
    p.recipe(f'WORKDIR = "${{TMPDIR}}/work/{k.layout}/${{PN}}"\n',
             "mkdir -p ${DEPLOY_DIR}/at\n    pwd > ${DEPLOY_DIR}/at/${PN}", suffix="lib", target=False)
    p.owners[f"{p.name}-lib"] = p.name
    p.recipe(f'DEPENDS = "{p.name}-lib"\n', "look ${DEPLOY_DIR} > ${D}/x")


@kind({"layout": ("image", "install")})
def install_directory(p, k):
    p.recipe(f'D = "${{WORKDIR}}/{k.layout}"\n', "echo x > ${D}/x")


@kind({"key": ("one", "two")})
def name_by_reference(p, k):
    p.recipe(f'KEY = "{k.key}"\nX_one = "1"\nX_two = "2"\nX_${{KEY}} = "3"\n'
             'X = "${X_one} ${X_two} ${X_${KEY}}"\n', SHOW)


@kind({"there": (True, False)})
def unset_variable(p, k):
    p.recipe('X ??= "weak"\nX = "x"\n' + "unset X\n" * (not k.there), SHOW)


@kind({"value": ("x", "x ", " x", "x\\n y", "x $Y")}, rounds=2)
def blanks_in_value(p, k):
    p.recipe(f'X = "{k.value}"\n', "printf '[%s]' '${X}' > ${D}/x")


@kind({"where": ("X", "Y")})
def value_moves_between_variables(p, k):
    values = {"X": ("ab", "c"), "Y": ("a", "bc")}[k.where]
    p.recipe('export X = "%s"\nexport Y = "%s"\n' % values, 'echo "$X.$Y" > ${D}/x')


@kind({"where": ("recipe", "task")})
def variable_or_shell(p, k):
    """Braces make a reference to a variable of the recipe, else it is the shell's."""
    name = "${X}" if k.where == "recipe" else "$X"
    p.recipe('X = "of the recipe"\n', f'X="of the shell"; echo "{name}" > ${{D}}/x')
