package input

// atStart has a bit for each descriptor that was closed at the start. Without cgo, or on systems where Go opens nothing
// in its place, it is 0.
var atStart uint

// ClosedAtStart reports whether a descriptor, 0 to 2, was closed when the program started. Go opens /dev/null in its
// place, so output is lost without an error.
func ClosedAtStart(descriptor int) bool { return atStart>>descriptor&1 != 0 }
