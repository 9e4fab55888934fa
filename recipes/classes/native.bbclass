# Tools that run on this machine, the same for every machine that is built for. They are
# installed where they are going to be found: below STAGING_DIR_NATIVE.

CLASSOVERRIDE = "class-native"
BPN = "${@d.getVar('PN').replace('-native', '')}"
PACKAGES = ""
MACHINEOVERRIDES = ""
WORKDIR = "${BASE_WORKDIR}/native/${PN}/${PV}"
STAMP = "${TMPDIR}/stamps/native/${PN}/${PV}"
STAMPCLEAN = "${TMPDIR}/stamps/native/${PN}/*"
STAGING_DIR_HOST = "${STAGING_DIR_NATIVE}"

prefix = "${STAGING_DIR_NATIVE}/usr"
sysconfdir = "${STAGING_DIR_NATIVE}/etc"
localstatedir = "${STAGING_DIR_NATIVE}/var"
HOST_SYS = "${BUILD_SYS}"
HOST_PREFIX = ""
CC = "${BUILD_CC}"
PATH:prepend = "${prefix}/bin:"

deltask do_package
addtask build after do_populate_sysroot

do_populate_sysroot() {
    mkdir -p "${STAGING_DIR_NATIVE}"
    cp -a "${D}${STAGING_DIR_NATIVE}/." "${STAGING_DIR_NATIVE}/"
}
