package faults

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/structures/graph/ordered"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/vk"
)

// Every method of a zero value, and of a nil pointer, returns vk.ErrNotOpen, or a zero value if it returns no error.
func TestNotOpen(t *testing.T) {
	pass.OneDriver(t, "no device is opened")
	for _, of := range []reflect.Type{
		reflect.TypeFor[vk.Device](), reflect.TypeFor[vk.Stream](), reflect.TypeFor[vk.Kernel[uint64]](),
		reflect.TypeFor[vk.Buffer[uint32]](), reflect.TypeFor[vk.HostBuffer[uint32]](), reflect.TypeFor[vk.Budget](),
		reflect.TypeFor[alloc.SlabPool](), reflect.TypeFor[alloc.Reclaimer](),
		reflect.TypeFor[primitives.Primitives](),
		reflect.TypeFor[slabhash.Map[uint32, uint32]](), reflect.TypeFor[slabhash.Map[int64, uint32]](),
		reflect.TypeFor[slabhash.Set[uint32]](), reflect.TypeFor[slabhash.Set[int64]](),
		reflect.TypeFor[filter.Filter[uint32]](), reflect.TypeFor[filter.Filter[int64]](),
		reflect.TypeFor[btree.Tree[uint32, uint32]](), reflect.TypeFor[btree.Tree[int64, uint32]](),
		reflect.TypeFor[btree.Snapshot[uint32, uint32]](), reflect.TypeFor[btree.Snapshot[int64, uint32]](),
		reflect.TypeFor[lsm.LSM[uint32, uint32]](), reflect.TypeFor[lsm.LSM[int64, uint32]](),
		reflect.TypeFor[sortedarray.Array[uint32, uint32]](), reflect.TypeFor[sortedarray.Array[int64, uint32]](),
		reflect.TypeFor[graph.Graph](), reflect.TypeFor[ordered.Graph](), reflect.TypeFor[ordered.View](),
		reflect.TypeFor[graph.Named[uint64]](), reflect.TypeFor[graph.Named[string]](), reflect.TypeFor[graph.CSR](),
		reflect.TypeFor[analytics.Analyzer](), reflect.TypeFor[analytics.Connectivity](),
	} {
		for what, x := range map[string]reflect.Value{
			"zero": reflect.New(of), "nil": reflect.Zero(reflect.PointerTo(of)),
		} {
			for i := range x.NumMethod() {
				name := x.Type().Method(i).Name
				t.Run(of.String()+"/"+what+"/"+name, func(t *testing.T) {
					want := []error{vk.ErrNotOpen}
					if of == reflect.TypeFor[vk.Buffer[uint32]]() {
						want = append(want, nil) // it is one of no elements
					}
					refuses(t, x.Method(i), want...)
				})
			}
		}
	}
}

// isOneOf says that an error is one of those that are wanted. nil may be one, too.
func isOneOf(t *testing.T, want []error, got any, wrong bool) {
	t.Helper()
	err, _ := got.(error)
	is := func(one error) bool { return errors.Is(err, one) }
	require.True(t, slices.ContainsFunc(want, is), "%v, wrong arguments: %v", err, wrong)
}

// refuses requires that a method returns one of some errors, beside zero values, whatever its arguments are: whether a
// handle is open comes before whether the arguments fit. A method of a handle that was never open, and that returns no
// error, returns zero values.
func refuses(t *testing.T, method reflect.Value, want ...error) {
	for _, wrong := range []bool{false, true} {
		if wrong && strings.Contains(t.Name(), "Buffer[") {
			continue // one that is not open has no elements, which is what a range is compared with first
		}
		var all []reflect.Value
		require.NotPanics(t, func() { all = method.Call(inputs(t, method.Type(), wrong)) })
		for _, out := range all {
			switch {
			case out.Type() == reflect.TypeFor[error]():
				isOneOf(t, want, out.Interface(), wrong)
			case isCalls(out.Type()):
				for i := range out.NumMethod() {
					refuses(t, out.Method(i), want...)
				}
			case out.Type() == reflect.TypeFor[*slog.Logger]():
				require.False(t, out.IsNil())
			case out.Kind() == reflect.Func && !out.IsNil():
				n := 0
				require.NotPanics(t, func() {
					for _, err := range out.Seq2() {
						isOneOf(t, want, err.Interface(), wrong)
						n++
					}
				})
				require.Equal(t, 1, n)
			case all[len(all)-1].Type() == reflect.TypeFor[error](), want[0] == vk.ErrNotOpen:
				require.True(t, empty(out), "%v", out)
			}
		}
	}
}

// isCalls reports whether a type has further calls of a handle, which its methods On, InShaders and Inspect return.
func isCalls(of reflect.Type) bool {
	for _, name := range []string{"OnStream", "InShaders", "Inspection"} {
		if strings.Contains(of.Name(), name) {
			return true
		}
	}
	return false
}

// inputs are the arguments of a call: of no operations, or wrong in whatever way there is, with slices that differ in
// length, nil pointers, negative numbers and kinds that nothing does.
func inputs(t *testing.T, of reflect.Type, wrong bool) (in []reflect.Value) {
	for i := range of.NumIn() {
		p := of.In(i)
		v := reflect.New(p).Elem()
		switch {
		case of.IsVariadic() && i == of.NumIn()-1:
			continue
		case p == reflect.TypeFor[context.Context]():
			v.Set(reflect.ValueOf(t.Context()))
		case p.Kind() == reflect.Func:
			v = reflect.MakeFunc(p, func([]reflect.Value) (out []reflect.Value) {
				for j := range p.NumOut() {
					out = append(out, reflect.Zero(p.Out(j)))
				}
				return out
			})
		case wrong:
			spoil(v, i)
		case p == reflect.TypeFor[structures.Kind]():
			v.Set(reflect.ValueOf(structures.Delete))
		case p.Kind() == reflect.Pointer && p.Elem().PkgPath() == reflect.TypeFor[structures.Kind]().PkgPath():
			v.Set(reflect.New(p.Elem())) // for results
		}
		in = append(in, v)
	}
	return in
}

// spoil makes an argument, or its field, wrong; i is which it is.
func spoil(v reflect.Value, i int) {
	switch v.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+i, 1+i))
	case reflect.Int:
		v.SetInt(-1)
	case reflect.Uint8:
		v.SetUint(200)
	case reflect.Float64:
		v.SetFloat(-1)
	case reflect.Struct:
		for j := range v.NumField() {
			if v.Field(j).CanSet() {
				spoil(v.Field(j), i+j)
			}
		}
	}
}

// empty says whether a result is a zero value, or leads to nothing else.
func empty(out reflect.Value) bool {
	switch out.Kind() {
	case reflect.Map:
		return out.Len() == 0
	case reflect.Slice:
		for i := range out.Len() {
			if !empty(out.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		return out.IsNil() || out.Elem().IsZero()
	case reflect.Struct:
		for i := range out.NumField() {
			if !empty(out.Field(i)) {
				return false
			}
		}
		return true
	}
	return out.IsZero()
}
