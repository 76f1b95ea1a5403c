package conformance

import (
	"flag"
	"os"
	"testing"
)

// sequences is how many a test tries on a subject's variants: each pass of "make test" has others. Many more under
// VKDS_STRESS=1, and fewer in short runs: of what is said here rapid tries a fifth then.
var sequences = 20

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case os.Getenv("VKDS_STRESS") == "1":
		sequences = 1000
	case testing.Short():
		sequences = 40
	}
	os.Exit(m.Run())
}
