package sequential

import "testing"

// LookAt sets, during a test, the greatest number of keys that the host checks, so that larger batches are ordered on
// the device.
func LookAt(t testing.TB, keys int) {
	before := few
	few = keys
	t.Cleanup(func() { few = before })
}
