# The tasks of a recipe and what they wait for.
#
# What a task writes below WORKDIR only tasks of its recipe see. do_populate_sysroot and
# do_package write elsewhere, and that is seen by whoever waits for them, directly or not.

addtask fetch
addtask unpack after do_fetch
addtask patch after do_unpack
addtask configure after do_patch
addtask compile after do_configure
addtask install after do_compile
addtask populate_sysroot after do_install
addtask package after do_install
addtask build after do_populate_sysroot do_package

# A compiler, a C library and the kernel's headers, for all that is not told otherwise.
BASE_DEFAULT_DEPS ?= "musl-gcc-native virtual/libc linux-libc-headers"
DEPENDS:prepend:class-target = "${BASE_DEFAULT_DEPS} "
do_configure[deptask] = "do_populate_sysroot"

do_fetch[network] = "1"
do_fetch[file-checksums] = "${@bb.fetch.get_checksum_file_list(d)}"
python do_fetch() {
    bb.fetch2.Fetch((d.getVar('SRC_URI') or '').split(), d).download()
}

do_unpack[cleandirs] = "${UNPACKDIR}"
python do_unpack() {
    bb.fetch2.Fetch((d.getVar('SRC_URI') or '').split(), d).unpack(d.getVar('UNPACKDIR'))
}

python do_patch() {
    import subprocess
    fetcher = bb.fetch2.Fetch((d.getVar('SRC_URI') or '').split(), d)
    for url in fetcher.urls:
        path = fetcher.localpath(url)
        if path.endswith(('.patch', '.diff')):
            subprocess.check_call(['patch', '-p1', '-d', d.getVar('S'), '-i', path])
}

do_configure[cleandirs] = "${B}"
do_configure[dirs] = "${B}"
do_configure() {
    :
}

do_compile[dirs] = "${B}"
do_compile() {
    :
}

do_install[cleandirs] = "${D}"
do_install[dirs] = "${B}"
do_install[umask] = "022"
do_install() {
    :
}

# What others are built with.
SYSROOT_DIRS = "${includedir} ${libdir}"
do_populate_sysroot[umask] = "022"
do_populate_sysroot() {
    for dir in ${SYSROOT_DIRS}; do
        if [ -d "${D}$dir" ]; then
            mkdir -p "${STAGING_DIR_HOST}$dir"
            cp -a "${D}$dir/." "${STAGING_DIR_HOST}$dir/"
        fi
    done
}

# What goes into images: all but what only others are built with.
PACKAGE_EXCLUDE = "${includedir} ${libdir}/*.a ${libdir}/*.o ${libdir}/*.la ${libdir}/pkgconfig \
    ${mandir} ${infodir} ${datadir}/doc ${datadir}/aclocal"
do_package[rdeptask] = "do_package"
do_package[umask] = "022"
do_package() {
    rm -rf "${PACKAGE_DIR}/${PN}"
    mkdir -p "${PACKAGE_DIR}/${PN}"
    cp -a "${D}/." "${PACKAGE_DIR}/${PN}/"
    cd "${PACKAGE_DIR}/${PN}"
    for path in ${PACKAGE_EXCLUDE}; do
        rm -rf .$path
    done
    find . -depth -mindepth 1 -type d -empty -path './usr/*' -delete
    printf '%s\n' "${PV}" "${RDEPENDS:${PN}}" > "${PACKAGE_DIR}/${PN}.info"
}

do_build[noexec] = "1"
do_build() {
    :
}
