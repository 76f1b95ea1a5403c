package analytics_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
	shortest "gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
)

var (
	infinity  = float32(math.Inf(1))
	nan       = float32(math.NaN())
	minusZero = float32(math.Copysign(0, -1))
)

// with is the edges with the weights of a function, as floats.
func (e edges) with(name string, weight func() float32) *edges {
	e.name, e.w = e.name+" "+name, make([]uint32, len(e.from))
	for i := range e.w {
		e.w[i] = math.Float32bits(weight())
	}
	return &e
}

// addFloat is add for a weight that is a float.
func (e *edges) addFloat(a, b int, w float32) { e.add(a, b, math.Float32bits(w)) }

// floatWeights are random weights of some kind.
type floatWeights struct {
	name string
	draw func() float32
}

// allFloatWeights are weights near each other, of all magnitudes, of few values that are 0 or change no greater
// distance, and subnormal ones.
func allFloatWeights(rng *rand.Rand) []floatWeights {
	absorbed := []float32{0, minusZero, 1e-45, 1e-20, 1e-9, 1, 1, 1 << 24, 3e38, infinity}
	return []floatWeights{
		{"near", rng.Float32},
		{"wide", func() float32 { return math.Float32frombits(rng.Uint32N(0x7f800000)) }},
		{"absorbed", func() float32 { return absorbed[rng.IntN(len(absorbed))] }},
		{"subnormal", func() float32 { return math.Float32frombits(rng.Uint32N(1 << 23)) }},
	}
}

// queue is a heap of vertices by their distances.
type queue []entry

type entry struct {
	distance float32
	vertex   uint32
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].distance < q[j].distance }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(entry)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// dijkstraOfFloats is Dijkstra's algorithm with sums of float32.
func dijkstraOfFloats(rows [][]neighbor, source uint32) []float32 {
	distances := make([]float32, len(rows))
	for v := range distances {
		distances[v] = infinity
	}
	distances[source] = 0
	for q := (queue{{0, source}}); len(q) > 0; {
		from := heap.Pop(&q).(entry)
		if from.distance != distances[from.vertex] {
			continue
		}
		for _, n := range rows[from.vertex] {
			if sum := from.distance + math.Float32frombits(n.w); sum < distances[n.to] {
				distances[n.to] = sum
				heap.Push(&q, entry{sum, n.to})
			}
		}
	}
	return distances
}

// requireFloatPaths looks whether each parent leads to the source, along arcs whose weights, added up from the source
// on, are the distance, bit for bit.
func requireFloatPaths(t *testing.T, rows [][]neighbor, source uint32, r SSSPResult) {
	t.Helper()
	least := map[[2]uint32]float32{}
	for v, row := range rows {
		for _, n := range row {
			arc, w := [2]uint32{uint32(v), n.to}, math.Float32frombits(n.w)
			if before, is := least[arc]; !is || w < before {
				least[arc] = w
			}
		}
	}
	for v, d := range r.FloatDistances {
		path := Path(r.Parents, uint32(v))
		if math.IsInf(float64(d), 1) {
			require.EqualValues(t, Unreached, r.Parents[v])
			continue
		}
		require.NotEmpty(t, path, "to %d, at %g", v, d)
		require.Equal(t, source, path[0])
		sum := float32(0)
		for i, to := range path[1:] {
			w, is := least[[2]uint32{path[i], to}]
			require.True(t, is, "an arc from %d to %d", path[i], to)
			sum += w
		}
		require.Equal(t, d, sum, "to %d by %v", v, path)
	}
}

// Distances are those of Dijkstra's algorithm with float32, bit for bit, whatever the buckets are, and the parents make
// paths of that length.
func TestSSSPOfFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	var all []*edges
	for _, e := range shapes() {
		for _, weights := range allFloatWeights(rng) {
			all = append(all, e.with(weights.name, weights.draw))
		}
	}
	eachForm(t, all, true, func(t *testing.T, e *edges, a *Analyzer) {
		source := uint32(e.vertices / 2)
		want := dijkstraOfFloats(e.rows(), source)
		for _, delta := range []float64{0, 0.3, math.Inf(1), 1e-46} {
			if delta == 1e-46 && e.vertices > 1000 {
				continue // each distance is a bucket
			}
			r, err := a.SSSP(t.Context(), source, SSSPOptions{FloatWeights: true, Delta: delta, Parents: delta == 0})
			require.NoError(t, err)
			require.Equal(t, want, r.FloatDistances, "delta %g", delta)
			require.Nil(t, r.Distances)
			if delta == 0 {
				requireFloatPaths(t, e.rows(), source, r)
			}
		}
	})
}

// Sums are Go's: of numbers whose significands are far apart or not, that lie between two numbers or nearly so, and
// that are subnormal, become normal or too great.
func TestFloatSums(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(32, 2))
	const pairs = 1 << 16
	e := &edges{name: "sums", vertices: 1 + 2*pairs}
	significand := func() uint32 {
		switch bits := rng.Uint32N(1 << 23); rng.IntN(4) {
		case 0:
			return bits &^ (1<<rng.IntN(24) - 1) // ends in zeros
		case 1:
			return bits | (1<<rng.IntN(24) - 1) // ends in ones
		default:
			return bits
		}
	}
	var want []float32
	for i := range pairs {
		above := rng.IntN(255)
		below := max(0, above-rng.IntN(29))
		a := math.Float32frombits(uint32(above)<<23 | significand())
		b := math.Float32frombits(uint32(below)<<23 | significand())
		if rng.IntN(2) == 0 {
			a, b = b, a
		}
		e.addFloat(0, 1+i, a)
		e.addFloat(1+i, 1+pairs+i, b)
		want = append(want, a+b)
	}
	r, err := e.analyzer(t, d).SSSP(t.Context(), 0, SSSPOptions{FloatWeights: true, Delta: math.Inf(1)})
	require.NoError(t, err)
	for i, sum := range r.FloatDistances[1+pairs:] {
		if math.Float32bits(sum) != math.Float32bits(want[i]) {
			a, b := math.Float32frombits(e.w[2*i]), math.Float32frombits(e.w[2*i+1])
			require.Equal(t, want[i], sum, "%g and %g", a, b)
		}
	}
}

// Weights that are too small to change a distance lead around in cycles, and from vertices to themselves. No path is a
// cycle.
func TestPathsOfAbsorbedWeights(t *testing.T) {
	d := testdevice.Open(t)
	e := &edges{name: "absorbed", vertices: 600}
	e.addFloat(0, 1, 1e10)
	for v := 1; v < e.vertices; v++ {
		e.addFloat(v, v, 1)
		if v+1 < e.vertices {
			e.addFloat(v, v+1, 2)
			e.addFloat(v+1, v, 3)
		}
	}
	rows := e.rows() // without the arcs from vertices to themselves, which are on no path
	g, err := graph.BuildCSR(t.Context(), d, graph.Edges{From: e.from, To: e.to, Weights: e.w}, graph.CSROptions{})
	require.NoError(t, err)
	for _, a := range []*Analyzer{analyzerOf(t, g), e.worn(t, d)} {
		r, err := a.SSSP(t.Context(), 0, SSSPOptions{FloatWeights: true, Parents: true})
		require.NoError(t, err)
		require.EqualValues(t, 1e10, r.FloatDistances[599])
		requireFloatPaths(t, rows, 0, r)
	}
}

// A path may be as long as the greatest number. Longer ones, and arcs of infinite weight, are none.
func TestFloatPathsThatAreTooLong(t *testing.T) {
	d := testdevice.Open(t)
	e := &edges{name: "too long", vertices: 8}
	e.addFloat(0, 1, math.MaxFloat32/2)
	e.addFloat(1, 2, math.MaxFloat32/2)
	e.addFloat(2, 3, math.MaxFloat32/(1<<26)) // it is absorbed
	e.addFloat(2, 4, math.MaxFloat32/(1<<24))
	e.addFloat(0, 5, infinity)
	e.addFloat(5, 6, 0)
	e.addFloat(0, 7, infinity)
	e.addFloat(1, 7, minusZero)
	half, most := float32(math.MaxFloat32/2), float32(math.MaxFloat32)
	for _, a := range []*Analyzer{e.analyzer(t, d), e.worn(t, d)} {
		for _, delta := range []float64{0, 1, 1e38, 1e300} {
			r, err := a.SSSP(t.Context(), 0, SSSPOptions{FloatWeights: true, Delta: delta, Parents: true})
			require.NoError(t, err)
			require.Equal(t, []float32{0, half, most, most, infinity, infinity, infinity, half}, r.FloatDistances)
			require.Equal(t, []uint32{0, 0, 1, 2, Unreached, Unreached, Unreached, 1}, r.Parents)
		}
	}
}

// Weights that are negative or no numbers are errors that name the arc, unless no path leads there. The next call is
// not concerned.
func TestInvalidFloatWeights(t *testing.T) {
	d := testdevice.Open(t)
	for _, w := range []float32{-1, -infinity, nan, math.Float32frombits(0xffffffff), -math.SmallestNonzeroFloat32,
		math.Float32frombits(0x7f800001)} {
		for _, undirected := range []bool{false, true} {
			e := path(40, undirected).with("invalid", func() float32 { return 0.5 })
			e.w[20] = math.Float32bits(w)
			for _, a := range []*Analyzer{e.analyzer(t, d), e.worn(t, d)} {
				for _, delta := range []float64{0, 0.1, math.Inf(1)} {
					_, err := a.SSSP(t.Context(), 0, SSSPOptions{FloatWeights: true, Delta: delta, Parents: true})
					var wrong *WeightError
					require.ErrorAs(t, err, &wrong, "%g", w)
					require.Equal(t, []uint32{20, 21, math.Float32bits(w)},
						[]uint32{wrong.From, wrong.To, math.Float32bits(wrong.Weight)})
					if undirected {
						continue
					}
					r, err := a.SSSP(t.Context(), 21, SSSPOptions{FloatWeights: true, Delta: delta})
					require.NoError(t, err)
					require.EqualValues(t, 9, r.FloatDistances[39])
					require.Equal(t, infinity, r.FloatDistances[20])
				}
			}
		}
	}
}

// Widths of buckets that are none are errors, and others have no effect on distances.
func TestDeltaIsChecked(t *testing.T) {
	e := path(9, true)
	a := e.analyzer(t, testdevice.Open(t))
	for _, floats := range []bool{false, true} {
		for _, delta := range []float64{-1, math.Inf(-1), math.NaN()} {
			_, err := a.SSSP(t.Context(), 0, SSSPOptions{Delta: delta, FloatWeights: floats})
			var option *vk.OptionError
			require.ErrorAs(t, err, &option)
			require.Equal(t, "Delta", option.Option)
		}
	}
	for _, delta := range []float64{1e-300, 0.4, 1 << 40, math.Inf(1)} {
		r, err := a.SSSP(t.Context(), 0, SSSPOptions{Delta: delta})
		require.NoError(t, err)
		require.Equal(t, dijkstra(e.rows(), 0), r.Distances)
		require.Nil(t, r.FloatDistances)
	}
}

// Without weights each arc has weight 1.
func TestFloatsWithoutWeights(t *testing.T) {
	e := path(300, true)
	a := e.fresh(t, testdevice.Open(t))
	r, err := a.SSSP(t.Context(), 7, SSSPOptions{FloatWeights: true, Parents: true})
	require.NoError(t, err)
	require.EqualValues(t, 292, r.FloatDistances[299])
	require.Len(t, Path(r.Parents, 299), 293)
}

// Floats take as many rounds as integers of the same values: the buckets are as wide.
func TestBucketsOfFloats(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(32, 3))
	for _, e := range []*edges{grid(60, rng), rmat(11, 16, rng)} {
		i := 0
		floats := e.with("floats", func() float32 {
			i++
			if i%3 == 0 {
				e.w[i-1] = 0
			}
			return float32(e.w[i-1])
		})
		for _, of := range []func(*edges, testing.TB, *vk.Device) *Analyzer{(*edges).analyzer, (*edges).worn} {
			want, err := of(e, t, d).SSSP(t.Context(), 0, SSSPOptions{})
			require.NoError(t, err)
			got, err := of(floats, t, d).SSSP(t.Context(), 0, SSSPOptions{FloatWeights: true})
			require.NoError(t, err)
			require.LessOrEqual(t, got.Rounds, 2*want.Rounds, e.name)
			require.GreaterOrEqual(t, 2*got.Rounds, want.Rounds, e.name)
		}
	}
}

// Wherever arcs and weights above 0 are, the number of rounds does not grow with the number of distances: of floats and
// of integers, of rows and of a live graph that has lost most edges.
func TestSampleOfWeights(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(32, 5))
	half := &edges{name: "arcs in the second half only", vertices: 8191}
	odd := &edges{name: "arcs of odd vertices at the ends of parts only", vertices: 1 << 19}
	hub := &edges{name: "first arcs of weight 0", vertices: 4096}
	zeros := &edges{name: "weights above 0 are not sampled", vertices: 1 << 14}
	some := func() int { return 128*rng.IntN(512) + 65 + 2*rng.IntN(31) }
	for range 1 << 15 {
		half.addFloat(4096+rng.IntN(4095), 4096+rng.IntN(4095), 0.5+rng.Float32())
		for range 4 {
			odd.addFloat(some(), some(), 0.5+rng.Float32())
		}
	}
	for v := range hub.vertices {
		hub.addFloat(v, 0, 0)
		for range 8 {
			hub.addFloat(v, 1+rng.IntN(hub.vertices-1), 0.5+rng.Float32())
		}
	}
	for v := range zeros.vertices {
		for range 4 {
			w := rng.Float32()
			if v%4 == 0 { // the first one of each part
				w = 0
			}
			zeros.addFloat(v, rng.IntN(zeros.vertices), w)
		}
	}
	for _, e := range []*edges{half, odd, hub, zeros} {
		source := e.from[len(e.from)-1]
		want := dijkstraOfFloats(e.rows(), source)
		all := []*Analyzer{e.analyzer(t, d)}
		if e.vertices < 1<<16 {
			all = append(all, e.worn(t, d))
		}
		for _, a := range all {
			r, err := a.SSSP(t.Context(), source, SSSPOptions{FloatWeights: true})
			require.NoError(t, err)
			require.True(t, slices.Equal(want, r.FloatDistances), e.name)
			require.Less(t, r.Rounds, 200, e.name)
		}
		whole := *e
		whole.w = numbers.Each(e.w, func(w uint32) uint32 { return uint32(1000 * math.Float32frombits(w)) })
		all = []*Analyzer{whole.analyzer(t, d)}
		if e.vertices < 1<<16 {
			all = append(all, whole.worn(t, d))
		}
		for _, a := range all {
			r, err := a.SSSP(t.Context(), source, SSSPOptions{})
			require.NoError(t, err)
			require.Equal(t, dijkstra(whole.rows(), source), r.Distances, e.name)
			require.Less(t, r.Rounds, 200, e.name)
		}
	}
}

// The weights of a live graph that has lost the oldest edges of each vertex are found after the erased slots. Those of
// the edges that are gone don't count, nor do weights that are on no path.
func TestSampleOfLastEdges(t *testing.T) {
	d := testdevice.Open(t)
	for _, floats := range []bool{false, true} {
		weight, none := uint32(1000), uint32(math.MaxUint32)
		if floats {
			weight, none = math.Float32bits(1000), math.Float32bits(infinity)
		}
		const n = 5000
		old, now := &edges{vertices: n}, &edges{vertices: n}
		for v := range n {
			for i := 1; i <= 20; i++ {
				old.add(v, (v+i)%n, 1)
			}
			for i := 21; i <= 25; i++ {
				now.add(v, (v+i)%n, weight)
			}
			now.add(v, (v+26)%n, none)
		}
		g, a := live(t, d, now.options(true))
		insert(t, g, old.between(0, len(old.from), true))
		insert(t, g, now.between(0, len(now.from), true))
		_, err := g.DeleteEdges(t.Context(), old.between(0, len(old.from), false))
		require.NoError(t, err)
		for _, a := range []*Analyzer{a, now.analyzer(t, d)} {
			mean, err := a.MeanWeight(t.Context(), floats)
			require.NoError(t, err)
			require.EqualValues(t, 1000, mean)
		}
	}
}

// A live graph keeps floats: its edges have the weights that were inserted, and those that updates lower. Distances
// follow.
func TestFloatsOfLiveGraph(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(32, 4))
	for _, undirected := range []bool{false, true} {
		e := random(rng, 500, 2500, undirected).with("live", rng.Float32)
		g, a := live(t, d, e.options(true))
		insert(t, g, e.between(0, len(e.from), true))
		now := map[[2]uint32]float32{}
		key := func(i int) [2]uint32 {
			from, to := e.from[i], e.to[i]
			if undirected {
				from, to = min(from, to), max(from, to)
			}
			return [2]uint32{from, to}
		}
		for i := range e.from {
			now[key(i)] = math.Float32frombits(e.w[i])
		}
		compare := func() {
			t.Helper()
			left := &edges{vertices: e.vertices, undirected: undirected}
			for arc, w := range now {
				left.addFloat(int(arc[0]), int(arc[1]), w)
			}
			r, err := a.SSSP(t.Context(), 7, SSSPOptions{FloatWeights: true, Parents: true})
			require.NoError(t, err)
			require.Equal(t, dijkstraOfFloats(left.rows(), 7), r.FloatDistances)
			requireFloatPaths(t, left.rows(), 7, r)
		}
		compare()
		weights := make([]float32, len(e.from))
		for i := range weights {
			weights[i] = rng.Float32()
			now[key(i)] = min(now[key(i)], weights[i])
		}
		require.NoError(t, g.UpdateEdgesInto(t.Context(), structures.InsertMin,
			graph.Edges{From: e.from, To: e.to, Weights: graph.Float32Bits(weights)}, nil))
		compare()
		some := e.between(0, 900, false)
		_, err := g.DeleteEdges(t.Context(), some)
		require.NoError(t, err)
		for i := range 900 {
			delete(now, key(i))
		}
		compare()
	}
}

// Distances are gonum's, by weights whose sums are exact.
func TestFloatDistancesOfGonum(t *testing.T) {
	var all []*edges
	whole := map[*edges]*edges{}
	for _, e := range shapes() {
		if e.vertices <= 1000 {
			i := 0
			eighths := e.with("eighths", func() float32 { i++; return float32(e.w[i-1]) / 8 })
			whole[eighths], all = e, append(all, eighths)
		}
	}
	eachForm(t, all, true, func(t *testing.T, e *edges, a *Analyzer) {
		arcs, _ := whole[e].gonumGraphs()
		paths := shortest.DijkstraFrom(simple.Node(e.vertices/3), arcs)
		r, err := a.SSSP(t.Context(), uint32(e.vertices/3), SSSPOptions{FloatWeights: true})
		require.NoError(t, err)
		for v, d := range r.FloatDistances {
			require.EqualValues(t, paths.WeightTo(int64(v))/8, d, "to %d", v)
		}
	})
}
