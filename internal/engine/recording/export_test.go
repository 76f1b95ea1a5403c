package recording

import "testing"

// Failing makes f decide, until the end of the test, whether a request for a kernel fails.
func Failing(t testing.TB, f func(module string) error) {
	t.Helper()
	FailWith(f)
	t.Cleanup(func() { FailWith(nil) })
}
