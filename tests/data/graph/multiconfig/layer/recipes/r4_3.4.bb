SUMMARY = "r"
RDEPENDS:${PN} = "r0 rv0"
RRECOMMENDS:${PN}-dev = "r0"
RPROVIDES:${PN} += "rv1"
do_package[rdepends] += "r2:do_deploy"
deltask package
BBCLASSEXTEND = "native"
NATIVEDEPS = "r1-native"
