package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// mayBeUntested has the tests for which a device may lack something.
func mayBeUntested(d *vk.Device, test string) bool {
	switch test {
	case "buffers above 4 GiB":
		return true
	case "64-bit atomics", "pairs read while written":
		return !d.Has(vk.Int64Atomics)
	}
	return false
}

// Every driver on which the tests run does everything that vkds relies on.
func TestRun(t *testing.T) {
	d := testdevice.Open(t)
	var begun []string
	begin := time.Now()
	r, err := Run(context.Background(), d, Options{Progress: func(test string) { begun = append(begun, test) }})
	require.NoError(t, err)
	t.Logf("%s, %s: %.1f s", r.Device.Name, r.Device.Driver, time.Since(begin).Seconds())

	seen := map[string]bool{}
	for i, x := range r.Results {
		t.Logf("%-36s %-12s %s", x.Test, x.Verdict, x.Found)
		require.Equal(t, begun[i], x.Test)
		require.False(t, seen[x.Test], "%s is there twice", x.Test)
		seen[x.Test] = true
		require.NotEmpty(t, x.Found, x.Test)
		require.NotEmpty(t, x.Meaning, x.Test)
		switch {
		case x.Verdict == Untested && (!x.Required || mayBeUntested(d, x.Test)):
		case x.Required:
			require.Equal(t, Pass, x.Verdict, "%s: %s", x.Test, x.Found)
		default:
			require.Equal(t, Information, x.Verdict, "%s: %s", x.Test, x.Found)
		}
	}
	require.Len(t, r.Results, len(tests(d)))
	require.Empty(t, r.Warnings)
	require.True(t, r.Trusted)
	require.NotZero(t, r.Seed)

	text, err := json.Marshal(r)
	require.NoError(t, err)
	var again Report
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, r.Results[0].Finding, again.Results[0].Finding)
}

// Without 64-bit atomics, the tests that need them are reported as Untested.
func TestRunWithout64BitAtomics(t *testing.T) {
	d := testdevice.Open(t, vk.Options{Without: []vk.Feature{vk.Int64Atomics}})
	l := newTestLab(t, d, false)
	for _, x := range tests(d) {
		if x.name == "64-bit atomics" || x.name == "pairs read while written" {
			result, err := l.perform(context.Background(), x)
			require.NoError(t, err)
			require.Equal(t, Untested, result.Verdict, x.name)
		}
	}
}

// Every test can fail on a real device: if its kernel shows the fault, each required test fails, and each of the others
// has its other finding.
func TestEveryTestCanFail(t *testing.T) {
	pass.Unvalidated(t, "TestRun makes its calls")
	d := testdevice.Open(t)
	l := newTestLab(t, d, true)
	for _, x := range tests(d) {
		result, err := l.perform(context.Background(), x)
		require.NoError(t, err)
		t.Logf("%-36s %-12s %s", x.name, result.Verdict, result.Found)
		if result.Verdict == Untested && mayBeUntested(d, x.name) {
			continue
		}
		switch seen := result.Observed.(type) {
		case progressSeen:
			require.Zero(t, seen.Completed, x.name)
		case pollSeen:
			require.Equal(t, Untested, result.Verdict, x.name)
		case *messageSeen:
			if !seen.Fences && !seen.Dependency {
				require.Positive(t, seen.Stale, x.name)
				continue
			}
			require.Equal(t, Fail, result.Verdict, x.name)
		case *bufferingSeen:
			require.Zero(t, seen.Neither, x.name)
		case *extremaSeen:
			require.Positive(t, seen.LostToMin, x.name)
			require.Positive(t, seen.LostToMax, x.name)
			require.Equal(t, x.required, result.Verdict == Fail, x.name)
		default:
			require.Equal(t, Fail, result.Verdict, "%s: %s", x.name, result.Found)
		}
	}
}

func newTestLab(t *testing.T, d *vk.Device, fault bool) *lab {
	l, err := newLab(context.Background(), d, 1, fault)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.close()) })
	return l
}

// A cancelled examination returns the context's error and leaves no objects, which testdevice checks.
func TestRunCancelled(t *testing.T) {
	d := testdevice.Open(t)
	ctx, cancel := context.WithCancel(context.Background())
	begun := 0
	r, err := Run(ctx, d, Options{Progress: func(string) {
		if begun++; begun == 3 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, r.Results, 2)
	require.False(t, r.Trusted)
}

func TestRunOnAClosedDevice(t *testing.T) {
	d, err := vk.Open(vk.Options{CacheDir: "none"})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	_, err = Run(context.Background(), d, Options{})
	require.ErrorIs(t, err, vk.ErrClosed)
}

// If a test returns an error, its finding depends on what the error says of the device.
func TestJudgeError(t *testing.T) {
	for _, x := range []struct {
		err  error
		want Verdict
	}{
		{&cannotError{"there is none", "It does not matter."}, Untested},
		{&vk.MissingFeatureError{Device: "x", Features: []string{"y"}}, Untested},
		{&vk.OutOfMemoryError{}, Untested},
		{&vk.LimitError{}, Untested},
		{vk.ErrDeviceLost, Fail},
		{&vk.CallError{Call: "vkCreateComputePipelines", Result: -3}, Fail},
		{errors.New("other"), Fail},
	} {
		f := judgeError(x.err)
		require.Equal(t, x.want, f.Verdict, "%v", x.err)
		require.NotEmpty(t, f.Found)
		require.NotEmpty(t, f.Meaning)
	}
}

func TestConclude(t *testing.T) {
	fine := Report{Results: []Result{{Test: "a", Required: true, Finding: Finding{Verdict: Pass}},
		{Test: "b", Finding: Finding{Verdict: Information}},
		{Test: "c", Required: true, Finding: Finding{Verdict: Untested}}}}
	fine.conclude()
	require.True(t, fine.Trusted)
	require.Empty(t, fine.Warnings)

	failed := fine
	failed.Results = append(failed.Results, Result{Test: "d", Required: true, Finding: Finding{Verdict: Fail}})
	failed.conclude()
	require.False(t, failed.Trusted)
	require.Len(t, failed.Warnings, 1)
	require.Contains(t, failed.Warnings[0], `"d"`)

	broken := Report{Results: fine.Results, Warnings: []string{"known to be broken"}}
	broken.conclude()
	require.False(t, broken.Trusted)
}

func TestKnownBroken(t *testing.T) {
	for driver, broken := range map[string]bool{
		"llvmpipe Mesa 22.3.6 (LLVM 15.0.6)":                true,
		"llvmpipe Mesa 24.2.8-1ubuntu1~24.04.1 (LLVM 19.1)": true,
		"llvmpipe Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)":      false,
		"llvmpipe Mesa 100.1.0 (LLVM 40.1.0)":               false,
		"llvmpipe":                                          false, // no version
		"radv Mesa 22.3.6":                                  false,
		"SwiftShader driver 5.0.0":                          false,
		"NVIDIA 570.172.08":                                 false,
		"Intel open-source Mesa driver Mesa 9":              false,
	} {
		require.Equal(t, broken, knownBroken(driver, "amd64") != "", driver)
	}
	require.Contains(t, knownBroken("llvmpipe Mesa 22.3.6", "amd64"), "Mesa 25")
	require.Contains(t, knownBroken("llvmpipe Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)", "arm64"), "LLVM 19")
	require.Empty(t, knownBroken("llvmpipe Mesa 25.0.7-2+deb13u1 (LLVM 19.1.7)", "arm64"))
	require.Empty(t, knownBroken("NVIDIA 570.172.08", "arm64"))
}
