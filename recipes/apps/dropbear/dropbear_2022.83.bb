SUMMARY = "Remote logins by SSH"
HOMEPAGE = "https://matt.ucc.asn.au/dropbear/dropbear.html"
LICENSE = "MIT"
inherit autotools

DEPENDS = "zlib libxcrypt"
SRC_URI = "https://matt.ucc.asn.au/dropbear/releases/dropbear-${PV}.tar.bz2;downloadfilename=dropbear_${PV}.orig.tar.bz2"
SRC_URI[sha256sum] = "bc5a121ffbc94b5171ad5ebe01be42746d50aa797c9549a4639894a16749443b"
PREMIRRORS:prepend = "https://matt.ucc.asn.au/.* ${DEBIAN_MIRROR}/d/dropbear/ "

EXTRA_OECONF = "--enable-static --disable-harden --disable-pam --disable-lastlog --disable-utmp \
    --disable-utmpx --disable-wtmp --disable-wtmpx --disable-pututline --disable-pututxline"
DROPBEAR_PROGRAMS = "dropbear dbclient dropbearkey dropbearconvert scp"

do_compile() {
    make ${PARALLEL_MAKE} PROGRAMS="${DROPBEAR_PROGRAMS}" MULTI=1 STATIC=1
}

do_install() {
    install -D -m 0755 dropbearmulti "${D}${sbindir}/dropbearmulti"
    mkdir -p "${D}${bindir}" "${D}${sysconfdir}/dropbear"
    ln -s dropbearmulti "${D}${sbindir}/dropbear"
    for program in dbclient dropbearkey dropbearconvert scp; do
        ln -s ../sbin/dropbearmulti "${D}${bindir}/$program"
    done
    ln -s dbclient "${D}${bindir}/ssh"
}
