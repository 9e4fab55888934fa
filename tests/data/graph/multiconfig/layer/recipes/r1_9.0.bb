SUMMARY = "r"
DEPENDS = "assumed-b"
PROVIDES += "virtual/v0"
PROVIDES += "virtual/v2"
RDEPENDS:${PN} = "r0"
RRECOMMENDS:${PN}-dev = "r0"
RPROVIDES:${PN}-dev += "rv0"
deltask package
addtask extra after do_unpack before do_build
do_extra() {
    :
}
do_compile[mcdepends] = "mc::alpha:r0:do_install"
BBCLASSEXTEND = "native"
