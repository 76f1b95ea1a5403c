// Package generics checks how the generic functions of all packages are written.
package generics

import (
	"go/ast"
	"testing"
)

const root = "../.."

// A generic function is compiled in each package that uses it, and the linker takes one of the copies. Where compilers'
// decisions differ from copy to copy, a literal may be of one and the function around it of another
// (docs/notes/generic-closures.md). No decision can differ about variables that don't change once they are captured.
func TestNoChangingCaptures(t *testing.T) {
	for _, p := range load(t, root, "./...") {
		for _, f := range p.functions() {
			if !generic(p.info, f) {
				continue
			}
			for _, c := range changingCaptures(p.info, f) {
				t.Errorf("%s: a literal in %s captures %s, which changes at %s", p.fset.Position(c.captured),
					f.Name.Name, c.variable.Name(), p.fset.Position(c.changed))
			}
		}
	}
}

func (p *source) functions() (all []*ast.FuncDecl) {
	for _, file := range p.files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				all = append(all, f)
			}
		}
	}
	return all
}
