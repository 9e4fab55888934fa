SUMMARY = "Hashes of passwords: crypt(3) with yescrypt and all that came before"
HOMEPAGE = "https://github.com/besser82/libxcrypt"
LICENSE = "LGPL-2.1-or-later"
inherit autotools

# Debian takes it from the repository, without a configure script.
SRC_URI = "${DEBIAN_MIRROR}/libx/libxcrypt/libxcrypt_${PV}.orig.tar.xz"
SRC_URI[sha256sum] = "5e2da5cb5f263e9ac4c4b3f49c75e3b8523889210f45c60bb7e97b229c75a10b"

AUTORECONF = "1"
EXTRA_OECONF = "--disable-shared --enable-static --disable-obsolete-api --disable-failure-tokens --disable-werror"
