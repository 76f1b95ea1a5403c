package input

// atStart has a bit for each descriptor that was closed. It stays 0 where Go opens nothing, or without cgo.
var atStart uint

// ClosedAtStart tells whether a descriptor, 0 to 2, was closed when the program was started. Go opens /dev/null in its
// place, so what is written there is lost without an error.
func ClosedAtStart(descriptor int) bool { return atStart>>descriptor&1 != 0 }
