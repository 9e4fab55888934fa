grüß() {
 x
}
inherit a
def 日(): 😀
A = ""
