SUMMARY = "The usual programs of a Unix system in one"
HOMEPAGE = "https://busybox.net"
LICENSE = "GPL-2.0-only"

DEPENDS = "libxcrypt"
SRC_URI = "https://busybox.net/downloads/busybox-${PV}.tar.bz2;downloadfilename=busybox_${PV}.orig.tar.bz2 \
    file://sample.cfg"
SRC_URI[sha256sum] = "faeeb244c35a348a334f4a59e44626ee870fb07b6884d68c10ae8bc19f83a694"
PREMIRRORS:prepend = "https://busybox.net/.* ${DEBIAN_MIRROR}/b/busybox/ "

export KCONFIG_NOTIMESTAMP = "1"
EXTRA_OEMAKE = "ARCH=${TARGET_ARCH} CROSS_COMPILE=${HOST_PREFIX} HOSTCC=${BUILD_CC} SKIP_STRIP=y"

# All its applets, but for what sample.cfg says.
addtask prepare_config after do_patch before do_configure
do_prepare_config[cleandirs] = "${B}"
do_prepare_config[dirs] = "${B}"
do_prepare_config() {
    # Without it the build goes on, and help is empty.
    command -v bzip2 > /dev/null || bbfatal "bzip2 is not installed; busybox packs its help with it"
    make -C "${S}" O="${B}" ${EXTRA_OEMAKE} CROSS_COMPILE= defconfig
    while read -r line; do
        case $line in
        CONFIG_*) name=${line%%=*} ;;
        '# CONFIG_'*) name=${line#'# '} name=${name%% *} ;;
        *) continue ;;
        esac
        sed -i -e "/^$name=/d" -e "/^# $name is not set/d" .config
        echo "$line" >> .config
    done < "${UNPACKDIR}/sample.cfg"
}

do_configure[cleandirs] = ""
do_configure() {
    sed -i "s,^CONFIG_EXTRA_CFLAGS=.*,CONFIG_EXTRA_CFLAGS=\"${CFLAGS}\"," .config
    yes '' | make ${EXTRA_OEMAKE} oldconfig
}

do_compile() {
    unset CFLAGS LDFLAGS
    make ${PARALLEL_MAKE} ${EXTRA_OEMAKE} CC="${CC}" busybox busybox.links
}

do_install() {
    install -D -m 0755 busybox "${D}/bin/busybox"
    while read -r link; do
        mkdir -p "${D}${link%/*}"
        ln -s /bin/busybox "${D}$link"
    done < busybox.links
}
