do_a() {
  x
 }
