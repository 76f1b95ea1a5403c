package doctor

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/vkds/vkds/vk"
)

type atomicsPush struct {
	Meeting    meeting
	Places     uint64
	Bits       uint64
	Answers    uint64
	Count      uint32
	Rounds     uint32
	Increments uint32
	Seed       uint32
}

// Places in the memory of atomics.comp, 16 words each.
const (
	placeSum = iota * 16
	placeSwapped
	placeLeast
	placeMost
	placeExchanged
	placeUnion
	placeSizes
	placesEnd
)

// atomicsSeen is the outcome of atomics on words that all invocations share.
type atomicsSeen struct {
	Bits        int `json:"bits"` // 32 or 64
	Invocations int `json:"invocations"`
	Add         int `json:"add"`      // runs with a wrong sum
	And         int `json:"and"`      // invocations that found their bit already cleared, and wrong final words
	Swap        int `json:"swap"`     // runs with lost increments, or with only one half of a pair changed
	Swapped     int `json:"swapped"`  // increments made
	Exchange    int `json:"exchange"` // runs in which not every exchanged value came out exactly once
	Min         int `json:"min"`      // runs with a wrong minimum; Max and Or likewise
	Max         int `json:"max"`
	Or          int `json:"or"`
	Sizes       int `json:"sizes"` // runs in which 32-bit additions and 64-bit swaps of one pair lost updates
}

func observeAtomics(variant string) func(context.Context, *lab) (observation, error) {
	return func(ctx context.Context, l *lab) (observation, error) {
		long := variant == "a64"
		if long && !l.d.Has(vk.Int64Atomics) {
			return nil, &cannotError{"the device has none", "vkds takes its 32-bit protocol here."}
		}
		workgroup, groups := l.workgroup(4), 32
		n := workgroup * groups / 32 * 32
		k, err := load[atomicsPush](l, "atomics."+variant, workgroup, 0, nil)
		if err != nil {
			return nil, err
		}
		b, err := l.words(1, placesEnd, n/16, 8*n)
		if err != nil {
			return nil, err
		}
		push := func() atomicsPush {
			l.s.Fill(b[1], placeLeast, 1, math.MaxUint32)
			l.s.Fill(b[2], 0, b[2].Len(), math.MaxUint32)
			return atomicsPush{l.meeting(b[0], groups), b[1].Address(), b[2].Address(), b[3].Address(), uint32(n), 256,
				4, l.rnd.Uint32()}
		}
		seen := atomicsSeen{Bits: 32}
		if long {
			seen.Bits = 64
		}
		return &seen, repeat(ctx, l, k, groups, b, push, func(contents [][]uint32) bool {
			seen.add(contents[1], contents[2], contents[3])
			return true
		})
	}
}

// add checks a run.
func (s *atomicsSeen) add(places, bits, answers []uint32) {
	var sum uint64
	var swapped, in, out, union, most uint32
	var sizes [2]uint32
	least := uint32(math.MaxUint32)
	for i := 0; i < len(answers); i += 8 {
		a := answers[i : i+8]
		swapped += a[0]
		if a[1] != 1 {
			s.And++
		}
		out += a[2]
		sum += uint64(a[5])<<32 | uint64(a[4])
		in += a[6]
		sizes[0] += a[3]
		sizes[1] += a[7]
		union |= 1 << (a[6] & 31)
		least, most = min(least, a[6]), max(most, a[6])
		s.Invocations++
	}
	high := places[placeSum+1]
	left := [2]uint32{0, math.MaxUint32}
	pair := [2]uint32{swapped, 0}
	if s.Bits == 64 {
		left = [2]uint32{0xaaaaaaaa, 0x55555555}
		pair[1] = swapped
	} else {
		sum &= math.MaxUint32
	}
	tell := func(wrong bool, n *int) {
		if wrong {
			*n++
		}
	}
	tell(uint64(high)<<32|uint64(places[placeSum]) != sum, &s.Add)
	for i, word := range bits {
		tell(word != left[i%2], &s.And)
	}
	s.Swapped += int(swapped)
	tell([2]uint32(places[placeSwapped:]) != pair, &s.Swap)
	tell(out+places[placeExchanged] != in, &s.Exchange)
	tell(places[placeLeast] != least, &s.Min)
	tell(places[placeMost] != most, &s.Max)
	tell(places[placeUnion] != union, &s.Or)
	tell([2]uint32(places[placeSizes:]) != sizes, &s.Sizes)
}

func (s atomicsSeen) judge() Finding {
	var wrong []string
	for _, w := range []struct {
		count int
		name  string
	}{
		{s.Add, "add"}, {s.And, "and"}, {s.Swap, "compare-and-swap"}, {s.Exchange, "exchange"}, {s.Min, "min"},
		{s.Max, "max"}, {s.Or, "or"}, {s.Sizes, "32-bit beside 64-bit"}} {
		if w.count > 0 {
			wrong = append(wrong, w.name)
		}
	}
	if s.Swapped == 0 && s.Swap == 0 {
		wrong = append(wrong, "compare-and-swap (none came through)")
	}
	if len(wrong) > 0 {
		meaning := "Atomics on shared words lose updates."
		if s.Bits == 64 {
			meaning += " Set VKDS_WITHOUT=" + string(vk.Int64Atomics) + ", and vkds takes its 32-bit protocol."
		}
		return Finding{Fail, "wrong: " + strings.Join(wrong, ", "), meaning}
	}
	return Finding{Pass, fmt.Sprintf("exact over %d invocations", s.Invocations),
		fmt.Sprintf("%d-bit atomics are exact however many meet in one word.", s.Bits)}
}
