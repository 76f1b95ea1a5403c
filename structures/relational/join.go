package relational

import (
	"context"
	"fmt"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
)

// JoinKind says which rows a join returns.
type JoinKind uint8

const (
	Inner JoinKind = iota // each pair of a left and a right row with equal keys
	Left                  // these, and each left row without a right row
	Semi                  // each left row for which there is a right row, once
	Anti                  // each left row for which there is none
)

var joinKindNames = enum.Names[JoinKind]{"inner", "left", "semi", "anti"}

func (k JoinKind) String() string { return joinKindNames.String(k) }

// pairs reports whether the results of a kind have right rows.
func (k JoinKind) pairs() bool { return k <= Left }

// None is the right row of a left row without one.
const None = -1

// ResultsError says that a join has more results than Options.MaxResults. Nothing is returned.
type ResultsError struct {
	Results uint64 // how many there are, or the number at which Join stopped to count
	Most    int
}

func (e *ResultsError) Error() string {
	return fmt.Sprintf("the join has %d results or more, but MaxResults is %d", e.Results, e.Most)
}

// Join joins two tables by their keys, and returns the rows of the results: lefts[i] is an index of left, and rights[i]
// the index of right that belongs to it, or None. Results are in the order of left rows, and those of one left row in
// the order of right rows. A key may be there any number of times on both sides; each of its left rows is joined with
// each of its right rows. rights is nil for Semi and Anti.
//
// All right keys are kept on the device, sorted. Left keys and results pass through it in parts, so there may be more
// of them than MaxBytes has room for. If one side is much shorter, let it be the right one.
//
// Errors: *ResultsError if there are more results than MaxResults; *vk.OutOfMemoryError also if the right keys take
// more than MaxBytes; *structures.CountError if a side has more than primitives.MaxLength rows; *vk.OptionError for an
// unknown kind; vk.ErrClosed; and the context's, which is checked between parts.
func Join[K structures.Number](ctx context.Context, r *Relational, left, right []K, kind JoinKind) (lefts,
	rights []int32, err error) {
	w := structures.WidthOf[K]()
	return r.join(ctx, joining{lefts: len(left), rights: len(right), left: pipeline.Keys(left, w),
		right: pipeline.Keys(right, w), width: w, kind: kind})
}
