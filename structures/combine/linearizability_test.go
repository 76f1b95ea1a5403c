package combine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/combine"
	"github.com/vkds/vkds/test/pass"
)

// The calls of goroutines on a few keys have a sequential order: whole calls, with one key or with several, by every
// method that changes something, and with contexts that end while calls wait or are in a batch. A call that returned a
// *structures.PendingError isn't in that order, and one that returned an *UnknownError may be, at any time after its
// beginning.
func TestLinearizable(t *testing.T) {
	pass.OneWidth(t, "calls are combined on the host")
	for _, most := range []int{0, 3} { // with 3, calls of three keys and more are passed on, and batches are small
		o := combine.Options{MaxBatch: most}
		t.Run(fmt.Sprintf("host, %d", most), func(t *testing.T) {
			for range 40 {
				d, err := combine.NewOrdered(delayed(), o)
				require.NoError(t, err)
				linearizable(t, combined[uint32, uint32]{d, d})
				require.NoError(t, d.Close())
			}
		})
		each(t, o, linearizable)
	}
}

const (
	places = 3 // keys from 1 on
	absent = -1
)

// contents are the values of all keys.
type contents [places]int

// act is a call of a history: an update of one kind, a query, or the method of that name.
type act struct {
	name   string
	keys   []uint32
	values []uint32
	old    uint32
}

// answer is the result of each operation of a call. unknown: the call may have had any, or none at all.
type answer struct {
	values  []int
	unknown bool
}

// sequential does a call.
func sequential(c contents, in act) (contents, []int) {
	var out []int
	if in.name == "Clear" {
		return contents{absent, absent, absent}, nil
	}
	for i, k := range in.keys {
		at, value := &c[k-1], 0
		if in.values != nil {
			value = int(in.values[i])
		}
		out = append(out, in.one(c[k-1:], at, *at, value))
	}
	return c, out
}

// one does the operation on a key, whose value is old, and returns its result. up are the values from the key on.
func (a act) one(up []int, at *int, old, value int) int {
	status := structures.Assigned
	if old == absent {
		status = structures.Inserted
	}
	switch a.name {
	case "Find":
		return old
	case "CountRange":
		return len(slices.DeleteFunc(slices.Clone(up), func(v int) bool { return v == absent }))
	case "CompareAndSet":
		if old != int(a.old) {
			return 0
		}
		*at = value
		return 1
	case "Swap":
		*at = value
		return old
	case "Add", "InsertAdd":
		*at = max(old, 0) + value
	case "Max", "InsertMax":
		*at = max(old, value)
	case "Insert":
		*at = value
	case "InsertUnique":
		if old != absent {
			return int(structures.Found)
		}
		*at = value
	case "Delete", "Apply":
		if *at = absent; old == absent {
			return int(structures.Absent)
		}
		return int(structures.Deleted)
	}
	if a.name == "Add" || a.name == "Max" {
		return *at
	}
	return int(status)
}

var model = porcupine.Model{
	Init: func() any { return contents{absent, absent, absent} },
	Step: func(state, in, out any) (bool, any) {
		next, want := sequential(state.(contents), in.(act))
		a := out.(answer)
		return a.unknown || slices.Equal(want, a.values), next
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v = %+v", in, out) },
}

// recorder makes calls, and records them.
type recorder struct {
	t      *testing.T
	d      combined[uint32, uint32]
	random *rand.Rand
	client int
	begin  time.Time
	made   []porcupine.Operation
}

func linearizable(t *testing.T, d combined[uint32, uint32]) {
	const clients, calls = 8, 25
	all, begin := make([]*recorder, clients), time.Now()
	var running sync.WaitGroup
	for i := range all {
		r := &recorder{t: t, d: d, random: rand.New(rand.NewPCG(rand.Uint64(), 1)), client: i, begin: begin}
		all[i] = r
		running.Go(func() {
			for range calls {
				r.call()
			}
		})
	}
	running.Wait()
	var history []porcupine.Operation
	for _, r := range all {
		history = append(history, r.made...)
	}
	switch porcupine.CheckOperationsTimeout(model, history, 10*time.Second) {
	case porcupine.Illegal:
		for _, o := range history {
			t.Logf("%d: %d to %d: %s", o.ClientId, o.Call, o.Return, model.DescribeOperation(o.Input, o.Output))
		}
		t.Fatal("the history has no sequential order")
	case porcupine.Unknown:
		t.Log("undecided")
	}
	require.NoError(t, d.Clear(t.Context()))
}

// call makes a call and records it.
func (r *recorder) call() {
	in := r.draw()
	ctx, cancel := r.t.Context(), func() {}
	switch r.random.IntN(6) {
	case 0:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.random.IntN(300))*time.Microsecond)
	case 1:
		ctx, cancel = context.WithCancel(ctx)
		go func() {
			pause()
			cancel()
		}()
	}
	defer cancel()
	called := time.Since(r.begin)
	values, err := r.make(ctx, in)
	o := porcupine.Operation{ClientId: r.client, Input: in, Output: answer{values: values},
		Call: int64(called), Return: int64(time.Since(r.begin))}
	var pending *structures.PendingError
	var unknown *combine.UnknownError
	switch {
	case err == nil:
	case errors.As(err, &unknown):
		assert.Equal(r.t, len(in.keys), unknown.Operations)
		// Other calls of the client come while this one has not ended.
		o.ClientId, o.Output, o.Return = 1000+8*len(r.made)+r.client, answer{unknown: true}, math.MaxInt64
	case errors.As(err, &pending):
		assert.Equal(r.t, len(in.keys), pending.Operations)
		return
	default:
		assert.Contains(r.t, []string{"Find", "CountRange", "Clear"}, in.name)
		assert.True(r.t, errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded), "%v", err)
		return
	}
	r.made = append(r.made, o)
}

var (
	kindsByName = map[string]structures.Kind{"Insert": structures.Insert, "InsertUnique": structures.InsertUnique,
		"InsertAdd": structures.InsertAdd, "InsertMax": structures.InsertMax, "Delete": structures.Delete}
	names = []string{"Find", "Find", "Insert", "InsertUnique", "InsertAdd", "InsertMax", "Delete", "Add", "Max", "Swap",
		"CompareAndSet", "CompareAndSet", "Clear", "Apply", "CountRange"}
)

func (r *recorder) draw() act {
	some := names
	if r.d.ordered == nil {
		some = names[:len(names)-1]
	}
	in := act{name: some[r.random.IntN(len(some))], old: uint32(r.random.IntN(4))}
	n := 1
	if in.name == "Clear" {
		return in
	}
	if _, many := kindsByName[in.name]; many || in.name == "Find" || in.name == "CountRange" {
		n = 1 + r.random.IntN(3)*r.random.IntN(2)
	}
	for _, k := range r.random.Perm(places)[:n] {
		in.keys = append(in.keys, uint32(k+1))
	}
	if !slices.Contains([]string{"Find", "Delete", "Apply", "CountRange"}, in.name) {
		for range in.keys {
			in.values = append(in.values, uint32(r.random.IntN(4)))
		}
	}
	return in
}

// valueOf returns the value of a key in a history.
func valueOf(value uint32, found bool) int {
	if !found {
		return absent
	}
	return int(value)
}

// make makes the call. Afterwards it writes to the slices that it has given, as their owner may.
func (r *recorder) make(ctx context.Context, in act) (values []int, err error) {
	d, keys := r.d, slices.Clone(in.keys)
	defer clear(keys)
	var value uint32
	var is bool
	switch in.name {
	case "Find":
		return r.find(ctx, keys)
	case "CountRange":
		ranges := make([]structures.Range[uint32], len(keys))
		for i, k := range keys {
			ranges[i] = structures.Range[uint32]{Lo: k, Hi: places}
		}
		defer clear(ranges)
		counts, err := d.ordered.Count(ctx, ranges)
		for _, n := range counts {
			values = append(values, int(n))
		}
		return values, err
	case "Add":
		value, err = d.Add(ctx, keys[0], in.values[0])
		return []int{int(value)}, err
	case "Max":
		value, err = d.Max(ctx, keys[0], in.values[0])
		return []int{int(value)}, err
	case "Swap":
		value, is, err = d.Swap(ctx, keys[0], in.values[0])
		return []int{valueOf(value, is)}, err
	case "CompareAndSet":
		if is, err = d.CompareAndSet(ctx, keys[0], in.old, in.values[0]); is {
			return []int{1}, err
		}
		return []int{0}, err
	case "Clear":
		return nil, d.Clear(ctx)
	case "Apply":
		r, err := d.Apply(ctx,
			structures.Batch[uint32, uint32]{Kinds: []structures.Kind{structures.Delete}, Keys: keys})
		for _, s := range r.Status {
			values = append(values, int(s))
		}
		return values, err
	}
	status, given := make([]structures.Status, len(keys)), slices.Clone(in.values)
	err = d.UpdateInto(ctx, kindsByName[in.name], keys, given, status)
	for _, s := range status {
		values = append(values, int(s))
	}
	clear(status)
	clear(given)
	return values, err
}

func (r *recorder) find(ctx context.Context, keys []uint32) (values []int, err error) {
	if len(keys) == 1 {
		value, found, err := r.d.Get(ctx, keys[0])
		return []int{valueOf(value, found)}, err
	}
	got, found := make([]uint32, len(keys)), make([]bool, len(keys))
	err = r.d.FindInto(ctx, keys, got, found)
	for i, v := range got {
		values = append(values, valueOf(v, found[i]))
	}
	clear(got)
	clear(found)
	return values, err
}
