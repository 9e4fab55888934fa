SUMMARY = "r"
PROVIDES += "virtual/v1"
PROVIDES += "virtual/v2"
RPROVIDES:${PN}-dev += "rv0 rv1"
