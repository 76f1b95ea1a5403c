package generics

import (
	"go/ast"
	"go/token"
	"go/types"
)

// capture is a variable that a function literal captures, and that changes afterwards.
type capture struct {
	variable          *types.Var
	captured, changed token.Pos
}

// generic says whether a function has type parameters, or is a method of a type that has.
func generic(info *types.Info, f *ast.FuncDecl) bool {
	s := info.Defs[f.Name].Type().(*types.Signature)
	return s.TypeParams().Len() != 0 || s.RecvTypeParams().Len() != 0
}

// changingCaptures returns the variables of a function that a literal in it captures and that may change afterwards:
// below the first capture, in a literal, or in a loop that the declaration is outside of. A variable changes where it,
// or a part of it, is assigned to or has its address taken. A named result changes at every return. The body of a range
// over a function is a literal, too.
func changingCaptures(info *types.Info, f *ast.FuncDecl) (found []capture) {
	w := &walker{info: info, of: map[*types.Var]*history{}}
	w.walk(f, place{})
	for _, h := range w.all {
		if len(h.changes) == 0 {
			continue
		}
		var first token.Pos
		straight := true // from the declaration to all captures
		for _, u := range h.uses {
			if u.literal == h.declared.literal {
				continue
			}
			if first == token.NoPos {
				first = u.at
			}
			stands := u.place
			for stands.literal != h.declared.literal {
				stands = stands.literal.stands
			}
			straight = straight && stands.loop == h.declared.loop
		}
		if first == token.NoPos {
			continue
		}
		for _, c := range h.changes {
			if !straight || c.place != h.declared || c.at > first {
				found = append(found, capture{h.variable, first, c.at})
				break
			}
		}
	}
	return found
}

// literal is a function literal, or the body of a range over a function.
type literal struct {
	stands place
}

// place is the innermost literal around some code, and the innermost loop within that; nil if there is none.
type place struct {
	literal *literal
	loop    ast.Node
}

// history is where a variable is declared, used and changed.
type history struct {
	variable      *types.Var
	declared      place
	uses, changes []event
}

type event struct {
	place
	at token.Pos
}

// walker collects the histories of a function's variables, by declaration.
type walker struct {
	info *types.Info
	of   map[*types.Var]*history
	all  []*history
}

func (w *walker) declare(v *types.Var, at place) {
	h := &history{variable: v, declared: at}
	w.of[v], w.all = h, append(w.all, h)
}

// walk goes through code that stands at a place.
func (w *walker) walk(code ast.Node, at place) {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			inside := place{literal: &literal{at}}
			w.walk(n.Type, inside)
			w.walk(n.Body, inside)
			w.returns(n.Type, n.Body, inside)
			return false
		case *ast.ForStmt:
			loop := place{at.literal, n}
			walkOptional(w, n.Init, at)
			walkOptional(w, n.Cond, loop)
			walkOptional(w, n.Post, loop)
			w.walk(n.Body, loop)
			return false
		case *ast.RangeStmt:
			w.walk(n.X, at)
			loop := place{at.literal, n}
			if _, ok := w.info.TypeOf(n.X).Underlying().(*types.Signature); ok {
				loop = place{literal: &literal{loop}}
			}
			walkOptional(w, n.Key, loop)
			walkOptional(w, n.Value, loop)
			if n.Tok == token.ASSIGN {
				w.change(n.Key, loop)
				w.change(n.Value, loop)
			}
			w.walk(n.Body, loop)
			return false
		case *ast.CaseClause: // of a type switch that declares a variable
			if v, ok := w.info.Implicits[n].(*types.Var); ok {
				w.declare(v, at)
			}
		case *ast.Ident:
			if v, ok := w.info.Defs[n].(*types.Var); ok {
				w.declare(v, at)
			} else if v, ok := w.info.Uses[n].(*types.Var); ok && w.of[v] != nil {
				w.of[v].uses = append(w.of[v].uses, event{at, n.Pos()})
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				w.change(to, at)
			}
		case *ast.IncDecStmt:
			w.change(n.X, at)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				w.change(n.X, at)
			}
		case *ast.SliceExpr: // of an array, takes its address
			if w.array(n.X) {
				w.change(n.X, at)
			}
		case *ast.SelectorExpr: // a method of a pointer takes its address
			if s, ok := w.info.Selections[n]; ok && s.Kind() == types.MethodVal && !throughPointer(s) &&
				pointer(s.Obj().(*types.Func).Signature().Recv().Type()) {
				w.change(n.X, at)
			}
		}
		return true
	})
	if f, ok := code.(*ast.FuncDecl); ok {
		w.returns(f.Type, f.Body, at)
	}
}

// walkOptional walks what a loop may have.
func walkOptional[N interface {
	comparable
	ast.Node
}](w *walker, code N, at place) {
	var none N
	if code != none {
		w.walk(code, at)
	}
}

// returns notes that a function's named results change, up to its end.
func (w *walker) returns(f *ast.FuncType, body *ast.BlockStmt, at place) {
	if f.Results == nil || body == nil {
		return
	}
	for _, field := range f.Results.List {
		for _, name := range field.Names {
			if v, ok := w.info.Defs[name].(*types.Var); ok && w.of[v] != nil {
				w.of[v].changes = append(w.of[v].changes, event{at, body.Rbrace})
			}
		}
	}
}

// change notes that the variable which an expression is, or is a part of, changes.
func (w *walker) change(x ast.Expr, at place) {
	for {
		switch part := x.(type) {
		case *ast.Ident:
			if v, ok := w.info.Uses[part].(*types.Var); ok && w.of[v] != nil {
				w.of[v].changes = append(w.of[v].changes, event{at, part.Pos()})
			}
			return
		case *ast.ParenExpr:
			x = part.X
		case *ast.IndexExpr:
			if !w.array(part.X) {
				return
			}
			x = part.X
		case *ast.SelectorExpr:
			if s, ok := w.info.Selections[part]; !ok || throughPointer(s) {
				return
			}
			x = part.X
		default:
			return
		}
	}
}

func (w *walker) array(x ast.Expr) bool {
	_, ok := w.info.TypeOf(x).Underlying().(*types.Array)
	return ok
}

func pointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// throughPointer says whether a selected field or method isn't part of the variable that it is selected from, but of
// what that, or a field embedded in it, points to.
func throughPointer(s *types.Selection) bool {
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		if pointer(t) {
			return true
		}
		t = t.Underlying().(*types.Struct).Field(i).Type()
	}
	return pointer(t)
}
