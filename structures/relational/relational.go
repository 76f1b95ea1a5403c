// Package relational groups and joins arrays on the GPU: sums, minima, maxima and means by key, distinct keys, the top
// k, and inner, left, semi and anti joins with any number of matches.
//
// Group, Distinct, TopK and Join take Go slices of any size and copy them to the device in parts that fit MaxBytes. On
// returns methods that record the same work on a stream, with arrays in device memory, and do not wait. Everything is
// done by sorting (package primitives); a table that stays and is asked many times is better kept in a dictionary.
//
// Keys are equal as they are for dictionaries (structures.KeyCode): -0 is not 0, and a NaN is equal only to the NaN
// with the same bits.
package relational

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Options configure a Relational. The zero value is useful.
type Options struct {
	// MaxBytes is about the most device memory that a call with slices holds at a time, at least 1 MiB. 0: a quarter
	// of the device's memory, and at most 8 GiB. A call takes less if its arrays are short, or if there is less.
	MaxBytes int
	// MaxResults is the most rows that Join returns. 0: primitives.MaxLength.
	MaxResults int
}

const (
	leastBytes = 1 << 20
	usualBytes = 8 << 30
)

// Relational groups and joins arrays on one device. It keeps no data from one call to the next. It is safe for many
// goroutines. A few of their calls run at the same time; the others wait.
type Relational struct {
	d          *vk.Device
	bulk       *primitives.Primitives
	kernels    *recording.Kernels
	pipelines  *pipeline.Pool
	gate       *gate.Gate
	maxBytes   int
	maxResults int
}

// New returns the relational operations of a device. It allocates no device memory. Error: *vk.OptionError.
func New(d *vk.Device, o Options) (*Relational, error) {
	if d == nil {
		return nil, vk.ErrNotOpen
	}
	switch {
	case o.MaxBytes == 0:
		o.MaxBytes = int(max(leastBytes, min(usualBytes, d.Info().HeapBytes/4)))
	case o.MaxBytes < leastBytes:
		return nil, &vk.OptionError{Option: "MaxBytes",
			Reason: fmt.Sprintf("%d is less than %d", o.MaxBytes, leastBytes)}
	}
	switch {
	case o.MaxResults == 0:
		o.MaxResults = primitives.MaxLength
	case o.MaxResults < 0:
		return nil, &vk.OptionError{Option: "MaxResults", Reason: fmt.Sprintf("%d is negative", o.MaxResults)}
	}
	return &Relational{d: d, bulk: primitives.New(d, primitives.Options{}), kernels: recording.NewKernels(d),
		pipelines: pipeline.NewPool(d), gate: gate.New("Relational"),
		maxBytes: o.MaxBytes, maxResults: o.MaxResults}, nil
}

// err returns why r can't be used, or nil.
func (r *Relational) err() error {
	if r == nil {
		return vk.ErrNotOpen
	}
	return r.gate.Err()
}

// Close waits for running calls with slices. Work that was recorded into streams must have ended. Later calls return
// vk.ErrClosed. Further calls of Close do nothing.
func (r *Relational) Close() error {
	if r == nil {
		return vk.ErrNotOpen
	}
	return r.gate.Close(func() error {
		r.gate.End()
		r.kernels.Close()
		return errors.Join(r.bulk.Close(), r.pipelines.Close())
	})
}

// Operation is the arguments of a call on a stream: GroupArgs or JoinArgs.
type Operation interface {
	table(r *Relational) recording.Table
	layout(r *Relational, base uint64) (bytes uint64)
}

// Scratch returns the bytes of scratch memory that an operation on a stream needs. Only lengths and widths of the
// arguments matter, and which addresses are 0. An operation on shorter arrays needs no more.
func (r *Relational) Scratch(of Operation) int {
	if r.err() != nil {
		return 0
	}
	return int(of.layout(r, 0))
}

// Prepare makes the kernels of operations, which otherwise the first calls make. Arguments are as in Scratch. Errors:
// the context's, vk.ErrClosed, and those of making a kernel.
func (r *Relational) Prepare(ctx context.Context, all ...Operation) error {
	if err := r.err(); err != nil {
		return err
	}
	var t recording.Table
	for _, o := range all {
		t = append(t, o.table(r)...)
	}
	return t.Prepare(ctx, r.d, nil)
}

// OverflowError says that a sum does not fit its type.
type OverflowError struct {
	Group int      // the index of the group, in ascending order of keys
	Key   any      // its key
	Sum   *big.Int // its sum
	Type  string   // of the sums, for example "uint64"
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("the sum of group %d, key %v, is %v, which does not fit %s: choose a type of sums that has "+
		"it, or float64", e.Group, e.Key, e.Sum, e.Type)
}

// inside runs call with a stream of its own while r is open.
func (r *Relational) inside(ctx context.Context, call func(s *vk.Stream) error) error {
	if err := r.gate.EnterShared(ctx); err != nil {
		return err
	}
	defer r.gate.LeaveShared()
	return r.pipelines.Do(ctx, call)
}
