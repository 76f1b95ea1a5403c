package doctor

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Invented observations, and the findings that must follow from them.
func TestJudge(t *testing.T) {
	exact := atomicsSeen{Bits: 64, Invocations: 100, Swapped: 400}
	wrong := func(change func(*atomicsSeen)) observation {
		s := exact
		change(&s)
		return &s
	}
	for name, x := range map[string]struct {
		seen  observation
		want  Verdict
		found string // a part of Finding.Found
	}{
		"all pairs go on": {progressSeen{betweenWorkgroups, 8, 8}, Information, "yes"},
		"some do":         {progressSeen{betweenSubgroups, 8, 3}, Information, "3 of 8"},
		"none does":       {progressSeen{betweenLanes, 8, 0}, Information, "no:"},
		"polling works": {pollSeen{progressSeen{Pairs: 4, Completed: 4}, progressSeen{Pairs: 4, Completed: 3}},
			Information, "yes"},
		"polling does not": {pollSeen{progressSeen{Pairs: 4, Completed: 4}, progressSeen{Pairs: 4}}, Information,
			"no:"},
		"polling can't be told": {pollSeen{progressSeen{Pairs: 4}, progressSeen{Pairs: 4}}, Untested, "progress"},
		"loops end": {loopsSeen{Iterations: 9, Fewest: [3]int{9, 9, 9}, Most: [3]int{9, 9, 9}}, Pass,
			"9 iterations"},
		"a loop is cut short": {loopsSeen{Iterations: 200000, Fewest: [3]int{65535, 200000, 200000},
			Most: [3]int{200000, 200000, 200000}}, Fail, "a loop of 200000 iterations made 65535"},
		"nested loops are": {loopsSeen{Iterations: 200000, Fewest: [3]int{200000, 65535, 200000},
			Most: [3]int{200000, 65535, 200000}}, Fail, "two nested"},
		"three of them": {loopsSeen{Iterations: 9, Fewest: [3]int{9, 9, 1}, Most: [3]int{9, 9, 1}}, Fail,
			"three nested"},
		"a loop goes on": {loopsSeen{Iterations: 9, Fewest: [3]int{9, 9, 9}, Most: [3]int{9, 9, 10}}, Fail,
			"three nested"},
		"a loop computes wrong": {loopsSeen{Iterations: 9, Fewest: [3]int{9, 9, 9}, Most: [3]int{9, 9, 9},
			Miscounted: 1}, Fail, "1 results"},
		"relaxed loops end": {&relaxedSeen{Invocations: 10, Raised: 50, Shared: 50}, Pass, "50 additions"},
		"a lane leaves early": {&relaxedSeen{Invocations: 10, Wrong: 1, Raised: 50, Shared: 50}, Fail,
			"1 of 10 lanes"},
		"additions are lost": {&relaxedSeen{Invocations: 10, Raised: 50, Shared: 48}, Fail, "2 of 50"},
		"a word falls": {&relaxedSeen{Invocations: 10, Fell: 3, Raised: 50, Shared: 50}, Fail,
			"fall 3 times"},
		"locks protect":          {&lockSeen{Wanted: 9, Entered: 9, First: 9, Second: 9}, Pass, "9 updates"},
		"some give up":           {&lockSeen{Wanted: 9, Entered: 7, First: 7, Second: 7}, Pass, "2 gave up"},
		"an update is lost":      {&lockSeen{Wanted: 9, Entered: 9, First: 8, Second: 9}, Fail, "1 of 9"},
		"a copy's update is":     {&lockSeen{Wanted: 9, Entered: 9, First: 9, Second: 7}, Fail, "2 of 9"},
		"a lock hides a write":   {&lockSeen{Wanted: 9, Entered: 9, First: 9, Second: 9, Unequal: 4}, Fail, "4 times"},
		"nobody gets in":         {&lockSeen{Wanted: 9}, Fail, "none of 9"},
		"messages arrive":        {&messageSeen{Fences: true, Read: 9, Live: 4}, Pass, "0 stale"},
		"nobody is about":        {&messageSeen{Fences: true, Read: 9}, Pass, "0 stale"},
		"a message is stale":     {&messageSeen{Fences: true, Read: 9, Live: 4, Stale: 1}, Fail, "1 stale"},
		"it follows an address":  {&messageSeen{Dependency: true, Read: 9, Live: 4}, Pass, "0 stale"},
		"no address is followed": {&messageSeen{Dependency: true, Read: 9, Live: 4, Stale: 1}, Fail, "1 stale"},
		"it may be, unfenced":    {&messageSeen{Read: 9, Live: 4, Stale: 1}, Information, "1 stale"},
		"and may not be":         {&messageSeen{Read: 9, Live: 4}, Information, "0 stale"},
		"stores are buffered":    {&bufferingSeen{Rounds: 9, Neither: 2}, Information, "2 of 9"},
		"or not":                 {&bufferingSeen{Rounds: 9}, Information, "0 of 9"},
		"atomics are exact":      {&exact, Pass, "100 invocations"},
		"add is not":             {wrong(func(s *atomicsSeen) { s.Add = 1 }), Fail, "wrong: add"},
		"and is not":             {wrong(func(s *atomicsSeen) { s.And = 1 }), Fail, "wrong: and"},
		"swap is not":            {wrong(func(s *atomicsSeen) { s.Swap = 1 }), Fail, "wrong: compare-and-swap"},
		"swap never swaps":       {wrong(func(s *atomicsSeen) { s.Swapped = 0 }), Fail, "none came through"},
		"exchange, min, max, or": {wrong(func(s *atomicsSeen) {
			s.Exchange, s.Min, s.Max, s.Or = 1, 1, 1, 1
		}), Fail, "exchange, min, max, or"},
		"minima undo nothing":    {&extremaSeen{Additions: 9, relied: true}, Pass, "0 of 18"},
		"minima undo additions":  {&extremaSeen{Additions: 9, LostToMin: 2, relied: true}, Fail, "2 of 18"},
		"maxima do":              {&extremaSeen{Additions: 9, LostToMax: 3, relied: true}, Fail, "3 of 18"},
		"both do, unused":        {&extremaSeen{Additions: 9, LostToMin: 1, LostToMax: 3}, Information, "4 of 18"},
		"none do, unused":        {&extremaSeen{Additions: 9}, Information, "0 of 18"},
		"vector loads tear":      {&tearingSeen{Written: 9, Read: 9, Torn: 2}, Pass, "yes, 2 of 9"},
		"they don't":             {&tearingSeen{Written: 9, Read: 9}, Pass, "no, in 9"},
		"atomic loads tear":      {&tearingSeen{Written: 9, Read: 9, Torn: 2, TornAtomics: 1}, Fail, "1 of 9"},
		"subgroups are right":    {subgroupSeen{Size: 8, Got: []int{8}, Consecutive: true}, Pass, "tiles of 1 to 8"},
		"lanes are not in order": {subgroupSeen{Size: 64, Got: []int{64}}, Pass, "tiles of 1 to 32"},
		"another size comes":     {subgroupSeen{Size: 32, Got: []int{64}}, Fail, "32 got [64]"},
		"several sizes come":     {subgroupSeen{Size: 32, Got: []int{32, 16}}, Fail, "[32 16]"},
		"no size comes":          {subgroupSeen{Size: 32}, Fail, "got []"},
		"subgroups are not full": {subgroupSeen{Size: 8, Got: []int{8}, Misplaced: 3}, Fail, "3 invocations"},
		"a ballot is wrong":      {subgroupSeen{Size: 8, Got: []int{8}, Wrong: 1}, Fail, "1 lanes"},
		"rounds are wrong":       {subgroupSeen{Size: 8, Got: []int{8}, WrongTile: 5}, Fail, "5 lanes"},
		"workgroups run once":    {groupsSeen{Groups: 9}, Pass, "9 workgroups"},
		"some don't run":         {groupsSeen{Groups: 9, Missing: 2}, Fail, "2 did not run"},
		"some run twice":         {groupsSeen{Groups: 9, Twice: 1}, Fail, "1 ran more than once"},
		"far words are there":    {farSeen{Words: 6}, Pass, "words"},
		"far words are wrapped":  {farSeen{Words: 6, Wrong: 2}, Fail, "2 of 6"},
	} {
		f := x.seen.judge()
		require.Equal(t, x.want, f.Verdict, name)
		require.Contains(t, f.Found, x.found, name)
		require.NotEmpty(t, f.Meaning, name)
	}
}

// If any word of the results of atomics is changed, the test notices.
func TestAtomicsAreChecked(t *testing.T) {
	const offered, received = 7, 0
	answer := func(i uint32) []uint32 { return []uint32{4, 1, received, 0, 10 + i, 1, offered, 0} }
	var places [placesEnd]uint32
	var answers []uint32
	for i := range uint32(32) {
		a := answer(i)
		if i > 0 {
			a[2] = offered // each receives the word of the one before; the first receives the initial 0
		}
		answers = append(answers, a...)
		places[placeSum] += a[4]
		places[placeSum+1] += a[5]
		places[placeSwapped] += a[0]
		places[placeSwapped+1] += a[0]
	}
	places[placeLeast], places[placeMost], places[placeUnion], places[placeExchanged] = offered, offered, 1<<offered,
		offered
	bits := []uint32{0xaaaaaaaa, 0x55555555}
	judge := func(places [placesEnd]uint32, bits, answers []uint32) Verdict {
		s := atomicsSeen{Bits: 64}
		s.add(places[:], bits, answers)
		return s.judge().Verdict
	}
	require.Equal(t, Pass, judge(places, bits, answers))
	for _, at := range []int{placeSum, placeSum + 1, placeSwapped, placeSwapped + 1, placeLeast, placeMost, placeUnion,
		placeExchanged} {
		changed := places
		changed[at] ^= 2
		require.Equal(t, Fail, judge(changed, bits, answers), "place %d", at)
	}
	require.Equal(t, Fail, judge(places, []uint32{0xaaaaaaaa, 0x55555557}, answers))
	answers[8+1] = 0
	require.Equal(t, Fail, judge(places, bits, answers), "a bit that was not its own to clear")
}

// If any word of a subgroup's results is changed, the test notices.
func TestSubgroupsAreChecked(t *testing.T) {
	const size, workgroup, tile = 8, 16, 4
	inputs := make([]uint32, 2*workgroup)
	for i := range inputs {
		inputs[i] = mix(uint32(i))
	}
	answers := make([]uint32, subgroupAnswers*len(inputs))
	for i, v := range inputs {
		group := inputs[i/size*size : i/size*size+size]
		lane := i % size
		a := answers[i*subgroupAnswers:]
		a[0], a[1], a[2], a[3] = size, workgroup/size, uint32(lane), uint32(i%workgroup)
		a[16], a[17] = uint32(i%workgroup/size), uint32(i/workgroup)
		a[8] = group[v>>8%size]
		a[11], a[13] = math.MaxUint32, group[0]
		odd, before := uint32(0), uint32(0)
		for j, w := range group {
			a[4] |= w & 1 << j
			a[9] += w
			if j < lane {
				a[10] += w
				before += w & 1
			}
			a[11], a[12] = min(a[11], w), max(a[12], w)
			odd += w & 1
		}
		a[14] = odd | before<<8
		if lane == 0 {
			a[14] |= 1 << 16
		}
		if odd > 0 {
			a[14] |= 1 << 17
		}
		if odd == size {
			a[14] |= 1 << 18
		}
		a[15] = chain(inputs[i/tile*tile : i/tile*tile+tile])
	}
	judge := func() (subgroupSeen, Verdict) {
		s := subgroupSeen{Size: size, Consecutive: true}
		s.add(inputs, answers, workgroup, tile)
		return s, s.judge().Verdict
	}
	s, verdict := judge()
	require.Equal(t, Pass, verdict, "%+v", s)
	for at := range subgroupAnswers - 2 {
		i := 5*subgroupAnswers + at
		answers[i]++
		s, verdict = judge()
		if at == 3 { // the local index, which vkds does not need
			require.False(t, s.Consecutive)
			require.Equal(t, Pass, verdict)
		} else {
			require.Equal(t, Fail, verdict, "word %d", at)
		}
		answers[i]--
	}
}
