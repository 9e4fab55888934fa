SUMMARY = "This machine's compiler, made to compile for musl"
LICENSE = "MIT"
inherit native

SRC_URI = "file://musl-gcc.in file://musl.specs"
S = "${UNPACKDIR}"
TARGET_PREFIX = "x86_64-linux-musl-"

do_install() {
    install -D -m 0644 "${S}/musl.specs" "${D}${libdir}/musl.specs"
    mkdir -p "${D}${bindir}"
    sed "s,@SPECS@,${libdir}/musl.specs," "${S}/musl-gcc.in" > "${D}${bindir}/${TARGET_PREFIX}gcc"
    chmod 0755 "${D}${bindir}/${TARGET_PREFIX}gcc"
    ln -s ${TARGET_PREFIX}gcc "${D}${bindir}/${TARGET_PREFIX}cc"
    for tool in ar as ld nm objcopy objdump ranlib readelf size strings strip; do
        ln -s /usr/bin/$tool "${D}${bindir}/${TARGET_PREFIX}$tool"
    done
}
