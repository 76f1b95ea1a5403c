// Package saved tells which structure, of which types, a file has that Save of a structure or the command vkds has
// written. Load needs the types.
package saved

import (
	"io"

	"github.com/vkds/vkds/internal/engine/saved"
)

// Info describes a saved structure.
type Info struct {
	// Structure is "slabhash", "btree", "lsm", "sortedarray", "graph" or "filter". Each of the first four can load the
	// files of the others, and of a graph.
	Structure string
	// Key and Value are Go's names of the types, for example "int64", or "text" for texts of the command vkds. Value is
	// "" for a set, and both are if an earlier version saved no types. For a graph they are those of graph.Graph.Save.
	Key, Value string
	// Pairs is the number of pairs, or of the keys of a set. A filter does not have its keys, and Pairs is 0.
	Pairs int64
}

// ReadInfo reads the description at the beginning of a file, and no more. Seek back, or open the file again, to load
// it. The description may be damaged in a way that only Load notices: the checksum is right, but Pairs is not.
//
// Errors: *structures.SavedError, also for a graph.Named, whose files begin with its names; r's own.
func ReadInfo(r io.Reader) (Info, error) {
	in, err := saved.NewReader(r)
	if err != nil {
		return Info{}, err
	}
	h := in.Header()
	info := Info{Structure: h.Structure, Key: saved.GoName(h.KeyType), Value: saved.GoName(h.ValueType), Pairs: h.Pairs}
	if h.Structure == saved.Filter {
		info.Pairs = 0
	}
	return info, nil
}
