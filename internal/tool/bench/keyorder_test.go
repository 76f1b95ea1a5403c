package bench

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/testdevice"
)

// Keys of a file are those of a benchmark, each once and in the file's order.
func TestKeysOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mesh.txt")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("\ufeff7\n4294967295\r\n 0\n7\n\n12\n0")
	l, err := readKeys(path)
	require.NoError(t, err)
	require.Equal(t, []uint32{7, 1<<32 - 1, 0, 12}, l.keys)
	require.Len(t, l.absent, 4)
	for _, key := range l.absent {
		require.NotContains(t, l.keys, key)
	}
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "btree", quick("insert find-exist find-none", "keys="+path, "path=batched"))
	require.NoError(t, err)
	require.Len(t, r.Measurements, 3)
	for _, m := range r.Measurements {
		require.Equal(t, []any{4, "mesh.txt"}, []any{m.N, m.Order})
	}
	for text, want := range map[string]string{"": "no keys", "\n": "no keys",
		"1\n\n4294967296\n": `line 3: not a number below 2^32: "4294967296"`} {
		write(text)
		_, err := Run(t.Context(), d, "btree", quick("find-exist", "keys="+path))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, path)
	}
	require.ErrorContains(t, Check("btree", quick("find-exist", "keys="+path, "order=ascending")), "--order")
	require.ErrorContains(t, Check("btree", quick("successor", "keys="+path)), "--keys")
	require.ErrorContains(t, Check("btree", quick("insert alpha-0.2", "keys="+path)), "alpha-0.2")

	// Another file with as many keys is another workload; without --op, all run that take a file's keys.
	second := filepath.Join(t.TempDir(), "second.txt")
	write("1\n2\n3\n4\n")
	require.NoError(t, os.WriteFile(second, []byte("8\n7\n6\n5\n"), 0o600))
	o := quick("", "keys="+path+","+second, "path=batched")
	o.Ops = nil
	r, err = Run(t.Context(), d, "btree", o)
	require.NoError(t, err)
	files := map[string]int{}
	for _, m := range r.Measurements {
		files[m.Op+" "+m.Order]++
	}
	require.Equal(t, 1, files["insert second.txt"])
	require.Equal(t, 1, files["find-exist mesh.txt"])
	require.Len(t, files, len(r.Measurements))
}

func TestSequences(t *testing.T) {
	for _, n := range []int{2, 100, 1 << 13, 50000} {
		for _, name := range []string{random, ascending, descending, almostSorted, gaussian} {
			s := newSequence(keySpace{7}, name, n)
			seen := map[uint32]bool{}
			falls := 0
			for i := range n {
				require.False(t, seen[s.key(i)], "%s, %d", name, i)
				seen[s.key(i)] = true
				if i > 0 && s.key(i) < s.key(i-1) {
					falls++
				}
			}
			for i := range n {
				require.False(t, seen[s.absent(i)], "%s, %d", name, i)
			}
			switch name {
			case ascending:
				require.Zero(t, falls)
			case descending:
				require.Equal(t, n-1, falls)
			case almostSorted:
				require.InDelta(t, swaps+1, falls, swaps)
			default:
				require.Greater(t, falls, n/4-1)
			}
		}
	}
	require.NoError(t, Check("btree", quick("insert", "order=random,ascending,descending,almost-sorted,gaussian")))
	require.ErrorContains(t, Check("btree", quick("insert", "order=up")), "--order up")
}

func TestSpreadAscends(t *testing.T) {
	for _, n := range []int{1, 2, 1000, 1 << 16} {
		s := newSpread(n, 3)
		keys := make([]uint32, n)
		for i := range keys {
			keys[i] = s.key(i)
		}
		require.True(t, slices.IsSorted(keys))
		require.Len(t, slices.Compact(keys), n)
	}
}
