package recording

// What tests change, for as long as no other test runs.
var (
	failing      func(module string) error
	aheadOnCPU   bool
	undispatched bool
)

// FailWith is for tests: Kernel then fails with the error that f returns for a module. nil ends that.
func FailWith(f func(module string) error) { failing = f }

// Failing is FailWith until the end of a test.
func Failing(t test, f func(module string) error) {
	FailWith(f)
	t.Cleanup(func() { FailWith(nil) })
}

// AheadOnCPU has Begin make kernels for CPUs, too, until the end of a test.
func AheadOnCPU(t test) { until(t, &aheadOnCPU) }

// Undispatched has Prepare make kernels without dispatching them until the end of a test, so that drivers of CPUs don't
// compile those that nothing else dispatches.
func Undispatched(t test) { until(t, &undispatched) }

type test interface{ Cleanup(func()) }

func until(t test, set *bool) {
	*set = true
	t.Cleanup(func() { *set = false })
}
