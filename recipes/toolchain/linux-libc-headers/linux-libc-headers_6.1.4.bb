SUMMARY = "The kernel's interface as C headers"
HOMEPAGE = "https://www.kernel.org"
LICENSE = "GPL-2.0-only WITH Linux-syscall-note"
BASE_DEFAULT_DEPS = ""

# Debian's package for cross compilers is these headers and no more: 2 MB instead of 137.
SRC_URI = "${DEBIAN_MIRROR}/c/cross-toolchain-base/linux-libc-dev-amd64-cross_${PV}-1cross1_all.deb"
SRC_URI[sha256sum] = "b7ec9f95d20bd4669119201ec6a1ac372189fc222d35f21631bb79b723519293"
S = "${UNPACKDIR}"

do_install() {
    mkdir -p "${D}${includedir}"
    cp -r "${S}"/usr/x86_64-linux-gnu/include/. "${D}${includedir}/"
}
