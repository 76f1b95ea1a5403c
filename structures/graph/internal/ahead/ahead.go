// Package ahead is what package analytics asks of package graph to make kernels ahead. Package graph sets it when a
// program begins, and needn't have names for it that everybody sees. Graphs are *graph.Graph and *graph.CSR.
package ahead

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

var (
	// Forms are those of a Graph's pool. Errors: vk.ErrClosed, the context's.
	Forms func(ctx context.Context, g any) ([]recording.Form, error)
	// Small makes an empty Graph of a Graph's sort, over another pool, which takes the kernels that the one takes while
	// its pool is in a form. end closes both. Errors: those of graph.New.
	Small func(ctx context.Context, g any, form recording.Form) (small any, end func(), err error)
	// CSR does on a stream that records nothing what Graph.CSR does, without sorting, of a graph that has so many
	// vertices. The CSR says that it has them, in buffers that are too short. Errors: those of Graph.CSR.
	CSR func(ctx context.Context, s *vk.Stream, g any, vertices int) (csr any, err error)
	// Transpose does so with CSR.Transpose, of a CSR that has so many vertices and arcs.
	Transpose func(ctx context.Context, s *vk.Stream, csr any, vertices, arcs int) (transposed any, err error)
)
