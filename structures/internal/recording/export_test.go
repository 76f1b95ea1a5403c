package recording

import "testing"

// Failing has each ask for a kernel answered by f, where it can be had, until the test's end.
func Failing(t testing.TB, f func(module string) error) {
	t.Helper()
	FailWith(f)
	t.Cleanup(func() { FailWith(nil) })
}
