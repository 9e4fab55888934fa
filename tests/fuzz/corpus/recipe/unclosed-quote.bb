A = "a \
 b
B = "1"
