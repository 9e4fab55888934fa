SUMMARY = "x"
inherit a b
require x.inc

do_compile() {
    oe_runmake \
        all
}

python do_x:append() {
    pass
}
fakeroot do_y () {
}
addtask y after do_compile before do_build # why
deltask z
