SUMMARY = "r"
DEPENDS = "r0"
PROVIDES += "virtual/v0"
PROVIDES += "virtual/v1"
RDEPENDS:${PN} = "r2-dev rv1"
RRECOMMENDS:${PN}-dev = "r1"
addtask extra after do_install
do_extra() {
    :
}
do_compile[mcdepends] = "mc::alpha:r2:do_install"
BBCLASSEXTEND = "native"
NATIVEDEPS = ""
