// Outside is the program of a user: in a module of its own, it calls all generic functions and methods that vkds
// exports, at both widths and with types of its own, and compares their answers with those of Go's maps and slices.
//
// A generic function is compiled once in vkds and once here, and the linker takes one of the copies
// (docs/notes/generic-closures.md). A test can't see what goes wrong there, since it is compiled with the package that
// it tests, so this is built by "go build". Which copy the linker takes depends on what else a program has. So
// "make test-outside" builds a small program of each file that has parts, with the files that have none.
// TestAllIsCalledFromOutside (test/generics) finds what no file calls.
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

// oneSuper is Options.MaxBytes: the kernels of a larger pool, which have nothing to do with Go's types, take twice as
// long to compile.
const oneSuper = 1 << 28

var (
	ctx    = context.Background()
	device *vk.Device
	wrong  int
)

// part is what a file of the program compares.
type part struct {
	name string
	run  func()
}

// parts are those of the files that were compiled.
var parts []part

func main() {
	var err error
	device, err = vk.Open(vk.Options{})
	check(err)
	for _, p := range parts {
		begin, before := time.Now(), wrong
		p.run()
		fmt.Printf("%s: %d wrong answers (%.1f s)\n", p.name, wrong-before, time.Since(begin).Seconds())
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
