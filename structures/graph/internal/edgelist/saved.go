package edgelist

import (
	"fmt"
	"io"

	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
)

// Deleted is the target of the arc that stands for a deleted vertex in a saved graph. No vertex has this number.
const Deleted = ^uint32(0)

// Header returns the header of a saved graph of that many pairs: edges and deleted vertices.
func (r Rules) Header(vertices int, load float64, pairs uint64) saved.Header {
	return saved.Header{Structure: saved.Graph, Pairs: int64(pairs),
		Parameters: map[string]float64{"vertices": float64(vertices), "load": load, "directed": number(r.Directed),
			"loops": number(r.SelfLoops)}}
}

// Columns returns the types of a saved graph's edges and weights.
func (r Rules) Columns() saved.Columns {
	return saved.Columns{Keys: saved.Keys[uint64](), Values: saved.Keys[uint32](), KeysOnly: !r.Weighted}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Reader reads a saved graph.
type Reader struct {
	Rules
	Vertices uint32
	Load     float64 // graph.Options.Load
	Pairs    int64   // edges and deleted vertices

	in *saved.Reader
}

// Open reads the header of a saved graph.
func Open(from io.Reader) (*Reader, error) {
	in, err := saved.NewReader(from)
	if err != nil {
		return nil, saved.Of(saved.Graph, err)
	}
	h := in.Header()
	n := h.Parameters["vertices"]
	if h.Structure != saved.Graph {
		err := &structures.SavedError{Err: fmt.Errorf("%w: it is a saved %s", structures.ErrNotSaved, h.Structure)}
		return nil, saved.Of(saved.Graph, err)
	}
	if !(n >= 0 && n <= MaxVertices) {
		return nil, &structures.SavedError{Err: fmt.Errorf("%w: %g vertices", structures.ErrCorrupt, n)}
	}
	r := &Reader{Rules{h.Parameters["directed"] != 0, !h.KeysOnly, h.Parameters["loops"] != 0}, uint32(n),
		h.Parameters["load"], h.Pairs, in}
	return r, in.As(r.Columns())
}

// Each calls insert with all edges, many at a time, and returns the deleted vertices.
func (r *Reader) Each(insert func(Edges) error) (deleted []uint32, err error) {
	const atOnce = 1 << 20
	keys, values := make([]uint64, atOnce), make([]uint64, atOnce)
	for {
		n, err := saved.ReadWords(r.in, keys, values)
		if err == io.EOF {
			return deleted, nil
		}
		if err != nil {
			return nil, saved.Of(saved.Graph, err)
		}
		var e Edges
		for i, key := range keys[:n] {
			from, to := Ends(key)
			if from >= r.Vertices || to >= r.Vertices && to != Deleted {
				return nil, &structures.SavedError{Err: fmt.Errorf("%w: an edge from %d to %d, of %d vertices",
					structures.ErrCorrupt, from, to, r.Vertices)}
			}
			if to == Deleted {
				deleted = append(deleted, from)
				continue
			}
			if e.From, e.To = append(e.From, from), append(e.To, to); r.Weighted {
				e.Weights = append(e.Weights, uint32(values[i]))
			}
		}
		if err := insert(e); err != nil {
			return nil, err
		}
	}
}
