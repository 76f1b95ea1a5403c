package shader

import (
	"context"
	"maps"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/vk"
)

const devicePage = "../../docs/device-side.md"

var fences = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```")

// onPage returns the pieces of code on the page that are in a language.
func onPage(t *testing.T, language string) []string {
	page, err := os.ReadFile(devicePage)
	require.NoError(t, err)
	var pieces []string
	for _, m := range fences.FindAllStringSubmatch(string(page), -1) {
		if m[1] == language {
			pieces = append(pieces, m[2])
		}
	}
	return pieces
}

// compileFromPage compiles the shader of that name on the page, as its readers are told to.
func compileFromPage(t *testing.T, name string, wide bool, flags ...string) shaders.Module {
	t.Helper()
	glslang, err := exec.LookPath("glslangValidator")
	if err != nil {
		t.Skip("no glslangValidator here (on Debian the package glslang-tools), so the page's shaders are not compiled")
	}
	at := slices.IndexFunc(onPage(t, "glsl"), func(piece string) bool {
		return strings.HasPrefix(piece, "// "+name+"\n")
	})
	require.GreaterOrEqual(t, at, 0, "%s has no %s", devicePage, name)
	folder := t.TempDir()
	source, out := filepath.Join(folder, name), filepath.Join(folder, name+".spv")
	require.NoError(t, os.WriteFile(source, []byte(onPage(t, "glsl")[at]), 0o644))
	include := filepath.Join(folder, "include")
	require.NoError(t, os.CopyFS(include, shaders.Headers()))
	arguments := append(flags, "--target-env", "vulkan1.3", "-I"+include, "-o", out, source)
	if wide {
		arguments = append([]string{"-DVKDS_INT64_ATOMICS=1"}, arguments...)
	}
	messages, err := exec.Command(glslang, arguments...).CombinedOutput()
	require.NoError(t, err, "%s", messages)
	code, err := os.ReadFile(out)
	require.NoError(t, err)
	return shaders.Module{Name: name, Code: code}
}

// The page's first shader, which has no host side, compiles.
func TestFirstShaderOfThePage(t *testing.T) {
	compileFromPage(t, "look.comp", false)
}

type salesPush struct {
	RegionOf slabhash.Description
	Totals   slabhash.Description
	Sales    uint64
	Count    uint32
}

// addSales is the page's host side.
func addSales(ctx context.Context, d *vk.Device, stream *vk.Stream, module shaders.Module, pool *alloc.SlabPool,
	regionOf, totals *slabhash.Map[uint32, uint32], sales *vk.Buffer[uint32], count int) error {
	for {
		k, err := vk.NewKernel[salesPush](d, module, vk.KernelOptions{Constants: totals.InShaders().Constants()})
		if err != nil {
			return err
		}
		stream.Fill(sales, 0, 1, 0) // the counter of sales that are left
		k.Dispatch(stream, (count+k.Workgroup()-1)/k.Workgroup(),
			salesPush{regionOf.InShaders().Description(), totals.InShaders().Description(), sales.Address(),
				uint32(count)})
		err = stream.Wait(ctx)
		k.Free()
		if err != nil {
			return err
		}
		var left [1]uint32
		if err := sales.Download(ctx, 0, left[:]); err != nil {
			return err
		}
		if left[0] == 0 {
			return nil
		}
		if err := pool.Grow(ctx, 1); err != nil {
			return err
		}
	}
}

type overPush struct {
	Hash            slabhash.Description
	List            uint64
	Capacity, Bound uint32
}

// The shaders on the page compile and do what it says: a join and a sum over a pool that has to grow several times, and
// a walk over the result.
func TestPageShaders(t *testing.T) {
	pass.OneDriver(t, "at 4 lanes lavapipe finds the same, without compiling for long")
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		const customers, count = 40000, 60000
		ctx, rnd := t.Context(), random(9)
		salesModule, overModule := compileFromPage(t, "sales.comp", wide), compileFromPage(t, "over.comp", wide)

		pool, err := alloc.NewSlabPool(ctx, r.d, alloc.PoolOptions{SuperShift: 2})
		require.NoError(t, err)
		defer pool.Close()
		regionOf, err := slabhash.New[uint32, uint32](ctx, r.d, slabhash.Options{Pool: pool, Buckets: 300, MaxLoad: -1})
		require.NoError(t, err)
		defer regionOf.Close()
		totals, err := slabhash.New[uint32, uint32](ctx, r.d, slabhash.Options{Pool: pool, Buckets: 150, MaxLoad: -1})
		require.NoError(t, err)
		defer totals.Close()

		keys, values := make([]uint32, customers), make([]uint32, customers)
		region := map[uint32]uint32{}
		for i := range keys {
			keys[i], values[i] = ^uint32(i), rnd.Uint32()
			region[keys[i]] = values[i]
		}
		_, err = regionOf.Insert(ctx, keys, values)
		require.NoError(t, err)
		require.True(t, pool.Light())

		words := make([]uint32, 4+4*count)
		want, states := map[uint32]uint32{}, make([]uint32, count)
		for i := range count {
			customer, amount := ^rnd.Uint32N(customers+500), rnd.Uint32N(1000)
			words[4+4*i], words[4+4*i+1] = customer, amount
			states[i] = 2
			if to, ok := region[customer]; ok {
				want[to] += amount
				states[i] = 1
			}
		}
		sales := put(r, words)
		require.NoError(t, addSales(ctx, r.d, r.s, salesModule, pool, regionOf, totals, sales, count))
		for i, word := range get(r, sales)[4:] {
			if i%4 == 2 {
				require.Equal(t, states[i/4], word, "state of sale %d", i/4)
			}
		}
		require.False(t, pool.Light(), "the pool had to grow, beyond one super block")
		gotKeys, gotValues, err := numbers.All(ctx, totals)
		require.NoError(t, err)
		got := map[uint32]uint32{}
		for i, key := range gotKeys {
			got[key] = gotValues[i]
		}
		require.Len(t, gotKeys, len(got), "a key twice")
		require.Equal(t, want, got)

		r.eachWidth(func(t *testing.T, width int) {
			constants := totals.InShaders().Constants()
			constants["TILE"] = uint32(width)
			k, err := vk.NewKernel[overPush](r.d, overModule, vk.KernelOptions{Constants: constants})
			require.NoError(t, err)
			defer k.Free()
			const bound = 1500
			list := put(r, make([]uint32, 2+2*customers))
			table := totals.InShaders().Description()
			run(r, k, int(table.Buckets)*width, overPush{table, list.Address(), customers, bound})
			found := get(r, list)
			over := map[uint32]uint32{}
			for i := range found[0] {
				over[found[2+2*i]] = found[3+2*i]
			}
			require.EqualValues(t, found[0], len(over))
			expected := map[uint32]uint32{}
			for to, sum := range want {
				if sum > bound {
					expected[to] = sum
				}
			}
			require.NotEmpty(t, expected)
			require.Equal(t, expected, over)
		})
	})
}

type edgesPush struct {
	Pool     alloc.PoolDescription
	Vertices uint64
	Edges    uint64
	Pending  uint64
	Count    uint32
}

// addEdges is the page's host side of its kernel on the adjacency of a graph. It returns by how many neighbours
// vertices have more.
func addEdges(ctx context.Context, d *vk.Device, stream *vk.Stream, module shaders.Module, pool *alloc.SlabPool,
	vertices, edges, pending *vk.Buffer[uint32], count int) (int, error) {
	stream.Fill(vertices, 0, vertices.Len(), ^uint32(0)) // no vertex has a neighbour
	_, tile, _ := slabhash.Tiles(d)
	for {
		constants := pool.Constants()
		constants["TILE"] = uint32(tile)
		k, err := vk.NewKernel[edgesPush](d, module, vk.KernelOptions{Constants: constants})
		if err != nil {
			return 0, err
		}
		stream.Fill(pending, 0, 1, 0)
		k.Dispatch(stream, (count+k.Workgroup()-1)/k.Workgroup(), edgesPush{
			pool.Description(), vertices.Address(), edges.Address(), pending.Address(), uint32(count),
		})
		err = stream.Wait(ctx)
		k.Free()
		if err != nil {
			return 0, err
		}
		var counters [2]uint32 // left, and adjacencies that have become longer
		if err := pending.Download(ctx, 0, counters[:]); err != nil {
			return 0, err
		}
		if counters[0] == 0 {
			return int(counters[1]), nil
		}
		if err := pool.Grow(ctx, 1); err != nil {
			return 0, err
		}
	}
}

type neighborsPush struct {
	Pool           alloc.PoolDescription
	Vertices, Sums uint64
	Count          uint32
}

// The page's graph has each edge at both ends, once: in a pool that has to grow, with a vertex of many neighbours,
// vertices of one, and vertices of none, which take no slab.
func TestPageGraph(t *testing.T) {
	pass.OneDriver(t, "at 4 lanes lavapipe finds the same, without compiling for long")
	const vertices, some = 12_000, 18_000
	r, ctx, rnd := newRig(t), t.Context(), random(14)
	edgesModule, neighborsModule := compileFromPage(t, "edges.comp", false), compileFromPage(t, "neighbors.comp", false)
	pool, err := alloc.NewSlabPool(ctx, r.d, alloc.PoolOptions{SuperShift: 2})
	require.NoError(t, err)
	defer pool.Close()
	words := make([]uint32, 0, 2*some)
	neighbors := make([]map[uint32]bool, vertices)
	for i := range vertices {
		neighbors[i] = map[uint32]bool{}
	}
	for range some {
		a, b := 2*rnd.Uint32N(vertices/2), 2*rnd.Uint32N(vertices/2)
		if rnd.IntN(4) == 0 {
			a = 0
		}
		words = append(words, a, b)
		neighbors[a][b], neighbors[b][a] = true, true
	}
	all, slabs, sums := 0, 0, make([]uint32, vertices)
	for i, of := range neighbors {
		all += len(of)
		slabs += (len(of) + 29) / 30
		for other := range of {
			sums[i] += other
		}
	}
	lists := put(r, make([]uint32, 2*vertices))
	longer, err := addEdges(ctx, r.d, r.s, edgesModule, pool, lists, put(r, words), put(r, []uint32{0, 0}), some)
	require.NoError(t, err)
	require.Equal(t, all, longer)
	require.False(t, pool.Light(), "the pool had to grow, beyond one super block")
	stats, err := pool.Stats(ctx)
	require.NoError(t, err)
	require.Equal(t, slabs, stats.Allocated)
	for _, width := range []int{1, 4} { // lanes a tile
		constants := pool.Constants()
		constants["TILE"] = uint32(width)
		k, err := vk.NewKernel[neighborsPush](r.d, neighborsModule, vk.KernelOptions{Constants: constants})
		require.NoError(t, err)
		defer k.Free()
		got := put(r, make([]uint32, vertices))
		run(r, k, vertices*width, neighborsPush{pool.Description(), lists.Address(), got.Address(), vertices})
		require.Equal(t, sums, get(r, got))
	}
}

type bookPush struct {
	Seats    btree.Description
	Requests uint64
	Waiting  uint64
	Count    uint32
}

// bookSeats is the page's host side of its kernel on a tree.
func bookSeats(ctx context.Context, d *vk.Device, stream *vk.Stream, module shaders.Module,
	seats *btree.Tree[uint32, uint32],
	requests, waiting *vk.Buffer[uint32], count int) error {
	k, err := vk.NewKernel[bookPush](d, module, vk.KernelOptions{Constants: seats.InShaders().Constants()})
	if err != nil {
		return err
	}
	defer k.Free()
	for left := []uint32{1}; left[0] != 0; {
		stream.Fill(waiting, 0, 1, 0)
		k.Dispatch(stream, (count+k.Workgroup()-1)/k.Workgroup(),
			bookPush{seats.InShaders().Description(), requests.Address(), waiting.Address(), uint32(count)})
		seats.InShaders().UsedOn(stream)
		if err := stream.Wait(ctx); err != nil {
			return err
		}
		if err := waiting.Download(ctx, 0, left); err != nil {
			return err
		}
	}
	return nil
}

// Many take seats at once: nobody gets one below what was asked for, none is given twice, who gets none would find
// none, and what is left is in the tree.
func TestPageTreeShader(t *testing.T) {
	pass.OneDriver(t, "at 4 lanes lavapipe finds the same, without compiling for long")
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		const count, some = 3000, 2500
		ctx, rnd := t.Context(), random(12)
		module := compileFromPage(t, "book.comp", wide, "-DVKDS_ROLLED=1")
		free := map[uint32]bool{}
		var keys []uint32
		for len(keys) < some {
			if key := rnd.Uint32N(1 << 20); !free[key] {
				free[key] = true
				keys = append(keys, key)
			}
		}
		seats, err := btree.Build(ctx, r.d, keys, keys, btree.Options{})
		require.NoError(t, err)
		defer seats.Close()
		words := make([]uint32, 2*count)
		for i := range count {
			words[2*i], words[2*i+1] = rnd.Uint32N(1<<20), ^uint32(0)
		}
		requests := put(r, words)
		require.NoError(t, bookSeats(ctx, r.d, r.s, module, seats, requests, put(r, []uint32{0}), count))

		got, refused := get(r, requests), []uint32{}
		for i := range count {
			least, seat := got[2*i], got[2*i+1]
			if seat == ^uint32(0)-1 {
				refused = append(refused, least)
				continue
			}
			require.GreaterOrEqual(t, seat, least)
			require.True(t, free[seat], "seat %d is none, or was given twice", seat)
			delete(free, seat)
		}
		require.NotEmpty(t, refused)
		left, _, err := numbers.All(ctx, seats)
		require.NoError(t, err)
		require.ElementsMatch(t, slices.Collect(maps.Keys(free)), left)
		require.NotEmpty(t, left)
		require.Less(t, slices.Max(left), slices.Min(refused))
		require.NoError(t, seats.Inspect().Check(ctx))
	})
}

// The Go on the page is that of tests in this folder, line by line.
func TestPageGo(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var tests []byte
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		tests = append(tests, source...)
	}
	lines := func(code string) (all []string) {
		for line := range strings.Lines(code) {
			all = append(all, strings.TrimSpace(line))
		}
		return all
	}
	pieces := onPage(t, "go")
	require.NotEmpty(t, pieces)
	for _, piece := range pieces {
		require.Contains(t, strings.Join(lines(string(tests)), "\n"), strings.Join(lines(piece), "\n"))
	}
}

type booksPush struct {
	Pool      alloc.PoolDescription
	Reclaimer alloc.ReclaimerDescription
	Books     uint64
	Requests  uint64
	Left      uint64
	Count     uint32
}

// answerBooks is the page's host side of its kernel on slabs that are replaced.
func answerBooks(ctx context.Context, d *vk.Device, stream *vk.Stream, module shaders.Module, pool *alloc.SlabPool,
	reclaimer *alloc.Reclaimer, books, requests, left *vk.Buffer[uint32], count int) error {
	for {
		k, err := vk.NewKernel[booksPush](d, module, vk.KernelOptions{Constants: pool.Constants()})
		if err != nil {
			return err
		}
		err = reclaimer.On(stream, func(pool alloc.PoolDescription, reclaimer alloc.ReclaimerDescription) error {
			stream.Fill(left, 0, 1, 0)
			k.Dispatch(stream, (count+k.Workgroup()-1)/k.Workgroup(), booksPush{pool, reclaimer,
				books.Address(), requests.Address(), left.Address(), uint32(count)})
			return nil
		})
		if err == nil {
			err = stream.Wait(ctx)
		}
		k.Free()
		if err != nil {
			return err
		}
		var waiting [1]uint32
		if err := left.Download(ctx, 0, waiting[:]); err != nil {
			return err
		}
		if waiting[0] == 0 {
			return nil
		}
		if err := pool.Grow(ctx, 1); err != nil {
			return err
		}
	}
}

// Each request to the page's order books puts a bit of its own at a price, or only asks: the answers about a book are
// those of some order of its requests, so each has all bits of those with fewer. No request is lost, the pool grows
// meanwhile, and holds the books' slabs and no others. With bags of one slab and with the usual ones.
func TestPageBooks(t *testing.T) {
	pass.OneDriver(t, "at 4 lanes lavapipe finds the same, without compiling for long")
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		const books = 1500
		rnd, module := random(11), compileFromPage(t, "books.comp", wide)
		for _, bag := range []int{1, 0} {
			pool, reclaimer := newReclaimed(t, r.d, alloc.PoolOptions{SuperShift: 2},
				alloc.ReclaimerOptions{BagSlabs: bag})
			var requests [][4]uint32
			for book := range uint32(books) {
				for price := range rnd.Uint32N(32) {
					requests = append(requests, [4]uint32{book, price, 1 << price, ^uint32(0)},
						[4]uint32{book, price, 0, ^uint32(0)})
				}
			}
			rnd.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
			var words []uint32
			for _, q := range requests {
				words = append(words, q[:]...)
			}
			slabs, asked := put(r, slices.Repeat([]uint32{slabNull}, books)), put(r, words)
			require.NoError(t, answerBooks(t.Context(), r.d, r.s, module, pool, reclaimer, slabs, asked,
				put(r, []uint32{0}), len(requests)))
			words = get(r, asked)
			answers, updates, held := make([][]uint32, books), 0, 0
			for i, q := range requests {
				answer := words[4*i+3]
				require.Equal(t, q[2], answer&q[2], "its own bit")
				answers[q[0]] = append(answers[q[0]], answer)
				if q[2] != 0 {
					updates++
				}
			}
			for book, all := range answers {
				slices.SortFunc(all, func(a, b uint32) int { return bits.OnesCount32(a) - bits.OnesCount32(b) })
				for i := range all[:max(len(all)-1, 0)] {
					require.Equal(t, all[i], all[i]&all[i+1], "book %d: %x", book, all)
				}
				if len(all) != 0 {
					held++
					require.Equal(t, uint32(1<<(len(all)/2)-1), all[len(all)-1], "an update is lost")
				}
			}
			is, err := pool.Stats(t.Context())
			require.NoError(t, err)
			require.Equal(t, held, is.Allocated)
			stats, err := reclaimer.Stats(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, updates-held, stats.Retired())
			require.False(t, pool.Light(), "the pool had to grow, beyond one super block")
		}
	})
}

type lookupIndex struct {
	Entries uint64 // of 8 bytes, 1<<Bits of them
	Bits    uint32
}

type lookupPush struct {
	Tree          btree.Description
	Index         lookupIndex
	Keys, Answers uint64
	Count         uint32
}

// lookUpThen looks keys up as they were at a snapshot.
func lookUpThen(stream *vk.Stream, at *btree.Snapshot[uint32, uint32], k *vk.Kernel[lookupPush],
	push lookupPush) error {
	return at.InShaders(stream, func(tree btree.Description) error {
		push.Tree = tree
		k.Dispatch(stream, (int(push.Count)+k.Workgroup()-1)/k.Workgroup(), push)
		return nil
	})
}

// The page's search at a snapshot finds what was there then, though all of it has another value now.
func TestPageSnapshot(t *testing.T) {
	pass.OneDriver(t, "at 4 lanes lavapipe finds the same, without compiling for long")
	r := newRig(t)
	module := compileFromPage(t, "lookup.comp", false, "-DVKDS_ROLLED=1", "-DVKDS_SNAPSHOT=1")
	first, keys, values, queries := pairsAndQueries(5, 2000)
	tree, err := btree.Build(t.Context(), r.d, keys, values, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	at, err := tree.Snapshot(t.Context())
	require.NoError(t, err)
	defer at.Close()
	k, err := vk.NewKernel[lookupPush](r.d, module, vk.KernelOptions{Constants: tree.InShaders().Constants()})
	require.NoError(t, err)
	defer k.Free()
	answers := put(r, make([]uint32, 2*len(queries)))
	push := lookupPush{Keys: put(r, queries).Address(), Answers: answers.Address(), Count: uint32(len(queries))}
	for range 2 { // nothing is changed yet, and then all
		require.NoError(t, lookUpThen(r.s, at, k, push))
		require.NoError(t, r.s.Wait(t.Context()))
		got := get(r, answers)
		for i, key := range queries {
			value, there := first[key]
			require.Equal(t, there, got[2*i] == 1, "key %d", key)
			require.Equal(t, value, got[2*i+1], "key %d", key)
		}
		_, err = tree.Insert(t.Context(), queries, queries)
		require.NoError(t, err)
	}
}

type arrivalsPush struct {
	Tree           btree.Description
	Arrivals, Left uint64
	Count          uint32
}

// arrive is the page's host side of its kernel that takes snapshots.
func arrive(ctx context.Context, d *vk.Device, stream *vk.Stream, module shaders.Module,
	tree *btree.Tree[uint32, uint32], arrivals, left *vk.Buffer[uint32], count int) error {
	for {
		k, err := vk.NewKernel[arrivalsPush](d, module, vk.KernelOptions{Constants: tree.InShaders().Constants()})
		if err != nil {
			return err
		}
		most := btree.Moving{Updates: count, Snapshots: count}
		err = tree.InShaders().On(stream, most, func(seen btree.Description) error {
			stream.Fill(left, 0, 1, 0)
			k.Dispatch(stream, (count+k.Workgroup()-1)/k.Workgroup(),
				arrivalsPush{seen, arrivals.Address(), left.Address(), uint32(count)})
			return nil
		})
		if err == nil {
			err = stream.Wait(ctx)
		}
		k.Free()
		if err != nil {
			return err
		}
		var waiting [1]uint32
		if err := left.Download(ctx, 0, waiting[:]); err != nil {
			return err
		}
		if waiting[0] == 0 {
			return nil
		}
		if err := tree.InShaders().Grow(ctx, int(waiting[0])); err != nil {
			return err
		}
	}
}

// What each of the page's arrivals counts is of one moment: those up to its number and those from it on are all, and
// itself twice. All are there at last, and no snapshot keeps anything.
func TestPageArrivals(t *testing.T) {
	pass.OneDriver(t, "at 4 lanes lavapipe finds the same, without compiling for long")
	r := newRig(t)
	const count = 1500
	module := compileFromPage(t, "arrivals.comp", false, "-DVKDS_ROLLED=1", "-DVKDS_CLOCK=1")
	tree, err := btree.New[uint32, uint32](t.Context(), r.d, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	rows := make([]uint32, 4*count)
	for i, key := range random(17).Perm(count) {
		rows[4*i] = uint32(key) * 7
	}
	arrivals, left := put(r, rows), put(r, []uint32{0})
	require.NoError(t, arrive(t.Context(), r.d, r.s, module, tree, arrivals, left, count))
	rows = get(r, arrivals)
	var totals []uint32
	for i := range count {
		row := rows[4*i:]
		require.Equal(t, row[3]+1, row[1]+row[2], "arrival %d", row[0])
		totals = append(totals, row[3])
	}
	require.EqualValues(t, count, slices.Max(totals))
	n, err := tree.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, count, n)
	require.NoError(t, tree.Inspect().Check(t.Context()))
	v, err := tree.Inspect().Versions(t.Context())
	require.NoError(t, err)
	require.Zero(t, v.Kept)
}

// By the page's prefix index each key is found, also where a prefix has many leaves or none of its own; and the index
// is what says where searches begin: one that leads beyond a key doesn't find it.
func TestPageTreeLookup(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		const some, bits = 6000, 6
		ctx, rnd := t.Context(), random(13)
		module := compileFromPage(t, "lookup.comp", wide, "-DVKDS_ROLLED=1")
		values := map[uint32]uint32{0: 1, ^uint32(0): 2}
		for len(values) < some {
			values[rnd.Uint32()>>(rnd.Uint32N(2)*12)] = rnd.Uint32() // half of them have one prefix
		}
		keys := slices.Collect(maps.Keys(values))
		stored := make([]uint32, len(keys))
		for i, key := range keys {
			stored[i] = values[key]
		}
		tree, err := btree.Build(ctx, r.d, keys, stored, btree.Options{})
		require.NoError(t, err)
		defer tree.Close()
		for range some {
			keys = append(keys, rnd.Uint32())
		}
		k, err := vk.NewKernel[lookupPush](r.d, module, vk.KernelOptions{Constants: tree.InShaders().Constants()})
		require.NoError(t, err)
		defer k.Free()
		entries, answers := put(r, make([]uint32, 2<<bits)), put(r, make([]uint32, 2*len(keys)))
		push := lookupPush{
			Tree: tree.InShaders().Description(), Index: lookupIndex{entries.Address(), bits}, Keys: put(r,
				keys).Address(),
			Answers: answers.Address(),
		}
		run(r, k, 1<<bits, push)
		push.Count = uint32(len(keys))
		run(r, k, len(keys), push)
		got := get(r, answers)
		for i, key := range keys {
			value, there := values[key]
			require.Equal(t, there, got[2*i] == 1, "key %d", key)
			require.Equal(t, value, got[2*i+1], "key %d", key)
		}

		index := get(r, entries)
		last := index[len(index)-2:]
		for i := range 1 << bits {
			copy(index[2*i:], last)
		}
		push.Index.Entries = put(r, index).Address()
		run(r, k, len(keys), push)
		require.Zero(t, get(r, answers)[2*slices.Index(keys, 0)], "the search for 0 did not begin where the index says")
	})
}
