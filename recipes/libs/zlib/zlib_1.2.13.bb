SUMMARY = "Compression"
HOMEPAGE = "https://zlib.net"
LICENSE = "Zlib"

# Debian leaves files out, so this is not the file that was released.
SRC_URI = "${DEBIAN_MIRROR}/z/zlib/zlib_${PV}.dfsg.orig.tar.bz2"
SRC_URI[sha256sum] = "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1"
S = "${UNPACKDIR}/${BP}.dfsg"

do_configure() {
    CHOST=${HOST_SYS} "${S}/configure" --static --prefix=${prefix}
}

do_compile() {
    make ${PARALLEL_MAKE} libz.a
}

do_install() {
    install -D -m 0644 libz.a "${D}${libdir}/libz.a"
    install -d "${D}${includedir}"
    install -m 0644 zconf.h "${S}/zlib.h" "${D}${includedir}/"
}
