SUMMARY = "The directories and files that a system starts from"
LICENSE = "MIT"

BASE_DEFAULT_DEPS = ""
SRC_URI = "file://etc"
S = "${UNPACKDIR}"

do_install() {
    for dir in dev proc sys run tmp root mnt bin sbin usr/bin usr/sbin var/log; do
        mkdir -p "${D}/$dir"
    done
    cp -r "${S}/etc" "${D}/etc"
    chmod 0755 "${D}/etc/init.d/rcS"
}
