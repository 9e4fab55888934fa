A = "1"
do_a() {
  x
}
