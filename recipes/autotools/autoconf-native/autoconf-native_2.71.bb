SUMMARY = "Makes configure scripts"
HOMEPAGE = "https://www.gnu.org/software/autoconf/"
LICENSE = "GPL-3.0-or-later"
inherit autotools native

DEPENDS = "m4-native"
SRC_URI = "https://ftp.gnu.org/gnu/autoconf/autoconf-${PV}.tar.gz;downloadfilename=autoconf_${PV}.orig.tar.gz"
SRC_URI[sha256sum] = "431075ad0bf529ef13cb41e9042c542381103e80015686222b8a9d4abef42a1c"
PREMIRRORS:prepend = "https://ftp.gnu.org/.* ${DEBIAN_MIRROR}/a/autoconf/ "

EXTRA_OECONF = "EMACS=no"
