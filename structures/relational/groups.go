package relational

import (
	"math"
	"math/big"
	"math/bits"
	"sync"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
)

// total is a sum of integers in 128 bits, in two's complement, or the word of a float64 (structures.KeyCode).
type total struct{ low, high uint64 }

func (a total) plus(b total) total {
	low, carry := bits.Add64(a.low, b.low, 0)
	high, _ := bits.Add64(a.high, b.high, carry)
	return total{low, high}
}

// number returns a sum of integers.
func (a total) number() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(int64(a.high)), 64)
	return n.Add(n, new(big.Int).SetUint64(a.low))
}

// float returns the nearest float of a sum of integers.
func (a total) float() float64 {
	switch {
	case a.high == 0:
		return float64(a.low)
	case a.high == math.MaxUint64 && a.low>>63 == 1:
		return float64(int64(a.low))
	}
	f, _ := new(big.Float).SetInt(a.number()).Float64()
	return f
}

// small returns a sum of integers that a float64 has exactly, and reports whether it is one.
func (a total) small() (x float64, is bool) {
	const most = 1 << 53
	n := int64(a.low)
	return float64(n), a.high == uint64(n>>63) && -most <= n && n <= most
}

// mean returns the float that is nearest to a sum of integers divided by their number.
func (a total) mean(n uint64) float64 {
	if x, is := a.small(); is && n <= 1<<53 {
		return x / float64(n)
	}
	mean, _ := new(big.Rat).SetFrac(a.number(), new(big.Int).SetUint64(n)).Float64()
	return mean
}

var float64s = structures.KeyCode[float64]()

// numberType is a type of numbers.
type numberType struct {
	of    primitives.ValueType
	width structures.Width
}

// word returns a sum as a word of a type (structures.ValueCode), and whether it fits.
func (a total) word(float bool, to numberType) (word uint64, fits bool) {
	switch to.of {
	case primitives.Float:
		x := 0.0
		if float {
			x = float64s.Of(a.low)
		} else {
			x = a.float()
		}
		if to.width == structures.Bits32 {
			y := float32(x)
			if _, small := a.small(); !float && !small { // rounded once
				y, _ = new(big.Float).SetInt(a.number()).Float32()
			}
			return structures.KeyCode[float32]().Word(y), true
		}
		return float64s.Word(x), true
	case primitives.Unsigned:
		return a.low, a.high == 0 && a.low>>(to.width.Bits()-1)>>1 == 0
	}
	sign := uint64(int64(a.low) >> (to.width.Bits() - 1)) // of what fits: all bits from the sign bit on
	return a.low & (math.MaxUint64 >> (64 - to.width.Bits())), a.high == sign && (sign == 0 || sign == math.MaxUint64)
}

// sumsAs returns sums as words of a type. float says that they are sums of floats. Error: *OverflowError.
func sumsAs(sums []total, float bool, to numberType) ([]uint64, error) {
	words, over := make([]uint64, len(sums)), len(sums)
	var lock sync.Mutex // of over, the first group whose sum does not fit
	threads.Each(len(sums), 16*len(sums), func(first, end int) {
		for i := first; i < end; i++ {
			word, fits := sums[i].word(float, to)
			if !fits {
				lock.Lock()
				over = min(over, i)
				lock.Unlock()
				return
			}
			words[i] = word
		}
	})
	if over < len(sums) {
		return nil, &OverflowError{Group: over, Sum: sums[over].number()}
	}
	return words, nil
}

// groupList has groups in ascending order of their keys, as words.
type groupList struct {
	keys, counts []uint64
	sums         []total
	mins, maxs   []uint64
}

func (l groupList) len() int { return len(l.keys) }

// means returns the means of the groups if they are asked for.
func (l groupList) means(ask Aggregates, t primitives.ValueType) []float64 {
	if ask&Means == 0 {
		return nil
	}
	means := make([]float64, l.len())
	threads.Each(len(means), 16*len(means), func(first, end int) {
		for i := first; i < end; i++ {
			if t == primitives.Float {
				means[i] = float64s.Of(l.sums[i].low) / float64(l.counts[i])
			} else {
				means[i] = l.sums[i].mean(l.counts[i])
			}
		}
	})
	return means
}

// mergeGroups returns the groups of both lists. Their values have a type.
func mergeGroups(a, b groupList, t primitives.ValueType, w structures.Width) (m groupList) {
	flip := uint64(0) // makes words have the order of values
	if t == primitives.Signed {
		flip = 1 << (w.Bits() - 1)
	}
	m.keys = make([]uint64, 0, a.len()+b.len())
	for i, j := 0, 0; i < a.len() || j < b.len(); {
		switch {
		case j == b.len() || i < a.len() && a.keys[i] < b.keys[j]:
			m.add(a, i)
			i++
		case i == a.len() || b.keys[j] < a.keys[i]:
			m.add(b, j)
			j++
		default:
			m.add(a, i)
			m.combine(b, j, t == primitives.Float, flip)
			i, j = i+1, j+1
		}
	}
	return m
}

// add appends group i of another list.
func (m *groupList) add(l groupList, i int) {
	m.keys, m.counts = append(m.keys, l.keys[i]), append(m.counts, l.counts[i])
	if l.sums != nil {
		m.sums = append(m.sums, l.sums[i])
	}
	if l.mins != nil {
		m.mins = append(m.mins, l.mins[i])
	}
	if l.maxs != nil {
		m.maxs = append(m.maxs, l.maxs[i])
	}
}

// combine adds group i of another list, which has the same key, to the last group.
func (m *groupList) combine(l groupList, i int, float bool, flip uint64) {
	last := m.len() - 1
	m.counts[last] += l.counts[i]
	switch {
	case l.sums == nil:
	case float:
		m.sums[last].low = float64s.Word(float64s.Of(m.sums[last].low) + float64s.Of(l.sums[i].low))
	default:
		m.sums[last] = m.sums[last].plus(l.sums[i])
	}
	if l.mins != nil && l.mins[i]^flip < m.mins[last]^flip {
		m.mins[last] = l.mins[i]
	}
	if l.maxs != nil && l.maxs[i]^flip > m.maxs[last]^flip {
		m.maxs[last] = l.maxs[i]
	}
}
