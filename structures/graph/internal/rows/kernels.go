package rows

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

const workgroup = 128

type keysPush struct {
	From, To, Weights, Keys, ArcWeights, Wrong uint64
	Edges, Vertices, Bits, Both                uint32
}

type markPush struct {
	Keys, Flags       uint64
	Arcs, Bits, Loops uint32
}

type rowsPush struct {
	Keys, Offsets, Targets uint64
	Wide, Weights          uint64
	Arcs, Vertices, Bits   uint32
}

type sourcesPush struct {
	Offsets, Targets, Weights uint64
	Vertices, Arcs            uint32
	Sources                   uint64
}

func keysKernel() recording.Spec[keysPush] {
	return recording.Of[keysPush]("graph/csr_keys", workgroup)
}
func markKernel() recording.Spec[markPush] {
	return recording.Of[markPush]("graph/csr_mark", workgroup)
}
func rowsKernel() recording.Spec[rowsPush] {
	return recording.Of[rowsPush]("graph/csr_rows", workgroup)
}
func sourcesKernel() recording.Spec[sourcesPush] {
	return recording.Of[sourcesPush]("graph/csr_sources", workgroup)
}

// RowsKernels lists the kernels of Builder.Rows.
func RowsKernels() recording.Table { return recording.Table{rowsKernel()} }

// TransposeKernels lists the kernels of Builder.Transpose.
func TransposeKernels(d *vk.Device, weighted bool) recording.Table {
	sort, compact := primitives.SortArgs{Widths: widths}, primitives.CompactArgs{Widths: widths}
	if weighted {
		sort.Values, compact.Values = recording.Align, recording.Align
	}
	return append(recording.KernelsOf[primitives.Operation](primitives.New(d, primitives.Options{}), sort, compact),
		keysKernel(), markKernel(), rowsKernel(), sourcesKernel())
}
