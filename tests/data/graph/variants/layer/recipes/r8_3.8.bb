SUMMARY = "r"
RDEPENDS:${PN} = "r7 rv0"
do_compile[depends] += "r7-native:do_install"
do_unpack[noexec] = "1"
addtask extra before do_compile
do_extra() {
    :
}
do_build[recrdeptask] += "do_package"
