// Package doctor examines a Vulkan device by litmus tests. These are small kernels that run many times with random
// timing and placement. Their results show what the device does if the specification allows several results, and
// whether it does what vkds relies on.
//
// A required test fails if it sees a fault; then results on this device must not be trusted. The other tests only
// inform: vkds works correctly with any of their results. No test can hang, because every loop has a bound.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/vkds/vkds/vk"
)

// Options configure an examination. The zero value examines with a random seed.
type Options struct {
	Seed     uint64            // seed of the random timing and placement; 0: a random seed
	Progress func(test string) // if not nil, is called when a test begins

	fault bool // tests: every kernel shows the fault that its test looks for
}

// Verdict is the outcome of a test.
type Verdict string

const (
	Pass        Verdict = "pass"        // a required test saw no fault
	Fail        Verdict = "fail"        // a required test saw a fault, or any test had an unexpected error
	Information Verdict = "information" // the result of another test; vkds works with any
	Untested    Verdict = "untested"    // the device lacks something that the test needs; Found says what
)

// Finding is the conclusion from a test's observations.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`   // the observation, in a few words
	Meaning string  `json:"meaning"` // what it means for vkds, in a sentence
}

// Result is a test with its outcome.
type Result struct {
	Test     string `json:"test"`
	Required bool   `json:"required"` // whether its observations can make it fail
	Finding
	Observed any     `json:"observed,omitempty"` // the counts on which the finding is based
	Seconds  float64 `json:"seconds"`
}

// Report is the outcome of an examination.
type Report struct {
	Device   Device   `json:"device"`
	Seed     uint64   `json:"seed"` // repeat the examination with this Options.Seed
	Results  []Result `json:"results"`
	Trusted  bool     `json:"trusted"`            // no test failed, and the driver is not known to be broken
	Warnings []string `json:"warnings,omitempty"` // the reasons if it is not Trusted
}

// Device describes the device that was examined.
type Device struct {
	Name         string `json:"name"`
	Type         string `json:"type"`
	Driver       string `json:"driver"`
	Vulkan       string `json:"vulkan"`
	MinSubgroup  int    `json:"min_subgroup"`
	MaxSubgroup  int    `json:"max_subgroup"`
	Int64Atomics bool   `json:"int64_atomics"`
}

// observation is the data of a test, which judge evaluates.
type observation interface{ judge() Finding }

// test is one litmus test.
type test struct {
	name     string
	required bool
	observe  func(context.Context, *lab) (observation, error)
}

// tests lists the litmus tests for a device, in the order of the report.
func tests(d *vk.Device) []test {
	all := []test{
		{"progress between workgroups", false, observeProgress(betweenWorkgroups)},
		{"progress between subgroups", false, observeProgress(betweenSubgroups)},
		{"progress between lanes", false, observeProgress(betweenLanes)},
		{"polling without fences", false, observePolling},
		{"loops of many iterations", true, observeLoops},
		{"relaxed atomics in divergent loops", true, observeRelaxed},
		{"locks by fences", true, observeLocks(byFences)},
		{"locks by acquire and release", true, observeLocks(bySemantics)},
		{"message passing", true, observeMessages(byFencesBetween)},
		{"message passing by dependency", true, observeMessages(byDependency)},
		{"message passing without fences", false, observeMessages(byNothing)},
		{"store buffering", false, observeBuffering},
		{"32-bit atomics", true, observeAtomics("a32")},
		{"64-bit atomics", true, observeAtomics("a64")},
		{"minima and maxima beside additions", d.Has(vk.Int64Atomics), observeExtrema},
		{"pairs read while written", true, observeTearing},
	}
	for _, size := range subgroupSizes(d) {
		all = append(all, test{fmt.Sprintf("subgroups of %d", size), true, observeSubgroups(size)})
	}
	return append(all,
		test{"more than 65,535 workgroups", true, observeGroups},
		test{"buffers above 4 GiB", true, observeFar},
	)
}

// Run examines an open device. It takes a few seconds, and frees what it allocates. If the device fails a test, the
// Report says so and the error is nil. Errors: that of ctx, and errors that prevent any use of the device. After an
// error the Report has the results so far and is not Trusted.
func Run(ctx context.Context, d *vk.Device, o Options) (Report, error) {
	info := d.Info()
	r := Report{
		Device: Device{
			Name: info.Name, Type: string(info.Type), Driver: info.Driver, Vulkan: info.APIVersion,
			MinSubgroup: info.MinSubgroup, MaxSubgroup: info.MaxSubgroup, Int64Atomics: d.Has(vk.Int64Atomics),
		},
		Seed: cmp.Or(o.Seed, rand.Uint64()),
	}
	if warning := knownBroken(info.Driver, runtime.GOARCH); warning != "" {
		r.Warnings = append(r.Warnings, warning)
	}
	l, err := newLab(ctx, d, r.Seed, o.fault)
	if err != nil {
		return r, err
	}
	defer l.close()
	for _, t := range tests(d) {
		if o.Progress != nil {
			o.Progress(t.name)
		}
		result, err := l.perform(ctx, t)
		if err != nil {
			return r, err
		}
		r.Results = append(r.Results, result)
		if l.lost {
			break
		}
	}
	r.conclude()
	return r, nil
}

// perform runs one test. An error of the test becomes its finding, unless the context has ended.
func (l *lab) perform(ctx context.Context, t test) (Result, error) {
	begin := time.Now()
	seen, err := t.observe(ctx, l)
	err = cmp.Or(err, l.clear())
	result := Result{Test: t.name, Required: t.required, Seconds: time.Since(begin).Seconds()}
	if err == nil {
		result.Observed, result.Finding = seen, seen.judge()
		return result, nil
	}
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	l.lost = errors.Is(err, vk.ErrDeviceLost)
	result.Finding = judgeError(err)
	return result, nil
}

// judgeError returns the finding for a test that returned an error.
func judgeError(err error) Finding {
	var (
		lacks  *vk.MissingFeatureError
		cannot *cannotError
	)
	switch {
	case errors.As(err, &cannot):
		return Finding{Untested, cannot.reason, cannot.meaning}
	case errors.As(err, &lacks), errors.Is(err, vk.ErrNoRoom):
		return Finding{Untested, err.Error(), "The test needs what this device has not."}
	case errors.Is(err, vk.ErrDeviceLost):
		return Finding{Fail, "the driver gave the device up",
			"The kernel crashed or ran into a watchdog; the tests behind it were not done."}
	}
	return Finding{
		Fail, err.Error(), "The driver refused a kernel or a call that every driver of Vulkan 1.3 must take."}
}

// cannotError says why a test is not run on a device.
type cannotError struct{ reason, meaning string }

func (e *cannotError) Error() string { return "doctor: not tested: " + e.reason }

// conclude sets Warnings and Trusted by the results.
func (r *Report) conclude() {
	for _, result := range r.Results {
		if result.Verdict == Fail {
			r.Warnings = append(r.Warnings, fmt.Sprintf("The test %q failed: vkds relies on what it tests.",
				result.Test))
		}
	}
	r.Trusted = len(r.Warnings) == 0
}
