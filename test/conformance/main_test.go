package conformance

import (
	"os"
	"testing"
)

// sequences is how many a test tries on a subject's variants: each of "make test"'s five passes has others, and that
// with validation, which looks at calls and not at keys, few; many more under VKDS_STRESS=1.
var sequences = 20

func TestMain(m *testing.M) {
	switch {
	case os.Getenv("VKDS_STRESS") == "1":
		sequences = 1000
	case os.Getenv("VKDS_VALIDATION") == "1":
		sequences = 5
	}
	os.Exit(m.Run())
}
