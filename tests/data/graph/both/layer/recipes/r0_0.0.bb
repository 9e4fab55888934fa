SUMMARY = "r"
RPROVIDES:${PN} += "rv0 rv1"
BBCLASSEXTEND = "native"
