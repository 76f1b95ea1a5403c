package faults

import (
	"context"
	"log/slog"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
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
		reflect.TypeFor[btree.Tree[uint32, uint32]](), reflect.TypeFor[btree.Tree[int64, uint32]](),
		reflect.TypeFor[btree.Snapshot[uint32, uint32]](), reflect.TypeFor[btree.Snapshot[int64, uint32]](),
		reflect.TypeFor[lsm.LSM[uint32, uint32]](), reflect.TypeFor[lsm.LSM[int64, uint32]](),
		reflect.TypeFor[sortedarray.Array[uint32, uint32]](), reflect.TypeFor[sortedarray.Array[int64, uint32]](),
		reflect.TypeFor[graph.Graph](), reflect.TypeFor[graph.Ordered](), reflect.TypeFor[graph.OrderedSnapshot](),
		reflect.TypeFor[graph.Named[uint64]](), reflect.TypeFor[graph.Named[string]](), reflect.TypeFor[graph.CSR](),
		reflect.TypeFor[analytics.Analyzer](), reflect.TypeFor[analytics.Connectivity](),
	} {
		for what, x := range map[string]reflect.Value{
			"zero": reflect.New(of), "nil": reflect.Zero(reflect.PointerTo(of)),
		} {
			for i := range x.NumMethod() {
				name := x.Type().Method(i).Name
				buffer := of == reflect.TypeFor[vk.Buffer[uint32]]() // it is one of no elements
				t.Run(of.String()+"/"+what+"/"+name, func(t *testing.T) { notOpen(t, x.Method(i), buffer) })
			}
		}
	}
}

func notOpen(t *testing.T, method reflect.Value, buffer bool) {
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		p := method.Type().In(i)
		in = append(in, reflect.Zero(p))
		switch {
		case p == reflect.TypeFor[context.Context]():
			in[i] = reflect.ValueOf(t.Context())
		case p == reflect.TypeFor[structures.Kind]():
			in[i] = reflect.ValueOf(structures.Delete)
		case p.Kind() == reflect.Pointer && p.Elem().PkgPath() == reflect.TypeFor[structures.Kind]().PkgPath():
			in[i] = reflect.New(p.Elem()) // for results
		case p.Kind() == reflect.Func:
			in[i] = reflect.MakeFunc(p, func([]reflect.Value) (out []reflect.Value) {
				for j := range p.NumOut() {
					out = append(out, reflect.Zero(p.Out(j)))
				}
				return out
			})
		}
	}
	if method.Type().IsVariadic() {
		in = in[:len(in)-1]
	}
	var all []reflect.Value
	require.NotPanics(t, func() { all = method.Call(in) })
	for _, out := range all {
		switch {
		case out.Type() == reflect.TypeFor[error]():
			if buffer && out.IsNil() {
				continue
			}
			require.Equal(t, vk.ErrNotOpen, out.Interface())
		case out.Type() == reflect.TypeFor[*slog.Logger]():
			require.False(t, out.IsNil())
		case out.Kind() == reflect.Func && !out.IsNil():
			n := 0
			require.NotPanics(t, func() {
				for _, err := range out.Seq2() {
					require.Equal(t, vk.ErrNotOpen, err.Interface())
					n++
				}
			})
			require.Equal(t, 1, n)
		default:
			require.True(t, empty(out), "%v", out)
		}
	}
}

// empty says whether a result is a zero value, or leads to nothing else.
func empty(out reflect.Value) bool {
	switch out.Kind() {
	case reflect.Slice, reflect.Map:
		return out.Len() == 0
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
