package conformance

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

// mesh is what there is to know of an unstructured mesh here: the words of its vertices' x coordinates, and the edges
// of its cells, those that cells share as often as they have them.
type mesh struct {
	x     []uint32
	edges [][2]uint32
}

// cell adds the edges of a cell of these vertices, numbered from first on: a tetrahedron's or a polygon's.
func (m *mesh) cell(t *testing.T, vertices []string, first int, tetrahedron bool) {
	v := make([]uint32, len(vertices))
	for i, text := range vertices {
		text, _, _ = strings.Cut(text, "/") // of .obj, what comes then is texture and such
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		require.True(t, n >= first && n-first < len(m.x), "vertex %d", n)
		v[i] = uint32(n - first)
	}
	if tetrahedron {
		m.edges = append(m.edges, [2]uint32{v[0], v[2]}, [2]uint32{v[1], v[3]})
	}
	for i := range v {
		m.edges = append(m.edges, [2]uint32{v[i], v[(i+1)%len(v)]})
	}
}

// load reads a mesh: .msh of Gmsh 2, .mesh of Medit, .obj or .off, each in text and perhaps compressed. Of meshes of
// tetrahedra the triangles that are listed beside are left out.
func load(t *testing.T, path string) (m mesh) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		path = strings.TrimSuffix(path, ".gz")
		r, err = gzip.NewReader(f)
		require.NoError(t, err)
	}
	vertex := func(x string) {
		w, err := keytype.Float32.Parse(x)
		require.NoError(t, err)
		m.x = append(m.x, uint32(w))
	}
	section, vertices := "", -1
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		field := strings.Fields(lines.Text())
		if len(field) == 0 {
			continue
		}
		switch filepath.Ext(path) {
		case ".obj":
			switch field[0] {
			case "v":
				vertex(field[1])
			case "f":
				m.cell(t, field[1:], 1, false)
			}
		case ".off":
			switch {
			case field[0] == "OFF":
			case vertices < 0:
				vertices, err = strconv.Atoi(field[0])
				require.NoError(t, err)
			case len(m.x) < vertices:
				vertex(field[0])
			default:
				m.cell(t, field[1:], 0, false)
			}
		case ".mesh":
			switch {
			case field[0][0] >= 'A':
				section = field[0]
			case len(field) == 1: // how many come
			case section == "Vertices":
				vertex(field[0])
			case section == "Tetrahedra":
				m.cell(t, field[:4], 1, true)
			}
		case ".msh":
			switch {
			case field[0][0] == '$':
				section = field[0]
			case len(field) == 1:
			case section == "$Nodes":
				require.Equal(t, strconv.Itoa(len(m.x)+1), field[0])
				vertex(field[1])
			case section == "$Elements": // number, type, how many tags, tags, vertices
				tags, err := strconv.Atoi(field[2])
				require.NoError(t, err)
				switch field[1] {
				case "2", "3", "4":
					m.cell(t, field[3+tags:], 1, field[1] == "4")
				}
			}
		}
	}
	require.NoError(t, lines.Err())
	return m
}

// meshes are all meshes, with what is known of them: vertices that cells have, edges, and the least and greatest number
// of edges at a vertex.
var meshes = []struct {
	path                         string
	vertices, edges, least, most int
}{
	{"hybrid_triquad.msh", 48, 102, 2, 8},
	{"mesh-3d-box-innersphere.msh.gz", 150, 810, 6, 48},
	{"mesh-octopus-low-tet/octopus-low.mesh.gz", 452, 2040, 3, 22},
	{"mesh-spot/spot.obj.gz", 2930, 8784, 4, 8},
	{"mesh-elephant/elephant.obj.gz", 6034, 18096, 4, 10},
	{"mesh-fandisk/fandisk.obj.gz", 6475, 19419, 3, 9},
	{"mesh-rocker-arm/rocker-arm.obj.gz", 10044, 30132, 3, 12},
	{"mesh-camelhead/camelhead.off.gz", 11381, 34084, 3, 10},
	{"mesh-bunny-tet/bunny.mesh.gz", 5433, 39822, 5, 58},
	{"mesh-stanford-bunny/stanford-bunny.obj.gz", 34834, 104288, 2, 11},
	{"mesh-nefertiti/nefertiti.obj.gz", 49971, 149907, 3, 12},
}

// find returns where a mesh is: those in a folder of their own are not shipped (VKDS_DATA, or ../shared/data).
func find(t *testing.T, path string) string {
	if filepath.Dir(path) == "." {
		return filepath.Join("..", "..", "testdata", path)
	}
	data := os.Getenv("VKDS_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "shared", "data")
	}
	path = filepath.Join(data, path)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real data beside those in testdata: %v (set VKDS_DATA to their folder)", err)
	}
	return path
}

// Meshes are what the B-trees of a thesis (Duong 2021) were made for: the edges of their cells come many times in a
// batch, nearly in order, and the edges at a vertex are a range. Then the same with keys that are coordinates.
func TestMeshes(t *testing.T) {
	pass.OneWidth(t, "sequences are tried at all widths")
	d := testdevice.Open(t)
	ordered := orderedSubjects[uint32]()
	for i, s := range ordered {
		t.Run(s.name, func(t *testing.T) {
			dictionary, err := s.open(t.Context(), d, shape{tile: 1, size: 45, fill: 0.7})
			require.NoError(t, err)
			defer func() { require.NoError(t, dictionary.Close()) }()
			for j, known := range meshes {
				if filepath.Dir(known.path) != "." && j%len(ordered) != i {
					continue // of those that are not shipped, each subject takes some
				}
				t.Run(strings.TrimSuffix(filepath.Base(known.path), ".gz"), func(t *testing.T) {
					m := load(t, find(t, known.path))
					keys, degree := m.arcs()
					used := slices.DeleteFunc(slices.Clone(degree), func(n uint32) bool { return n == 0 })
					arcs := slices.Compact(slices.Sorted(slices.Values(keys)))
					require.Equal(t, []int{known.vertices, 2 * known.edges, known.least, known.most},
						[]int{len(used), len(arcs), int(slices.Min(used)), int(slices.Max(used))})
					require.NoError(t, dictionary.Clear(t.Context()))
					edgesOf(t, dictionary.(inOrder[uint32]), keys, degree)
					coordinatesOf(t, dictionary.(inOrder[uint32]), m.x)
					if s.check != nil {
						s.check(t, d, dictionary)
					}
				})
			}
		})
	}
}

// arcs are the keys of all edges, in both directions and as often as cells have them, and how many a vertex has.
func (m *mesh) arcs() (keys, degree []uint32) {
	seen, degree := map[uint32]bool{}, make([]uint32, len(m.x))
	for _, e := range m.edges {
		for _, arc := range []uint32{e[0]<<16 | e[1], e[1]<<16 | e[0]} {
			keys = append(keys, arc)
			if !seen[arc] {
				seen[arc] = true
				degree[arc>>16]++
			}
		}
	}
	return keys, degree
}

// mark is a value that goes with a key.
func mark(key uint32) uint32 { return key*0x9e3779b1 ^ 0x55555555 }

// edgesOf has a dictionary keep edges, and tell those of each vertex, before and after every third vertex has gone.
func edgesOf(t *testing.T, dictionary inOrder[uint32], keys, degree []uint32) {
	ctx := t.Context()
	values := make([]uint32, len(keys))
	for i, k := range keys {
		values[i] = mark(k)
	}
	status, err := dictionary.Insert(ctx, keys, values)
	require.NoError(t, err)
	total, inserted := 0, 0
	for _, n := range degree {
		total += int(n)
	}
	for i, s := range status {
		if s == structures.Inserted {
			inserted++
		} else if s != structures.Assigned {
			t.Fatalf("edge %#x: %v", keys[i], s)
		}
	}
	require.Equal(t, total, inserted)
	at := make([]Range[uint32], len(degree))
	for v := range at {
		at[v] = Range[uint32]{Lo: uint32(v) << 16, Hi: uint32(v)<<16 | 0xffff}
	}
	require.Empty(t, compare(ctx, dictionary, at, keys, degree, func(uint32) bool { return true }))

	stays := func(arc uint32) bool { return arc>>16%3 != 0 && arc&0xffff%3 != 0 }
	var gone []uint32
	for _, k := range keys {
		if !stays(k) {
			gone = append(gone, k)
		}
	}
	_, err = dictionary.Delete(ctx, gone)
	require.NoError(t, err)
	require.Empty(t, compare(ctx, dictionary, at, keys, nil, stays))
}

// coordinatesOf has a dictionary keep coordinates, and look for the next one of each middle between two vertices.
func coordinatesOf(t *testing.T, dictionary inOrder[uint32], x []uint32) {
	ctx := t.Context()
	require.NoError(t, dictionary.Clear(ctx))
	values := make([]uint32, len(x))
	for i, k := range x {
		values[i] = mark(k)
	}
	_, err := dictionary.Insert(ctx, x, values)
	require.NoError(t, err)
	all := slices.Clone(x)
	slices.Sort(all)
	all = slices.Compact(all)
	n, err := dictionary.Len(ctx)
	require.NoError(t, err)
	require.EqualValues(t, len(all), n)
	asked := make([]uint32, len(x))
	for i := range asked {
		asked[i] = uint32((uint64(x[i]) + uint64(x[(i+7)%len(x)])) / 2)
	}
	floors, err := dictionary.Neighbor(ctx, structures.Floor, asked)
	require.NoError(t, err)
	ceils, err := dictionary.Neighbor(ctx, structures.Ceil, asked)
	require.NoError(t, err)
	for i, k := range asked {
		at, there := slices.BinarySearch(all, k)
		if ceils.Keys[i] != all[at] || ceils.Values[i] != mark(all[at]) || !ceils.Found[i] {
			t.Fatalf("ceil(%#x): %#x, want %#x", k, ceils.Keys[i], all[at])
		}
		if !there {
			at--
		}
		if floors.Keys[i] != all[at] || floors.Values[i] != mark(all[at]) || !floors.Found[i] {
			t.Fatalf("floor(%#x): %#x, want %#x", k, floors.Keys[i], all[at])
		}
	}
}

// compare says what is wrong with the edges that a dictionary tells of each vertex; degree, if not nil, is how many
// there are.
func compare(ctx context.Context, dictionary inOrder[uint32], at []Range[uint32], keys, degree []uint32,
	stays func(arc uint32) bool) string {
	counts, err := dictionary.Count(ctx, at)
	if err != nil {
		return err.Error()
	}
	got, err := dictionary.Range(ctx, at)
	if err != nil {
		return err.Error()
	}
	want := slices.Clone(keys)
	slices.Sort(want)
	want = slices.DeleteFunc(slices.Compact(want), func(k uint32) bool { return !stays(k) })
	if !slices.Equal(want, got.Keys) {
		return fmt.Sprintf("%d edges, want %d, or others", len(got.Keys), len(want))
	}
	for v := range at {
		if n := got.Offsets[v+1] - got.Offsets[v]; n != uint64(counts[v]) || degree != nil && counts[v] != degree[v] {
			return fmt.Sprintf("vertex %d: %d edges listed, %d counted", v, n, counts[v])
		}
	}
	for i, k := range got.Keys {
		if got.Values[i] != mark(k) {
			return fmt.Sprintf("edge %#x: value %#x, want %#x", k, got.Values[i], mark(k))
		}
	}
	return ""
}
