EXPORT_FUNCTIONS do_a do_b
addhandler h
python () {
	d.x()
}
def f(d):
    return 1

# c
def g(d): pass
inherit_defer ${X}
