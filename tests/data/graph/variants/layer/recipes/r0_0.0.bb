SUMMARY = "r"
PROVIDES += "virtual/v0"
PROVIDES += "virtual/v2"
RPROVIDES:${PN} += "rv0 rv1"
