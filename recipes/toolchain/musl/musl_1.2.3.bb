SUMMARY = "The C library"
HOMEPAGE = "https://musl.libc.org"
LICENSE = "MIT"
PROVIDES += "virtual/libc"
BASE_DEFAULT_DEPS = ""

SRC_URI = "https://musl.libc.org/releases/musl-${PV}.tar.gz;downloadfilename=musl_${PV}.orig.tar.gz"
SRC_URI[sha256sum] = "7d5b0b6062521e4627e099e4c9dc8248d32a30285e959b7eecaa780cf8cfd4a4"
PREMIRRORS:prepend = "https://musl.libc.org/.* ${DEBIAN_MIRROR}/m/musl/ "

# It is what a compiler for the target needs first, so this machine's compiles it.
CC = "${BUILD_CC} ${TUNE_CCARGS}"
AR = "ar"
RANLIB = "ranlib"

do_configure() {
    "${S}/configure" --target=${TARGET_SYS} --prefix=${prefix} --syslibdir=/lib \
        --disable-shared --disable-wrapper --disable-gcc-wrapper
}

do_compile() {
    make ${PARALLEL_MAKE} AR=ar RANLIB=ranlib
}

# Its libcrypt.a is empty, for libc.a has all of it; libxcrypt brings a real one.
do_install() {
    make install DESTDIR="${D}"
    rm "${D}${libdir}/libcrypt.a"
}
