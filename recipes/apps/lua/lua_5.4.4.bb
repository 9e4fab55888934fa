SUMMARY = "A language to put into programs"
HOMEPAGE = "https://www.lua.org"
LICENSE = "MIT"

SRC_URI = "https://www.lua.org/ftp/lua-${PV}.tar.gz;downloadfilename=lua5.4_${PV}.orig.tar.gz"
SRC_URI[sha256sum] = "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61"
PREMIRRORS:prepend = "https://www.lua.org/.* ${DEBIAN_MIRROR}/l/lua5.4/ "
B = "${S}"

# Nothing to configure, and B is where the sources are.
do_configure[cleandirs] = ""

do_compile() {
    make ${PARALLEL_MAKE} -C src posix CC="${CC}" CFLAGS="-Wall -std=gnu99 ${CFLAGS} -DLUA_USE_POSIX" \
        AR="${AR} rcD" RANLIB="${RANLIB}"
}

do_install() {
    install -D -m 0755 src/lua "${D}${bindir}/lua"
    install -D -m 0755 src/luac "${D}${bindir}/luac"
    install -D -m 0644 src/liblua.a "${D}${libdir}/liblua.a"
    install -d "${D}${includedir}"
    install -m 0644 src/lua.h src/luaconf.h src/lualib.h src/lauxlib.h "${D}${includedir}/"
}
