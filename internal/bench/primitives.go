package bench

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/vkds/vkds/internal/enum"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// PrimitiveOptions say what Primitive measures. The zero value measures the main operations on 2^20 elements.
type PrimitiveOptions struct {
	Common
	Ops    []string          // names of Ops(primitive); nil: the main ones
	Sizes  []int             // elements (of a merge: of its output), up to 2^30; nil: 2^20
	Orders []Order           // of the keys that are sorted; nil: Random
	Forms  []primitives.Form // nil: Auto
}

// primitiveOps are the operations of each benchmark of primitives.
var primitiveOps = map[string]operations[*primitiveSession]{
	"sort":   sortOps,
	"scan":   scanOps,
	"merge":  mergeOps,
	"search": searchOps,
}

// Primitive measures bulk operations of package primitives: sort, scan, merge or search. With an error, the report
// holds what was measured before it. Errors as of SlabHash, and what the primitives return.
func Primitive(ctx context.Context, d *vk.Device, primitive string, o PrimitiveOptions) (Report, error) {
	ops, known := primitiveOps[primitive]
	if !known {
		return Report{}, &OptionError{"primitive", fmt.Sprintf("no benchmark %q", primitive)}
	}
	err := o.Common.complete(d)
	if err == nil {
		o.Ops, err = ops.complete(o.Ops)
	}
	if err == nil {
		o.Sizes, err = completeSizes("Sizes", o.Sizes, defaultSize)
	}
	if primitive != "sort" {
		o.Orders = nil
	}
	if err == nil {
		o.Orders, err = completeOrders(o.Orders, o.Sizes)
	}
	if err != nil {
		return Report{}, err
	}
	if len(o.Forms) == 0 {
		o.Forms = []primitives.Form{primitives.Auto}
	}
	r := Report{Environment: environment(d, o.Seed)}
	steps := newWalk(&r, o.Common, len(o.Sizes)*len(o.Orders)*len(o.Forms)*len(o.Ops))
	for _, n := range o.Sizes {
		w, err := newWorkload(d, o.Common, n)
		if err != nil {
			return r, err
		}
		err = func() error {
			defer w.close()
			for _, form := range o.Forms {
				p := primitives.New(d, primitives.Options{Form: form})
				defer p.Close()
				for _, order := range o.Orders {
					s := &primitiveSession{w, &r, primitive, p, form, newSequence(w.space, order, n)}
					if err := ops.measure(ctx, s, o.Ops, n, steps); err != nil {
						return fmt.Errorf("%s, n = %d: %w", primitive, n, err)
					}
				}
			}
			return w.stream.Wait(ctx)
		}()
		if err != nil {
			return r, err
		}
	}
	steps.end()
	return r, nil
}

// primitiveSession is where one primitive is measured at one setting.
type primitiveSession struct {
	*workload
	report    *Report
	primitive string
	p         *primitives.Primitives
	form      primitives.Form
	keys      sequence
}

// Forms are those of operations that have two, by their names.
var Forms = enum.Of("form", primitives.Auto, primitives.SinglePass, primitives.MultiPass)

// time measures an operation that moves so many bytes an element at least, and reports it.
func (s *primitiveSession) time(ctx context.Context, op string, bytes int, record func() error, check func(context.Context) error) error {
	m := Measurement{Structure: s.primitive, Op: op, N: s.n, Operations: s.n, Bytes: uint64(bytes * s.n)}
	if s.form != primitives.Auto {
		m.Form = s.form.String()
	}
	if s.keys.order != Random {
		m.Order = s.keys.order.String()
	}
	m, err := s.measure(ctx, task{Measurement: m, record: record, check: check})
	if err == nil {
		s.report.Measurements = append(s.report.Measurements, m)
	}
	return err
}

// scratchFor is scratch of so many bytes.
func (s *primitiveSession) scratchFor(bytes int) (uint64, error) {
	b, err := s.room("scratch", (bytes+3)/4)
	if err != nil {
		return 0, err
	}
	return b.Address(), nil
}

// indices are the numbers 0 … n-1: as values they tell where a pair came from.
func (w *workload) indices(ctx context.Context) (*vk.Buffer[uint32], error) {
	return w.filled(ctx, "indices", func(i int) uint32 { return uint32(i) })
}

// checkStable looks whether pairs are the n of the input, of which pair i was key(i) with the value i, in ascending
// and stable order: so it is if keys, and where these are equal values, ascend, and every value has its key, because
// then no value comes twice.
func (w *workload) checkStable(ctx context.Context, op string, keys, values *vk.Buffer[uint32], key func(i int) uint32) error {
	if err := keys.Download(ctx, 0, w.scratch); err != nil {
		return err
	}
	if w.second == nil {
		w.second = make([]uint32, w.n)
	}
	if err := values.Download(ctx, 0, w.second); err != nil {
		return err
	}
	return parallel(w.n, func(first, end int) error {
		for i := first; i < end; i++ {
			k, v := w.scratch[i], w.second[i]
			if int(v) >= w.n || key(int(v)) != k {
				return &WrongError{op, fmt.Sprintf("place %d: no pair of the input: %d, %d", i, k, v)}
			}
			if i > 0 && (w.scratch[i-1] > k || w.scratch[i-1] == k && w.second[i-1] >= v) {
				return &WrongError{op, fmt.Sprintf("place %d: out of order", i)}
			}
		}
		return nil
	})
}

// checkAscending looks whether keys ascend and are, by a sum of hashes, those of the input.
func (w *workload) checkAscending(ctx context.Context, op string, keys *vk.Buffer[uint32], key func(i int) uint32) error {
	if err := keys.Download(ctx, 0, w.scratch); err != nil {
		return err
	}
	var difference atomic.Uint64
	err := parallel(w.n, func(first, end int) error {
		sum := uint64(0)
		for i := first; i < end; i++ {
			if i > 0 && w.scratch[i-1] > w.scratch[i] {
				return &WrongError{op, fmt.Sprintf("place %d: out of order", i)}
			}
			sum += fingerprint(w.scratch[i]) - fingerprint(key(i))
		}
		difference.Add(sum)
		return nil
	})
	if err == nil && difference.Load() != 0 {
		err = &WrongError{op, "other keys than those of the input"}
	}
	return err
}

func fingerprint(key uint32) uint64 { return uint64(scramble(key)) * uint64(scramble(^key)|1) }
