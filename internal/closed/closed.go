// Package closed tells which of the standard files a program was started without. Go opens /dev/null in their place, so
// what is written there is lost without an error.
package closed

// atStart has a bit for each descriptor that was closed. It stays 0 where Go opens nothing, or without cgo.
var atStart uint

// AtStart tells whether a descriptor, 0 to 2, was closed when the program was started.
func AtStart(descriptor int) bool { return atStart>>descriptor&1 != 0 }
