# Images: the packages of IMAGE_INSTALL and what these need at run time, as a root file
# system. Nothing here needs root: who owns a file and which devices there are is written
# into the archive and nowhere else.

IMAGE_INSTALL ?= ""
IMAGE_ROOTFS = "${WORKDIR}/rootfs"
IMAGE_NAME = "${PN}-${MACHINE}"
PACKAGES = "${PN}"
RDEPENDS:${PN} = "${IMAGE_INSTALL}"
BASE_DEFAULT_DEPS = ""

deltask do_fetch
deltask do_unpack
deltask do_patch
deltask do_configure
deltask do_compile
deltask do_install
deltask do_populate_sysroot
deltask do_package
addtask rootfs
addtask image after do_rootfs before do_build

do_rootfs[rdeptask] = "do_package"
do_rootfs[cleandirs] = "${IMAGE_ROOTFS}"
do_rootfs[umask] = "022"
do_rootfs() {
    seen=" "
    set -- ${IMAGE_INSTALL}
    while [ $# -gt 0 ]; do
        package=$1
        shift
        case $seen in
        *" $package "*) continue ;;
        esac
        seen="$seen$package "
        cp -a "${PACKAGE_DIR}/$package/." "${IMAGE_ROOTFS}/"
        { read -r version; read -r needs; } < "${PACKAGE_DIR}/$package.info"
        echo "$package $version" >> "${WORKDIR}/manifest"
        set -- "$@" $needs
    done
    ln -s sbin/init "${IMAGE_ROOTFS}/init"
}
do_rootfs[prefuncs] = "image_begin"
image_begin() {
    rm -f "${WORKDIR}/manifest"
}

# What a file system without root cannot say: path, kind, mode, owner, group, device.
image_table() {
    cat <<END
dev d 0755 0 0
dev/console c 0600 0 0 5 1
dev/null c 0666 0 0 1 3
dev/tty c 0666 0 5 5 0
root d 0700 0 0
tmp d 1777 0 0
etc/shadow f 0600 0 0
END
}

do_image[depends] = "newc-native:do_populate_sysroot"
do_image[dirs] = "${WORKDIR}"
do_image[umask] = "022"
do_image() {
    mkdir -p "${DEPLOY_DIR_IMAGE}"
    image_table > table
    newc rootfs table > "${IMAGE_NAME}.cpio"
    gzip -n -9 -c "${IMAGE_NAME}.cpio" > "${DEPLOY_DIR_IMAGE}/${IMAGE_NAME}.cpio.gz"
    LC_ALL=C sort manifest > "${DEPLOY_DIR_IMAGE}/${IMAGE_NAME}.manifest"
}
