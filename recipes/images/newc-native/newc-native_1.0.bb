SUMMARY = "Writes a directory as the archive that the kernel unpacks when it starts"
LICENSE = "MIT"
inherit native

SRC_URI = "file://newc.c"
S = "${UNPACKDIR}"

do_compile() {
    ${CC} ${CFLAGS} -std=c11 -Wall -Wextra -o newc "${S}/newc.c"
}

do_install() {
    install -D -m 0755 newc "${D}${bindir}/newc"
}
