# Recipes with a configure script. With AUTORECONF it is made first, by our own tools.

# What else there is on this machine must not show in what is built.
export AWK = "awk"
export FILECMD = ":"

AUTORECONF ?= ""
EXTRA_OECONF ?= ""
EXTRA_OEMAKE ?= ""
AUTOTOOLS_DEPS = "m4-native autoconf-native automake-native libtool-native"
DEPENDS:append = "${@' ' + d.getVar('AUTOTOOLS_DEPS') if d.getVar('AUTORECONF') else ''}"

do_configure() {
    if [ -n "${AUTORECONF}" ]; then
        (cd "${S}" && autoreconf --force --install)
    fi
    "${S}/configure" \
        --build=${BUILD_SYS} --host=${HOST_SYS} \
        --prefix=${prefix} --bindir=${bindir} --sbindir=${sbindir} --libdir=${libdir} \
        --includedir=${includedir} --datadir=${datadir} --mandir=${mandir} \
        --infodir=${infodir} --sysconfdir=${sysconfdir} --localstatedir=${localstatedir} \
        --disable-dependency-tracking --disable-silent-rules ${EXTRA_OECONF}
}

do_compile() {
    make ${PARALLEL_MAKE} ${EXTRA_OEMAKE}
}

do_install() {
    make install DESTDIR="${D}" ${EXTRA_OEMAKE}
    rm -rf "${D}${infodir}" "${D}${mandir}" "${D}${datadir}/doc"
    find "${D}" -name '*.la' -delete
}
