package main

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The edges that came and have not gone are those of the last rows, whatever the sizes of batch and window, and each
// change is one.
func TestWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		size, vertices := 1+random.IntN(40), 1+random.Uint32N(12)
		w, there, rows := newEdgeWindow(size), map[windowEdge]bool{}, []windowEdge{}
		for range 20 {
			var from, to []uint32
			for range random.IntN(60) {
				u, v := random.Uint32N(vertices), random.Uint32N(vertices)
				from, to = append(from, u), append(to, v)
				rows = append(rows, windowEdge{min(u, v), max(u, v)})
			}
			come, gone := w.Add(from, to)
			for i, u := range gone.From {
				one := windowEdge{u, gone.To[i]}
				require.True(t, there[one])
				delete(there, one)
			}
			for i, u := range come.From {
				one := windowEdge{u, come.To[i]}
				require.False(t, there[one])
				there[one] = true
			}
			want, ends := map[windowEdge]bool{}, map[uint32]bool{}
			for _, row := range rows[max(0, len(rows)-size):] {
				if ends[row.from], ends[row.to] = true, true; row.from != row.to {
					want[row] = true
				}
			}
			require.Equal(t, want, there)
			require.Equal(t, len(ends), w.Vertices())
		}
	}
}

// A picture is drawn of any steps, also of none and of a graph without triangles.
func TestDraw(t *testing.T) {
	for _, steps := range [][]replayStep{nil, {{Rows: 1}}, {{Rows: 5, Vertices: 2, Edges: 1, Components: 1}},
		{{Rows: 5, Vertices: 3, Edges: 3, Components: 1, Triangles: 1}, {Rows: 10, Vertices: 5, Edges: 9, Components: 1,
			Triangles: 7}}} {
		for format, begins := range map[string]string{"svg": "<?xml", "png": "\x89PNG", "pdf": "%PDF"} {
			var picture bytes.Buffer
			require.NoError(t, drawReplay(&picture, "a graph", steps, format))
			assert.True(t, bytes.HasPrefix(picture.Bytes(), []byte(begins)))
		}
	}
	assert.Error(t, drawReplay(&bytes.Buffer{}, "", nil, "docx"))
}
