package sequential

import "testing"

// LookAt has batches of no more than so many keys looked at during a test, so that others reach what orders them.
func LookAt(t testing.TB, keys int) {
	before := few
	few = keys
	t.Cleanup(func() { few = before })
}
