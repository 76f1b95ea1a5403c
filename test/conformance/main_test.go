package conformance

import (
	"os"
	"testing"
)

// sequences is how many a test tries on a subject's variants: each of "make test"'s five passes has others; many more
// under VKDS_STRESS=1.
var sequences = 30

func TestMain(m *testing.M) {
	if os.Getenv("VKDS_STRESS") == "1" {
		sequences = 1000
	}
	os.Exit(m.Run())
}
