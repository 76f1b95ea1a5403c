package conformance

import (
	"flag"
	"os"
	"testing"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
)

// sequences is how many a test tries on a subject's variants: each pass of "make test" has others. Many more under
// VKDS_STRESS, and fewer in short runs: of what is said here rapid tries a fifth then.
var sequences = 15

// sequencesOf is as many, of 32 bits, and fewer of 64, which have most of their host's part in common with them.
func sequencesOf[W structures.Word]() int {
	if structures.WidthOf[W]() == structures.Bits64 {
		return max(1, sequences/6)
	}
	return sequences
}

func TestMain(m *testing.M) {
	pass.Tests{
		InAll: "8 validated", Short: "4 16", Reordered: "8",
		Why: "passes share the sequences, which the structures' own tests have at every width",
	}.Begin()
	flag.Parse()
	switch {
	case stress.Level > 0:
		sequences = 100 * stress.Level
	case testing.Short():
		sequences = 40
	}
	os.Exit(m.Run())
}
