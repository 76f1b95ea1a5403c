package pass

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Tests says which passes the tests of a package are part of. Its TestMain calls Begin.
//
//	func TestMain(m *testing.M) { pass.Tests{Passes: "4 8", Why: "…"}.Begin(); m.Run() }
//
// Passes are separated by spaces. A package without a Tests is part of all passes.
type Tests struct {
	// Passes are those in which these tests can find something that they find in no other. Empty means all.
	Passes string
	// InAll are the passes of "make test". It runs all of them, and most of its time is compilers', so it leaves out
	// more than "make stress", which has each pass by itself. Empty means Passes, and "none" that other runs have them.
	InAll string
	// Only are patterns of the tests that "make test" has in a pass, and Except of those that it doesn't have.
	Only, Except map[string]string
	// Rest has, for a pass of "make test", the name of one before it: only tests that were skipped there are run.
	Rest map[string]string
	// Short are the passes with -test.short beside SwiftShader and validation.
	Short string
	// Reordered are passes that run commands in another order than the recorded one, beside those at 4 and 16 lanes.
	Reordered string
	// NoThreads runs kernels in the thread that submits them: other tests have them run by several.
	NoThreads bool
	// Why is the reason, for the output.
	Why string
}

// Host is for packages whose work is the host's.
var Host = Tests{Passes: "8", NoThreads: true,
	Why: "what the host does is the same on every driver, and the kernels are those of other tests"}

// HostAndCalls is for packages whose work is the host's, but whose calls no other tests make.
var HostAndCalls = Tests{Passes: "8 validated", Rest: map[string]string{"8": "validated"}, NoThreads: true,
	Why: "what the host does is the same on every driver and at every width"}

// NotSwiftShader is for packages that "make test" leaves to lavapipe.
var NotSwiftShader = Tests{InAll: "4 8 16 validated", Why: "lavapipe has 4 lanes, and compiles faster"}

const allPasses = "4 8 16 swiftshader validated"

// Patterns of tests that other passes leave to that at 8 lanes. Examples make calls of tests, and keys of 64 bits need
// half of all kernels.
const (
	examples = "^Example|^TestWide"
	// Go takes the first of several patterns that a test's name begins to match, so those with parts come last.
	wide          = `^TestWide|^TestOrdered$|/^k?64|/64_bits|/uint64,uint64|/.*/uint64,uint64`
	wideValidated = `/.*,_64_bits|/.*/uint64,uint64`
)

// Begin ends the program if the tests are no part of this pass, and otherwise chooses those that are. It does nothing
// outside of passes, or if tests are listed.
func (t Tests) Begin() {
	flag.Parse()
	_ = os.Setenv("VKDS_TUNING", "none") // not what somebody has measured on this machine
	pass := os.Getenv("VKDS_PASS")
	if pass == "" || flag.Lookup("test.list").Value.String() != "" {
		return
	}
	flags, part := t.choose(pass, os.Getenv("VKDS_ALL") != "", skippedIn)
	if !part {
		fmt.Println("left to other passes:", t.Why)
		os.Exit(0)
	}
	if only, ok := flags["test.run"]; ok {
		fmt.Printf("left to other passes: all but %s: %s\n", only, t.Why)
	}
	for name, value := range flags {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	if t.NoThreads {
		os.Setenv("LP_NUM_THREADS", "0") // the driver reads it when it is loaded
	}
	if has(t.Reordered, pass) && os.Getenv("VKDS_REORDERED") == "" {
		seed := strconv.Itoa(rand.IntN(1 << 15))
		fmt.Println("VKDS_REORDERED=" + seed)
		os.Setenv("VKDS_REORDERED", seed)
	}
}

// choose returns the flags of the tests in a pass, or false if they are no part of it. all says that "make test" runs,
// and skipped returns the tests that were skipped in an earlier pass, or false if that isn't known.
func (t Tests) choose(pass string, all bool, skipped func(pass string) ([]string, bool)) (map[string]string, bool) {
	if !has(allPasses, pass) {
		return nil, true // of delays, of which the Makefile chooses the tests, and of emulated systems, which run all
	}
	in := t.Passes
	if all && t.InAll != "" {
		in = t.InAll
	}
	if in != "" && !has(in, pass) {
		return nil, false
	}
	flags := map[string]string{}
	if pass == "swiftshader" || pass == "validated" || has(t.Short, pass) {
		flags["test.short"] = "true"
	}
	var skip []string
	switch pass {
	case "4", "16":
		if all {
			skip = append(skip, examples, t.Except[pass], wide)
		}
	case "swiftshader":
		skip = append(skip, examples)
		if all {
			skip = append(skip, wide)
		}
	case "validated":
		skip = append(skip, examples, wideValidated)
	}
	if skip = slices.DeleteFunc(skip, func(s string) bool { return s == "" }); len(skip) != 0 {
		flags["test.skip"] = strings.Join(skip, "|")
	}
	if only := t.Only[pass]; all && only != "" {
		flags["test.run"] = only
	}
	if before := t.Rest[pass]; all && before != "" {
		if names, ok := skipped(before); ok {
			flags["test.run"] = "^(" + strings.Join(names, "|") + ")$"
		}
	}
	return flags, true
}

func has(passes, pass string) bool { return slices.Contains(strings.Fields(passes), pass) }

// skippedIn returns the tests of this package that were skipped in an earlier pass, by the verdicts that
// scripts/each-driver keeps of this program.
func skippedIn(pass string) (names []string, known bool) {
	of := os.Getenv("VKDS_VERDICTS_OF")
	if of == "" {
		return nil, false
	}
	verdicts, err := os.ReadFile(strings.Replace(of, "%s", pass, 1))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false // that pass is no part of this run
	}
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(verdicts)) {
		fields := strings.Split(line, "\t")
		_, name, _ := strings.Cut(fields[2], ": ")
		if fields[0] == "skipped" && strings.HasPrefix(name, "Test") && !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names, true
}
