// Package shard makes one dictionary of several, as a rule one on each of several devices. A Map divides keys by a hash
// among dictionaries of any kind; a Tree divides them by ranges among ordered ones, so that ordered queries cross the
// shards. Both have the methods of a single dictionary:
//
//	a, err := slabhash.New[uint64, uint64](ctx, first, slabhash.Options{})
//	b, err := slabhash.New[uint64, uint64](ctx, second, slabhash.Options{})
//	m, err := shard.NewMap(ctx, a, b)
//	status, err := m.Insert(ctx, keys, values)
//
// All cores divide a batch among the shards, which work at the same time, and put the results back into the caller's
// order. Large batches are divided in blocks while the shards work on earlier blocks. Dividing is slower than one fast
// device, so shards are for data that one device's memory does not hold (docs/design/shard.md has figures).
//
// # What is linearizable
//
// Each call with slices takes effect as a whole, as structures.Dictionary says: a call that changes the dictionary runs
// alone on all shards, so a batch is atomic over shards, and a Snapshot has all shards at one moment. That holds as
// long as the shards are used through the Map or the Tree alone. Calls on a shard itself, such as those on its device's
// streams, are ordered with other calls on that shard only.
//
// # A shard that fails
//
// Errors of a shard, such as vk.ErrDeviceLost, come inside an *Error, which has the shard's number. The other shards do
// their part of the batch. After an update, the statuses say which operations are not done. Calls whose keys and ranges
// all lie in other shards succeed.
package shard

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Error says which shard has failed. If several have, errors.As finds the first one.
type Error struct {
	Shard int // its place in the arguments of NewMap or NewTree, from 0 on
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf("shard %d: %v", e.Shard, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// most is the greatest number of shards: the number of a shard is a byte.
const most = 256

// check returns an error if such shards can't be used: none, too many, nil, or one twice.
func check[S comparable](shards []S) error {
	if n := len(shards); n == 0 || n > most {
		return &vk.OptionError{Option: "shards", Reason: fmt.Sprintf("%d, but there may be 1 to %d", n, most)}
	}
	for i, s := range shards {
		v := reflect.ValueOf(s)
		if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			return &vk.OptionError{Option: "shards", Reason: fmt.Sprintf("shard %d is nil", i)}
		}
		if first := slices.Index(shards, s); first < i {
			return &vk.OptionError{Option: "shards", Reason: fmt.Sprintf("shards %d and %d are the same", first, i)}
		}
	}
	return nil
}

// failures are the errors of the shards in a call, by shard; nil: none.
type failures []error

// error returns the failures as one error. cause is that of the call's context: if all shards failed because it ended,
// it is returned as it is.
func (f failures) error(cause error) error {
	var all []error
	ended := cause != nil
	for s, err := range f {
		if err == nil {
			continue
		}
		if kindRefused(err) {
			return err
		}
		var pending *structures.PendingError
		if errors.As(err, &pending) {
			err = pending.Err
		}
		if err == structures.ErrChanged {
			return err
		}
		ended = ended && errors.Is(err, cause)
		all = append(all, &Error{s, err})
	}
	switch {
	case len(all) == 0:
		return nil
	case ended:
		return cause
	}
	return joint.Error(all...)
}

// wrapped returns the error of one shard in a call.
func wrapped(ctx context.Context, s int, err error) error {
	if err == nil {
		return nil
	}
	f := make(failures, s+1)
	f[s] = err
	return f.error(context.Cause(ctx))
}

// kindRefused reports whether an error says that a shard does not do operations of a kind.
func kindRefused(err error) bool {
	var kind *structures.KindError
	return errors.As(err, &kind)
}

// lostOnly reports whether an error says of each shard that failed that its device is lost.
func lostOnly(err error) bool {
	joined, several := err.(interface{ Unwrap() []error })
	return !several && errors.Is(err, vk.ErrDeviceLost) || several && !slices.ContainsFunc(joined.Unwrap(),
		func(e error) bool { return !errors.Is(e, vk.ErrDeviceLost) })
}

// empty returns an error if a shard has pairs.
func empty(lens []uint64) error {
	for s, n := range lens {
		if n != 0 {
			return &vk.OptionError{Option: "shards", Reason: fmt.Sprintf("shard %d has %d pairs", s, n)}
		}
	}
	return nil
}

func sumOf(lens []uint64) (sum uint64) {
	for _, n := range lens {
		sum += n
	}
	return sum
}
