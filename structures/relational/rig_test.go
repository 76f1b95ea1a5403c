package relational

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/testdevice"
)

func open(t *testing.T, o Options) *Relational {
	t.Helper()
	r, err := New(testdevice.Open(t), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// inParts makes calls divide their rows into parts of at most n, and their results into ten times as many, until the
// end of the test.
func inParts(t *testing.T, n int) {
	rows, results := mostRows, window
	mostRows, window = n, 10*n
	t.Cleanup(func() { mostRows, window = rows, results })
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 8)) }
