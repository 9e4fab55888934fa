SUMMARY = "A macro processor"
HOMEPAGE = "https://www.gnu.org/software/m4/"
LICENSE = "GPL-3.0-or-later"
inherit autotools native

SRC_URI = "https://ftp.gnu.org/gnu/m4/m4-${PV}.tar.xz;downloadfilename=m4_${PV}.orig.tar.xz"
SRC_URI[sha256sum] = "63aede5c6d33b6d9b13511cd0be2cac046f2e70fd0a07aa9573a04a82783af96"
PREMIRRORS:prepend = "https://ftp.gnu.org/.* ${DEBIAN_MIRROR}/m/m4/ "

EXTRA_OECONF = "--disable-nls --disable-c++ --disable-assert --disable-gcc-warnings"
