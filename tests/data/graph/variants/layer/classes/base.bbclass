addtask fetch
addtask unpack after do_fetch
addtask configure after do_unpack
addtask compile after do_configure
addtask install after do_compile
addtask package after do_install
addtask deploy after do_package
addtask build after do_deploy
deltask deploy
addtask deploy after do_compile
addtask build after do_install
do_configure[deptask] = "do_install"
do_build[recrdeptask] = "do_deploy do_package"
do_build[rdeptask] = "do_install"
do_fetch() {
    :
}
do_unpack() {
    :
}
do_configure() {
    :
}
do_compile() {
    :
}
do_install() {
    :
}
do_package() {
    :
}
do_deploy() {
    :
}
do_build() {
    :
}
