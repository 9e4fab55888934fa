SUMMARY = "r"
DEPENDS = "r1 r3 r1-native virtual/v0"
RDEPENDS:${PN} = "r0 r2 r0-dev"
RRECOMMENDS:${PN}-dev = "r2"
RPROVIDES:${PN} += "rv1"
do_package[rdepends] += "r4:do_package"
addtask extra after do_install
do_extra() {
    :
}
do_build[recrdeptask] += "do_deploy"
