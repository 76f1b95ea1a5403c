package generics

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// program has functions of which the name says whether something is to be found in them.
const program = `package program

import "iter"

type list[T any] struct{ all []T }

func (l *list[T]) add(x T) { l.all = append(l.all, x) }

func run(f func()) { f() }

func wrongAssigned[T any](x T) (T, error) {
	var got T
	run(func() { got = x })
	return got, nil
}

func wrongAfterwards[T any](x, y T) {
	run(func() { _ = x })
	x = y
}

func (l *list[T]) wrongMethod(x T) int {
	n := 0
	run(func() { n++ })
	return n
}

func (l *list[T]) wrongReceiver() {
	run(func() { _ = l })
	l = nil
}

func wrongNested[T any](x T) {
	run(func() {
		n := 0
		run(func() { n += 1 })
	})
}

func wrongResult[T any]() (x T, err error) {
	defer func() { _ = err }()
	return x, nil
}

func wrongLoop[T any]() {
	for i := 0; i < 3; i++ {
		run(func() { _ = i })
	}
}

func wrongOutsideOfLoop[T any](all []T) {
	var x T
	for i := range all {
		x = all[i]
		run(func() { _ = x })
	}
}

func wrongRangeOverFunction[T any](all iter.Seq[T]) (int) {
	n := 0
	for range all {
		n++
	}
	return n
}

func wrongRangeAssigned[T any](all []T) {
	var x T
	run(func() { _ = x })
	for _, x = range all {
	}
}

func wrongField[T any](x T) {
	var p struct{ x T }
	run(func() { p.x = x })
}

func wrongArray[T any](x T) {
	var a [2]T
	run(func() { a[0] = x })
}

func wrongPointerMethod[T any](x T) {
	var l list[T]
	run(func() { l.add(x) })
}

func wrongAddress[T any](x T) *T {
	var p *T
	run(func() { _ = x })
	p = &x
	return p
}

func rightConstant[T any](x T) {
	y := x
	run(func() { _ = y })
}

func rightBefore[T any](x, y T) {
	x = y
	run(func() { _ = x })
}

func rightPointer[T any](x T) T {
	got := new(T)
	run(func() { *got = x })
	return *got
}

func rightRange[T any](all []T) {
	for i, x := range all {
		run(func() { _, _ = i, x })
	}
}

func rightElement[T any](all []T, x T) {
	run(func() { all[0] = x })
}

func rightOwn[T any](x T) {
	run(func() {
		n := 0
		n++
	})
}

func (l *list[T]) rightReceiver(x T) { run(func() { l.add(x) }) }

func rightOverFunction[T any](all iter.Seq[T]) bool {
	for range all {
		return true
	}
	return false
}

func rightNotGeneric() int {
	n := 0
	run(func() { n++ })
	return n
}
`

func TestChangingCapturesAreFound(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "program.go", program, parser.SkipObjectResolution)
	require.NoError(t, err)
	p := check(t, fset, "program", []*ast.File{f}, importer.ForCompiler(fset, "source", nil))
	var wrong, found []string
	for _, f := range p.functions() {
		if name := f.Name.Name; len(name) > 5 && name[:5] == "wrong" {
			wrong = append(wrong, name)
		}
		if generic(p.info, f) && len(changingCaptures(p.info, f)) != 0 {
			found = append(found, f.Name.Name)
		}
	}
	require.Equal(t, wrong, slices.Compact(found))
}
