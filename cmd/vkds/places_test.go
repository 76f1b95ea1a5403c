package main

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"pgregory.net/rapid"
)

// sorted is a dictionary of some words, each of which is its own value. What it is asked has to be such words.
type sorted struct {
	words
	all  []uint64
	most uint64
}

func (s *sorted) check(keys []uint64) {
	for _, k := range keys {
		if k > s.most {
			panic("asked for a word that it can't have")
		}
	}
}

func (s *sorted) Find(_ context.Context, keys []uint64) ([]uint64, []bool, error) {
	s.check(keys)
	found := make([]bool, len(keys))
	for i, k := range keys {
		found[i] = slices.Contains(s.all, k)
	}
	return slices.Clone(keys), found, nil
}

func (s *sorted) Delete(ctx context.Context, keys []uint64) ([]structures.Status, error) {
	_, found, err := s.Find(ctx, keys)
	all := make([]structures.Status, len(keys))
	for i := range all {
		if all[i] = structures.Absent; found[i] {
			all[i] = structures.Deleted
		}
	}
	return all, err
}

func (s *sorted) Neighbors(_ context.Context, to structures.Direction, keys []uint64) (neighbors, error) {
	s.check(keys)
	n := neighbors{Keys: make([]uint64, len(keys)), Values: make([]uint64, len(keys)), Found: make([]bool, len(keys))}
	for i, k := range keys {
		at, on := slices.BinarySearch(s.all, k)
		switch {
		case to == structures.Successor && on:
			at++
		case to == structures.Predecessor, to == structures.Floor && !on:
			at--
		}
		if n.Found[i] = at >= 0 && at < len(s.all); n.Found[i] {
			n.Keys[i], n.Values[i] = s.all[at], s.all[at]
		}
	}
	return n, nil
}

// valueOf is what a word stands for.
func valueOf(typ keytype.Type, w uint64) *big.Int {
	text := typ.Format(w)
	if typ == keytype.Time || typ == keytype.Time64 {
		at, _ := keytype.Time64.Parse(text)
		text = keytype.Int64.Format(at)
	}
	n, _ := new(big.Int).SetString(text, 0)
	return n
}

// A dictionary answers keys that it has no words for by their place in the order: they are not there, but have
// neighbors, and are ends of ranges.
func TestPlaces(t *testing.T) {
	ctx := context.Background()
	kinds := [][]keytype.Type{{keytype.Uint32, keytype.Int32, keytype.Uint64, keytype.Int64},
		{keytype.Hex, keytype.Hex64}, {keytype.Time, keytype.Time64}}
	directions := []structures.Direction{structures.Successor, structures.Predecessor, structures.Ceil,
		structures.Floor}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		own, typ := rapid.SampledFrom(kind).Draw(t, "own"), rapid.SampledFrom(kind).Draw(t, "asked")
		words := func(typ keytype.Type, near []uint64) []uint64 {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) uint64 {
				w := rapid.Uint64().Draw(t, "word")
				if len(near) > 0 && rapid.Bool().Draw(t, "near") {
					v, err := typ.Parse(own.Format(rapid.SampledFrom(near).Draw(t, "to")))
					if err == nil {
						w = v + rapid.Uint64Range(0, 2).Draw(t, "by") - 1
					}
				}
				return w & (^uint64(0) >> (64 - typ.Width().Bits()))
			}), 1, 5).Draw(t, "words")
		}
		all := words(own, nil)
		slices.Sort(all)
		all = slices.Compact(all)
		d := dictionary{key: own, words: &sorted{all: all, most: ^uint64(0) >> (64 - own.Width().Bits())}}
		asked := numbers{shown{Type: typ}, words(typ, all)}
		_, found, err := d.find(ctx, asked)
		require.NoError(t, err)
		statuses, err := d.remove(ctx, asked)
		require.NoError(t, err)
		for i, k := range asked.words {
			is := valueOf(typ, k)
			want := slices.ContainsFunc(all, func(w uint64) bool { return valueOf(own, w).Cmp(is) == 0 })
			require.Equal(t, want, found[i], "%s of %s among %v of %s", is, typ, all, own)
			require.Equal(t, want, statuses[i] == structures.Deleted)
		}
		for _, to := range directions {
			n, err := d.neighbors(ctx, to, asked)
			require.NoError(t, err)
			for i, k := range asked.words {
				is, want := valueOf(typ, k), -1
				for j, w := range all {
					c := valueOf(own, w).Cmp(is)
					up := to == structures.Successor && c > 0 || to == structures.Ceil && c >= 0
					down := to == structures.Predecessor && c < 0 || to == structures.Floor && c <= 0
					if up && want < 0 || down {
						want = j
					}
				}
				require.Equal(t, want >= 0, n.Found[i], "%v of %s", to, is)
				if want >= 0 {
					require.Equal(t, all[want], n.Keys[i], "%v of %s", to, is)
					require.Equal(t, all[want], n.Values[i])
				}
			}
		}
		his := numbers{shown{Type: typ}, words(typ, all)}
		his.words = append(his.words, asked.words...)[:len(asked.words)]
		ranges, err := d.ranges(asked, his)
		require.NoError(t, err)
		for i, r := range ranges {
			for _, w := range all {
				is := valueOf(own, w)
				in := is.Cmp(valueOf(typ, asked.words[i])) >= 0 && is.Cmp(valueOf(typ, his.words[i])) <= 0
				require.Equal(t, in, r.Lo <= w && w <= r.Hi, "%s in %s to %s", is, typ.Format(asked.words[i]),
					typ.Format(his.words[i]))
			}
		}
	})
	d := dictionary{key: keytype.IPv4}
	_, _, err := d.find(ctx, numbers{shown{Type: keytype.IPv6}, []uint64{0}})
	require.EqualError(t, err, "::/64 is asked for, but keys are of type ip")
}
