SUMMARY = "Makes libraries, in one way for all systems"
HOMEPAGE = "https://www.gnu.org/software/libtool/"
LICENSE = "GPL-2.0-or-later"
inherit autotools native

DEPENDS = "m4-native"
# Debian packs it anew, so this is not the file that was released.
SRC_URI = "${DEBIAN_MIRROR}/libt/libtool/libtool_${PV}.orig.tar.xz"
SRC_URI[sha256sum] = "dd637e270439b208907ceead3f163470ed2ce5723ef97ffbda6463c64b57128a"

EXTRA_OECONF = "--disable-ltdl-install --disable-shared CXX=no F77=no FC=no GCJ=no GOC=no"

# Recipes make their own of what libtoolize brings; this one knows this machine's compiler.
do_install:append() {
    rm "${D}${bindir}/libtool"
}
