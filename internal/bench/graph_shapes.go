package bench

import (
	"math/bits"
	"math/rand/v2"

	"github.com/vkds/vkds/internal/enum"
)

// GraphShape is what a graph looks like that is analysed.
type GraphShape uint8

const (
	// RMAT is a Kronecker graph as social ones are: few vertices have a large part of the edges, and all are near each
	// other. 16 edges a vertex, of which equal ones are one, a/b/c = 0.57/0.19/0.19, vertices in random order.
	// Chakrabarti, Zhan and Faloutsos, R-MAT: A Recursive Model for Graph Mining, 2004.
	RMAT GraphShape = iota
	// Grid is a square, each vertex with four neighbours, row by row: few edges a vertex, and long ways.
	Grid
)

// GraphShapes are all of them, by their names.
var GraphShapes = enum.Of("graph", RMAT, Grid)

var graphShapeNames = enum.Names[GraphShape]{"rmat", "grid"}

func (g GraphShape) String() string { return graphShapeNames.String(g) }

const (
	rmatFactor = 16 // edges a vertex
	mostWeight = 64 // of an edge; the least is 1
)

// edgesOf are the edges of a graph of at most n vertices, each once or more, and how many vertices it has: of an RMAT
// graph the greatest power of two, of a grid the greatest square.
func edgesOf(g GraphShape, n int, seed uint32) (vertices int, from, to, weights []uint32) {
	if g == Grid {
		vertices, from, to = gridEdges(n)
	} else {
		vertices, from, to = rmatEdges(bits.Len(uint(n))-1, seed)
	}
	weights = make([]uint32, len(from))
	fill(weights, func(i int) uint32 {
		a, b := min(from[i], to[i]), max(from[i], to[i])
		return 1 + scramble(a*0x9e3779b1^scramble(b)^seed)%mostWeight // of the edge, whichever way it comes
	})
	return vertices, from, to, weights
}

func gridEdges(n int) (vertices int, from, to []uint32) {
	side := 1
	for (side+1)*(side+1) <= n {
		side++
	}
	for v := range uint32(side * side) {
		if int(v)%side != side-1 {
			from, to = append(from, v), append(to, v+1)
		}
		if int(v)+side < side*side {
			from, to = append(from, v), append(to, v+uint32(side))
		}
	}
	return side * side, from, to
}

// rmatEdges are each made from a sequence of its own, so that they don't go by the number of processors.
func rmatEdges(scale int, seed uint32) (vertices int, from, to []uint32) {
	vertices = 1 << scale
	n := rmatFactor << scale
	from, to = make([]uint32, n), make([]uint32, n)
	names := rand.New(rand.NewPCG(uint64(seed), 1)).Perm(vertices)
	_ = parallel(n, func(first, end int) error {
		var sequence rand.PCG
		rng := rand.New(&sequence)
		for i := first; i < end; i++ {
			sequence.Seed(uint64(seed), uint64(i)+2)
			a, b := rmatEdge(scale, rng)
			from[i], to[i] = uint32(names[a]), uint32(names[b])
		}
		return nil
	})
	return vertices, from, to
}

// rmatEdge chooses one of four quarters of the matrix, and one of these, and so on.
func rmatEdge(scale int, rng *rand.Rand) (a, b int) {
	const one = 1 << 16
	for i := 0; i < scale; i += 4 {
		random := rng.Uint64()
		for range min(4, scale-i) {
			x := random & (one - 1)
			random >>= 16
			a, b = 2*a, 2*b
			switch {
			case x < one*57/100:
			case x < one*76/100:
				b++
			case x < one*95/100:
				a++
			default:
				a, b = a+1, b+1
			}
		}
	}
	return a, b
}
