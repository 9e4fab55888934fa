def f():
  x