SUMMARY = "r"
DEPENDS = "assumed-b"
RPROVIDES:${PN}-dev += "rv1"
