package main

import (
	"context"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// joinLevel joins rows of LEFT and those rows of RIGHT that have room in memory. The other rows of RIGHT wait in files,
// and so do the rows of LEFT that may match them: these match no row of RIGHT that is here.
type joinLevel struct {
	*joining
	table       *joinTable
	right, left spill
	types       []keytype.Type // of the columns of LEFT, and of the numbers of its rows
}

func (j *joining) newLevel(d division) *joinLevel {
	return &joinLevel{joining: j, table: newJoinTable(len(j.on), len(j.names[1]), d)}
}

func (l *joinLevel) close() {
	l.right.close()
	l.left.close()
}

// add adds rows of RIGHT. If they are too many for half of the memory, those that are equal to none before them wait.
func (l *joinLevel) add(r *rows) error {
	t := l.table
	keys, bytes := t.size()
	if keys == 0 || bytes < l.memory/2 { // each level has some rows, so there is a last one
		return t.add(r)
	}
	t.widen(r.types)
	equal := t.find(r)
	r.left = make([]bool, r.n)
	for i := range r.left {
		r.left[i] = equal[i].first == 0 && !r.lacks(t.on, i) // a row that lacks a value matches nothing
	}
	if err := l.right.add(r); err != nil {
		return err
	}
	r.filter(func(i int) bool { return equal[i].first != 0 })
	return t.add(r)
}

// match calls use with the matches of rows of LEFT. If rows of RIGHT wait, rows of LEFT without a match wait as well.
func (l *joinLevel) match(r *rows, use func(*matches) error) error {
	l.table.widen(r.types[:len(l.on)])
	l.types = r.types
	m := matches{joining: l.joining, table: l.table, left: r, waits: !l.right.empty()}
	if err := m.all(func() error { return use(&m) }); err != nil || !m.waits {
		return err
	}
	return l.left.add(r)
}

// keep keeps matches until they are printed in the order of LEFT. The last column of their rows has the numbers of
// these.
func (j *joining) keep(ctx context.Context, m *matches) error {
	j.printed += int64(len(m.lefts))
	u := j.runs.last
	u.types = []keytype.Type{keytype.Uint64}
	numbers := m.left.words[len(m.left.words)-1]
	for _, i := range m.lefts {
		u.words[0] = append(u.words[0], numbers[i])
	}
	u.format(len(m.lefts), j.rows.members(j.titles()), m.line)
	if u.bytes() < j.memory/2 {
		return nil
	}
	return j.runs.spill(ctx)
}

// finish joins the rows that wait.
func (l *joinLevel) finish(ctx context.Context) error {
	if l.left.empty() {
		return nil
	}
	right, left := &rows{types: l.table.types}, &rows{types: l.types}
	right.ready(len(right.types), l.batch(len(right.types)))
	left.ready(len(left.types), l.batch(len(left.types)))
	l.table = nil // for the garbage collector
	for part := range spilledParts {
		if err := l.finishPart(ctx, part, right, left); err != nil {
			return err
		}
	}
	return nil
}

// finishPart is finish for the rows in a file of each side.
func (l *joinLevel) finishPart(ctx context.Context, part int, right, left *rows) error {
	next := l.newLevel(newDivision()) // by other hashes: in a file those of all rows are alike
	defer next.close()
	if err := l.right.take(ctx, part, right, next.add); err != nil {
		return err
	}
	if err := l.left.take(ctx, part, left, func(r *rows) error {
		return next.match(r, func(m *matches) error { return l.keep(ctx, m) })
	}); err != nil {
		return err
	}
	return next.finish(ctx)
}

// numbered returns the rows with a column more: their numbers, the first of which is given.
func (r *rows) numbered(first int64) *rows {
	more := *r
	more.types = append(r.types[:len(r.types):len(r.types)], keytype.Uint64)
	more.kept = kept{
		append(r.words[:len(r.words):len(r.words)], make([]uint64, r.n)),
		append(r.texts[:len(r.texts):len(r.texts)], &keytype.Arena{}),
		append(r.nulls[:len(r.nulls):len(r.nulls)], nil),
	}
	for i := range r.n {
		more.words[len(r.words)][i] = uint64(first) + uint64(i)
	}
	return &more
}
