package doctor

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/vkds/vkds/vk"
)

type subgroupPush struct {
	Inputs  uint64
	Answers uint64
	Count   uint32
}

// subgroupAnswers is the number of words that subgroup.comp returns for an invocation.
const subgroupAnswers = 20

// subgroupSeen is the outcome of subgroup operations in subgroups of a required size.
type subgroupSeen struct {
	Size        int   `json:"size"`
	Got         []int `json:"got"`         // the sizes that kernels saw
	Tiles       []int `json:"tiles"`       // the tested widths of tiles
	Misplaced   int   `json:"misplaced"`   // invocations whose place in the workgroup is invalid or taken twice
	Wrong       int   `json:"wrong"`       // invocations with a wrong result of an operation
	WrongTile   int   `json:"wrong_tile"`  // invocations with a wrong result of a tile's rounds
	Consecutive bool  `json:"consecutive"` // whether a subgroup's lanes are consecutive by gl_LocalInvocationIndex
}

// subgroupSizes returns the sizes that kernels can request.
func subgroupSizes(d *vk.Device) []int {
	if !d.Has(vk.SubgroupSizes) {
		return []int{d.SubgroupSize()}
	}
	var all []int
	for size := d.Info().MinSubgroup; size <= d.Info().MaxSubgroup; size *= 2 {
		all = append(all, size)
	}
	return all
}

func observeSubgroups(size int) func(context.Context, *lab) (observation, error) {
	return func(ctx context.Context, l *lab) (observation, error) {
		workgroup := size * max(1, min(4, l.d.Info().MaxWorkgroup/size))
		const groups = 8
		n := groups * workgroup
		b, err := l.words(n, subgroupAnswers*n)
		if err != nil {
			return nil, err
		}
		seen := subgroupSeen{Size: size, Consecutive: true}
		for tile := 1; tile <= min(size, 32); tile *= 2 {
			k, err := load[subgroupPush](l, "subgroup", workgroup, size, map[string]uint32{"TILE": uint32(tile)})
			if err != nil {
				return nil, err
			}
			inputs := make([]uint32, n)
			for i := range inputs {
				inputs[i] = l.rnd.Uint32()
			}
			if err := l.s.Wait(ctx); err != nil { // write the zeros before the upload
				return nil, err
			}
			if err := b[0].Upload(ctx, 0, inputs); err != nil {
				return nil, err
			}
			l.s.Fill(b[1], 0, b[1].Len(), math.MaxUint32)
			if err := run(ctx, l, k, groups, subgroupPush{b[0].Address(), b[1].Address(), uint32(n)}); err != nil {
				return nil, err
			}
			answers, err := read(ctx, b[1])
			if err != nil {
				return nil, err
			}
			seen.add(inputs, answers, workgroup, tile)
		}
		return seen, nil
	}
}

// add checks a run.
func (s *subgroupSeen) add(inputs, answers []uint32, workgroup, tile int) {
	s.Tiles = append(s.Tiles, tile)
	for base := 0; base < len(inputs); base += s.Size {
		values := inputs[base : base+s.Size]
		var sum, most uint32
		var ballot [4]uint32
		least := uint32(math.MaxUint32)
		odd := 0
		for lane, v := range values {
			sum += v
			least, most = min(least, v), max(most, v)
			ballot[lane/32] |= v & 1 << (lane % 32)
			odd += int(v & 1)
		}
		var before, oddBefore uint32
		for lane, v := range values {
			i := base + lane
			a := answers[i*subgroupAnswers : (i+1)*subgroupAnswers]
			s.got(int(a[0]))
			if a[0] != uint32(s.Size) || a[1] != uint32(workgroup/s.Size) || a[2] != uint32(lane) ||
				a[16] != uint32(i%workgroup/s.Size) || a[17] != uint32(i/workgroup) {
				s.Misplaced++
			}
			s.Consecutive = s.Consecutive && a[3] == uint32(i%workgroup)
			counts := uint32(odd) | oddBefore<<8
			for bit, set := range []bool{lane == 0, odd > 0, odd == s.Size} {
				if set {
					counts |= 1 << (16 + bit)
				}
			}
			shuffled := values[v>>8&uint32(s.Size-1)]
			want := [12]uint32{ballot[0], ballot[1], ballot[2], ballot[3], shuffled, sum, before, least, most,
				values[0], counts, 0}
			want[11] = a[15]
			if [12]uint32(a[4:]) != want {
				s.Wrong++
			}
			if a[15] != chain(values[lane/tile*tile:lane/tile*tile+tile]) {
				s.WrongTile++
			}
			before += v
			oddBefore += v & 1
		}
	}
}

func (s *subgroupSeen) got(size int) {
	for _, known := range s.Got {
		if known == size {
			return
		}
	}
	if len(s.Got) < 8 { // more say nothing new
		s.Got = append(s.Got, size)
	}
}

// chain returns the result of a tile's rounds: of its odd lanes, one after the other.
func chain(lanes []uint32) uint32 {
	var c uint32
	for _, v := range lanes {
		if v&1 != 0 {
			c = mix(c ^ v)
		}
	}
	return c
}

// mix computes hash_mix of shaders/include/hash.glsl.
func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x21f0aaad
	x ^= x >> 15
	x *= 0xd35a2d97
	return x ^ x>>15
}

func (s subgroupSeen) judge() Finding {
	switch {
	case len(s.Got) != 1 || s.Got[0] != s.Size:
		return Finding{Fail, fmt.Sprintf("kernels that require %d got %v", s.Size, s.Got),
			"A required subgroup size is not what kernels get."}
	case s.Misplaced > 0:
		return Finding{Fail, fmt.Sprintf("%d invocations have no place of their own", s.Misplaced),
			"Subgroups are not full, or their lanes are not numbered through: operations would be done twice or not " +
				"at all."}
	case s.Wrong > 0:
		return Finding{Fail, fmt.Sprintf("ballot, shuffle or arithmetic wrong in %d lanes", s.Wrong),
			"Subgroup operations give wrong results at this size."}
	case s.WrongTile > 0:
		return Finding{Fail, fmt.Sprintf("rounds of a tile wrong in %d lanes", s.WrongTile),
			"Subgroup operations in loops give wrong results at this size."}
	}
	means := "Full subgroups, with operations that are right; their lanes are neighbours in the workgroup."
	if !s.Consecutive {
		means = "Full subgroups, with operations that are right. Their lanes are not neighbours by " +
			"gl_LocalInvocationIndex; vkds counts by subgroup and lane."
	}
	return Finding{Pass, fmt.Sprintf("operations right, tiles of 1 to %d", 1<<(bits.Len(uint(min(s.Size, 32)))-1)),
		means}
}
