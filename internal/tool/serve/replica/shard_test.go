package replica

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// A folder keeps its part of the keys, and is refused for another one.
func TestShardOfDir(t *testing.T) {
	whole, first, second := Shard{}, Shard{1, 2}, Shard{2, 2}
	for _, began := range []Shard{whole, first, second} {
		o := Options{Dir: t.TempDir(), Types: integers, Shard: began}
		for range 2 {
			require.NoError(t, open(t, o).Close())
		}
		for _, other := range []Shard{whole, first, second, {2, 3}} {
			if other == began {
				continue
			}
			o.Shard = other
			_, err := Open(t.Context(), o)
			var refused *ShardError
			require.ErrorAs(t, err, &refused, "%v for %v", other, began)
			require.Equal(t, ShardError{o.Dir, began, other}, *refused)
		}
		o.Shard = began // a start that is refused leaves it as it is
		require.NoError(t, open(t, o).Close())
	}
}

// Members with another part of the keys, or other types, don't belong together. Their folders are as new as they were.
func TestOtherShard(t *testing.T) {
	options, _ := three(t)
	options[0].Shard, options[1].Shard, options[2].Shard = Shard{1, 2}, Shard{2, 2}, Shard{1, 2}
	options[2].Types.Value = keytype.Uint64
	first := open(t, options[0])
	defer first.Close()
	_, err := Open(t.Context(), options[1])
	var shard *ShardError
	require.ErrorAs(t, err, &shard)
	require.Equal(t, ShardError{options[0].Name, Shard{1, 2}, Shard{2, 2}}, *shard)
	_, err = Open(t.Context(), options[2])
	require.ErrorAs(t, err, new(*TypesError))
	for _, o := range options[1:] {
		l, err := openLog(o.Dir + "/log.db")
		require.NoError(t, err)
		for _, key := range [][]byte{shardKey, typesKey} {
			is, err := l.recall(key)
			require.NoError(t, err)
			require.Empty(t, is, "%s", key)
		}
		require.NoError(t, l.Close())
	}
}
