SUMMARY = "A system that boots to a shell, with a server for remote logins and lua"
LICENSE = "MIT"
inherit image
PROVIDES += "image"

IMAGE_INSTALL = "base-files busybox dropbear lua"
