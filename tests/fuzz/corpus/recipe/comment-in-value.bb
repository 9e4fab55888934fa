A = " \
 a \
# b
 c"
