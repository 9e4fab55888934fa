A
 B = "1"
C[ = "1"
= "1"
unset D[f]
inherit
E = 1
F = "1" x
