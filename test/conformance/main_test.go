package conformance

import (
	"flag"
	"os"
	"testing"
)

// TestMain sets how many sequences are tried: each of "make test"'s five passes has others; many more under
// VKDS_STRESS=1.
func TestMain(m *testing.M) {
	checks := "30"
	if os.Getenv("VKDS_STRESS") == "1" {
		checks = "1000"
	}
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
