// Outside is the program of a user: in a module of its own, it calls all generic functions and methods that vkds
// exports, at both widths and with types of its own, and compares their answers with those of Go's maps and slices.
//
// A generic function is compiled once in vkds and once here, and the linker takes one of the copies
// (docs/notes/generic-closures.md). A test can't see what goes wrong there, since it is compiled with the package that
// it tests, so this is built by "go build". TestAllIsCalledFromOutside (test/generics) finds what isn't called here.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// UserID, Points and Celsius are types of the user's.
type (
	UserID  uint64
	Points  uint64
	Celsius float32
)

var (
	ctx    = context.Background()
	device *vk.Device
	wrong  int
)

func main() {
	var err error
	device, err = vk.Open(vk.Options{})
	check(err)
	for _, part := range []struct {
		name string
		run  func()
	}{
		{"changes", changesOfAllTypes},
		{"slabhash, 32 bits", slabHash[uint32, uint32]},
		{"slabhash, 64 bits", slabHash[time.Duration, Points]},
		{"slabhash, named types", slabHash[int32, Celsius]},
		{"btree, 32 bits", bTree[uint32, uint32]},
		{"btree, 64 bits", bTree[time.Duration, Points]},
		{"btree, named types", bTree[int32, Celsius]},
		{"mvbtree, 32 bits", mvBTree[uint32, uint32]},
		{"mvbtree, 64 bits", mvBTree[time.Duration, Points]},
		{"mvbtree, named types", mvBTree[int32, Celsius]},
		{"lsm, 32 bits", lsmTree[uint32, uint32]},
		{"lsm, 64 bits", lsmTree[time.Duration, Points]},
		{"lsm, named types", lsmTree[int32, Celsius]},
		{"sortedarray, 32 bits", sortedArray[uint32, uint32]},
		{"sortedarray, 64 bits", sortedArray[time.Duration, Points]},
		{"sortedarray, named types", sortedArray[int32, Celsius]},
		{"named graph, 32 bits", named[uint32]},
		{"named graph, 64 bits", named[UserID]},
		{"named graph, named types", named[Celsius]},
		{"named graph, signed", named[time.Duration]},
		{"buffers, 32 bits", memory[uint32]},
		{"buffers, 64 bits", memory[UserID]},
		{"buffers, named types", memory[Celsius]},
		{"buffers, signed", memory[time.Duration]},
		{"kernels", kernels},
	} {
		begin, before := time.Now(), wrong
		part.run()
		fmt.Printf("%s: %d wrong answers (%.1f s)\n", part.name, wrong-before, time.Since(begin).Seconds())
	}
	check(device.Close())
	if wrong != 0 {
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// must is the result of a call that doesn't fail.
func must[T any](result T, err error) T {
	check(err)
	return result
}

// equal reports an answer that isn't what it has to be.
func equal[T any](what string, want, got T) {
	if reflect.DeepEqual(want, got) {
		return
	}
	wrong++
	fmt.Printf("WRONG: %s: %s instead of %s\n", what, brief(got), brief(want))
}

func brief(x any) string {
	text := fmt.Sprintf("%v", x)
	if len(text) > 300 {
		return text[:300] + "…"
	}
	return text
}

// name is how a structure of some types is called in what is printed.
func name[K, V structures.Number](structure string) string {
	var key K
	var value V
	return fmt.Sprintf("%s of %T and %T", structure, key, value)
}
