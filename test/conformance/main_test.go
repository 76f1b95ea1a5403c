package conformance

import (
	"flag"
	"os"
	"testing"
)

// TestMain sets how many sequences are tried: rapid's own number, or ten times as many under VKDS_STRESS=1.
func TestMain(m *testing.M) {
	if os.Getenv("VKDS_STRESS") == "1" {
		if err := flag.Set("rapid.checks", "1000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
