package transfer_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/test/u32"
)

// Sequence yields two chunks and then the error. After the loop was left, it yields nothing more, not even the error.
func TestSequences(t *testing.T) {
	broken := errors.New("broken")
	for _, end := range []error{nil, broken} {
		chunks := transfer.Sequence(func(yield func(u32.Pairs) bool) error {
			for _, keys := range [][]uint32{{1, 2}, {5}} {
				if !yield(u32.Pairs{Keys: keys, Values: []uint32{10 * keys[0], 20}[:len(keys)]}) {
					return broken // as a structure may that fails when it ends the iteration
				}
			}
			return end
		})
		type item struct {
			pair u32.Pair
			err  error
		}
		for _, down := range []bool{false, true} {
			want := []item{{u32.Pair{Key: 1, Value: 10}, nil}, {u32.Pair{Key: 2, Value: 20}, nil},
				{u32.Pair{Key: 5, Value: 50}, nil}}
			if down {
				want[0], want[1] = want[1], want[0]
			}
			if end != nil {
				want = append(want, item{err: end})
			}
			for most := range len(want) {
				var got []item
				for pair, err := range transfer.Pairs(chunks, down) {
					got = append(got, item{pair, err})
					if len(got) == most+1 {
						break
					}
				}
				require.Equal(t, want[:most+1], got)
			}
		}
		var keys []uint32
		for k, err := range transfer.Keys(chunks) {
			if err != nil {
				require.Equal(t, end, err)
				break
			}
			keys = append(keys, k)
		}
		require.Equal(t, []uint32{1, 2, 5}, keys)
	}
}
