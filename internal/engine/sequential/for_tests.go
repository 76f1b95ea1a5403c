package sequential

// LookAt is for tests: until the end of a test, the host checks batches of at most this number of keys, and larger ones
// are ordered on the device.
func LookAt(t interface{ Cleanup(func()) }, keys int) {
	before := few
	few = keys
	t.Cleanup(func() { few = before })
}
