SUMMARY = "r"
DEPENDS = "r0 r1 assumed-a"
PROVIDES += "virtual/v0"
PROVIDES += "virtual/v1"
PROVIDES += "virtual/v2"
RDEPENDS:${PN} = "r0 r1 r0-dev rv1"
RPROVIDES:${PN} += "rv0"
do_compile[depends] += "r1:do_deploy"
do_configure[nostamp] = "1"
deltask compile
addtask extra after do_unpack before do_build
do_extra() {
    :
}
BBCLASSEXTEND = "native"
NATIVEDEPS = "r1-native r0-native"
