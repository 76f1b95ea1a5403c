// Package pass says which passes of "make test" a test is part of.
//
// scripts/each-driver runs the tests several times, and names the pass in VKDS_PASS: 4, 8 or 16 (lavapipe with
// subgroups of that size), swiftshader, validated or chaos (8 lanes, with random delays). A test that can't find more
// in one pass than in another says so in its first line, with the reason. Long forms run in the same passes. Without
// VKDS_PASS a test always runs, and on a GPU (gpu) and the emulated systems wine and arm64, too.
package pass

import (
	"os"
	"slices"
	"testing"

	"github.com/vkds/vkds/test/stress"
)

// OneWidth skips a test, or a subtest, in all passes but that at 8 lanes, where neither the subgroup size nor the
// driver changes what it finds.
func OneWidth(t testing.TB, why string) {
	t.Helper()
	skip(t, why, "4", "16", "swiftshader", "validated")
}

// OneDriver skips a test on SwiftShader and under validation, where lavapipe finds the same.
func OneDriver(t testing.TB, why string) {
	t.Helper()
	skip(t, why, "swiftshader", "validated")
}

// OneLavapipe skips a test at 4 and 16 lanes, where lavapipe's 8 and SwiftShader's 4 find the same.
func OneLavapipe(t testing.TB, why string) {
	t.Helper()
	skip(t, why, "4", "16")
}

// NotWidest skips a test at 16 lanes, for which LLVM takes twice as long, where other tests find the same.
func NotWidest(t testing.TB, why string) {
	t.Helper()
	skip(t, why, "16")
}

// Unvalidated skips a test under validation, where it makes no call that other tests don't make.
func Unvalidated(t testing.TB, why string) {
	t.Helper()
	skip(t, why, "validated")
}

// NarrowUnlessLong skips a test at 8 and 16 lanes, but for its long form, where 4 lanes find almost everything.
func NarrowUnlessLong(t testing.TB, why string) {
	t.Helper()
	if stress.Level == 0 {
		skip(t, why, "8", "16")
	}
}

// OneProtocol says that other passes have the protocol without 64-bit atomics, so that tests leave it out where the
// device has these: all but the long forms.
func OneProtocol() bool {
	return stress.Level == 0 && slices.Contains([]string{"4", "16", "validated"}, os.Getenv("VKDS_PASS"))
}

// Delayed reports whether this is the pass of "make test" with random delays. Its kernels are its own, LLVM optimizes
// them, and almost all of its time is LLVM's, so its tests leave out what differs in widths alone.
func Delayed() bool { return os.Getenv("VKDS_PASS") == "chaos" }

// NotInWine skips a test in "make test-windows", in which nothing sees the variables that a Windows program sets, no
// console has Ctrl-C, and there is no Go.
func NotInWine(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("VKDS_PASS") == "wine" {
		t.Skip("not in Wine: " + why)
	}
}

// NotEmulated skips a test in "make test-arm64", in which memory is the emulator's, a program can't start itself, and
// takes longer to start than a test waits to interrupt it.
func NotEmulated(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("VKDS_PASS") == "arm64" {
		t.Skip("not in emulation: " + why)
	}
}

func skip(t testing.TB, why string, passes ...string) {
	t.Helper()
	if slices.Contains(passes, os.Getenv("VKDS_PASS")) {
		t.Skip("left to another pass: " + why)
	}
}
