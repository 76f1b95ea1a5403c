package stress

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Main runs the tests of a package, each property on so many sequences: few of them in everyday runs, and times as many
// as the level in long forms. In short runs it asks rapid for short, of which that tries a fifth.
func Main(m *testing.M, few, times, short int) {
	flag.Parse()
	switch {
	case Level > 0:
		few = times * Level
	case testing.Short():
		few = short
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(few)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
