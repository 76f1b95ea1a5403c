package bench

import (
	"math"
	"sync/atomic"

	"github.com/vkds/vkds/structures/graph/analytics"
)

// checkDistances proves distances on all arcs: none is shorter by any arc, and each but the source's is reached by one
// over which it is as long as it says.
func (s *session) checkDistances(a *analyzed, source uint32, distances []uint32, weighted bool) error {
	if distances[source] != 0 {
		return s.wrong("the source is %d from itself", distances[source])
	}
	return each(a.vertices(), func(v int) error {
		reached := uint32(v) == source || distances[v] == analytics.Unreached
		for i := a.offsets[v]; i < a.offsets[v+1]; i++ { // arcs have opposites of the same weight
			from, weight := distances[a.targets[i]], uint64(1)
			if weighted {
				weight = uint64(a.weights[i])
			}
			if from == analytics.Unreached {
				continue
			}
			through := uint64(from) + weight
			if uint64(distances[v]) > through {
				return s.wrong("vertex %d: distance %d, but %d by way of %d", v, distances[v], through, a.targets[i])
			}
			reached = reached || uint64(distances[v]) == through
		}
		if !reached {
			return s.wrong("vertex %d: distance %d, but no arc gives it", v, distances[v])
		}
		return nil
	})
}

// checkRanks iterates in double precision.
func (s *session) checkRanks(a *analyzed, ranks []float32) error {
	const damping, most = 0.85, 1e-3
	n := a.vertices()
	now, gifts := make([]float64, n), make([]float64, n)
	for v := range now {
		now[v] = 1 / float64(n)
	}
	for range rankIterations {
		dangling := 0.0
		for v := range now {
			arcs := len(a.row(v))
			if gifts[v] = now[v] / float64(arcs); arcs == 0 {
				gifts[v] = 0
				dangling += now[v]
			}
		}
		_ = each(n, func(v int) error {
			sum := 0.0
			for _, u := range a.row(v) {
				sum += gifts[u]
			}
			now[v] = (1-damping+damping*dangling)/float64(n) + damping*sum
			return nil
		})
	}
	off := 0.0
	for v, rank := range ranks {
		off += math.Abs(float64(rank) - now[v])
	}
	if !(off < most) {
		return s.wrong("ranks are off by %g together", off)
	}
	return nil
}

// countTriangles merges, for each arc to a vertex of more neighbours, the rows of such arcs at both its ends.
func (a *analyzed) countTriangles() uint64 {
	up := make([][]uint32, a.vertices())
	before := func(u, v int) bool {
		du, dv := len(a.row(u)), len(a.row(v))
		return du < dv || du == dv && u < v
	}
	_ = each(len(up), func(u int) error {
		for _, v := range a.row(u) {
			if before(u, int(v)) {
				up[u] = append(up[u], v)
			}
		}
		return nil
	})
	var total atomic.Uint64
	_ = each(len(up), func(u int) error {
		n := uint64(0)
		for _, v := range up[u] {
			n += uint64(inBoth(up[u], up[v]))
		}
		total.Add(n)
		return nil
	})
	return total.Load()
}

// inBoth is how many numbers are in two ascending lists.
func inBoth(a, b []uint32) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			a, b = a[1:], b[1:]
			n++
		}
	}
	return n
}

// checkComponents goes through the graph from each vertex that wasn't met before, in their order.
func (s *session) checkComponents(a *analyzed, labels []uint32) error {
	met := make([]bool, a.vertices())
	var queue []uint32
	for first := range met {
		if met[first] {
			continue
		}
		met[first] = true
		for queue = append(queue[:0], uint32(first)); len(queue) > 0; {
			v := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			if labels[v] != uint32(first) {
				return s.wrong("vertex %d: component %d, not %d", v, labels[v], first)
			}
			for _, u := range a.row(int(v)) {
				if !met[u] {
					met[u] = true
					queue = append(queue, u)
				}
			}
		}
	}
	return nil
}

// checkCores peels one vertex after the other, by Batagelj and Zaversnik's buckets.
func (s *session) checkCores(a *analyzed, cores []uint32) error {
	n := a.vertices()
	left, most := make([]int, n), 0
	for v := range left {
		left[v] = len(a.row(v))
		most = max(most, left[v])
	}
	buckets := make([][]uint32, most+1)
	for v, d := range left {
		buckets[d] = append(buckets[d], uint32(v))
	}
	done := make([]bool, n)
	for k := 0; k <= most; k++ {
		for len(buckets[k]) > 0 {
			v := buckets[k][len(buckets[k])-1]
			buckets[k] = buckets[k][:len(buckets[k])-1]
			if done[v] {
				continue
			}
			done[v] = true
			if cores[v] != uint32(k) {
				return s.wrong("vertex %d: core %d, not %d", v, cores[v], k)
			}
			for _, u := range a.row(int(v)) {
				if !done[u] && left[u] > k {
					left[u]--
					buckets[left[u]] = append(buckets[left[u]], u)
				}
			}
		}
	}
	return nil
}
