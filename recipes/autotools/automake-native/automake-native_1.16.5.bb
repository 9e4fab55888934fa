SUMMARY = "Makes templates of makefiles"
HOMEPAGE = "https://www.gnu.org/software/automake/"
LICENSE = "GPL-2.0-or-later"
inherit autotools native

DEPENDS = "autoconf-native"
SRC_URI = "https://ftp.gnu.org/gnu/automake/automake-${PV}.tar.xz;downloadfilename=automake-1.16_${PV}.orig.tar.xz"
SRC_URI[sha256sum] = "f01d58cd6d9d77fbdca9eb4bbd5ead1988228fdb73d6f7a201f5f8d6b118b469"
PREMIRRORS:prepend = "https://ftp.gnu.org/.* ${DEBIAN_MIRROR}/a/automake-1.16/ "
