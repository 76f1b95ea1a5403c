package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// change is what update and delete have in common, which change a saved dictionary.
type change struct {
	saved      source // the dictionary
	output     string
	allowEmpty bool
	wait       bool
	json       bool
}

// changeHelp explains what they have in common.
const changeHelp = `The dictionary keeps its structure. Its file is replaced atomically: whatever
interrupts vkds, either the old dictionary or the new one is there, whole. With
-o, the changed dictionary is written to another file, and DICT stays as it is.
A dictionary without pairs does not replace a file, unless --allow-empty is
given.

Only one process at a time can change a dictionary. A second one ends with an
error; with --wait, it waits for its turn.

`

func (x *change) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVarP(&x.output, "output", "o", "", "`file` to save the changed dictionary in\n(default: DICT itself)")
	flags.BoolVar(&x.allowEmpty, "allow-empty", false, emptyHelp)
	flags.BoolVar(&x.wait, "wait", false, "if another process is changing DICT, wait for it")
	flags.BoolVar(&x.json, "json", false, "print one JSON object")
	// The user can't say how to read or load the dictionary: it keeps its types and its structure.
	x.saved.flags, x.saved.saved = pflag.NewFlagSet("", pflag.ContinueOnError), true
	x.saved.into.flags = x.saved.flags
}

// run loads a dictionary, calls apply to change it, saves it, and prints the measures that apply returns. file is where
// the changes come from, "" for the command line.
func (x *change) run(ctx context.Context, g *global, path, file string,
	apply func(d *vk.Device, dict *dictionary) ([]measure, error)) error {
	output := cmp.Or(x.output, path)
	if path == input.Stdin && x.output == "" {
		return fmt.Errorf("a dictionary from standard input can't be changed in its place: -o says where to save it")
	}
	// now rather than after the work
	if err := cmp.Or(dictfile.Check(output), checkInputs("-", path), besideAnswer(x.output)); err != nil {
		return err
	}
	if file != "" {
		if err := checkInputs(output, file); err != nil {
			return err
		}
	}
	if x.output == "" {
		release, err := x.claim(ctx, g, path)
		if err != nil {
			return err
		}
		defer release()
	}
	return x.saved.use(ctx, g, path, func(d *vk.Device, dict *dictionary) error {
		if err := dict.saved.Close(); err != nil { // it has been read, and Windows does not replace an open file
			return err
		}
		dict.saved = nil
		measures, err := apply(d, dict)
		if err != nil {
			return err
		}
		if dict.pairs, err = dict.Len(ctx); err != nil {
			return err
		}
		if err := save(ctx, g, dict, "the changed dictionary", output, x.allowEmpty); err != nil {
			return err
		}
		return g.answerMeasures(append(measures, measure{"pairs", dict.pairs}), x.json)
	})
}

// claim claims the dictionary for a change in place. If another process has it, claim waits or returns an error.
func (x *change) claim(ctx context.Context, g *global, path string) (release func(), err error) {
	switch release, err = outfile.Claim(path); {
	case !errors.Is(err, outfile.ErrClaimed):
		return release, err
	case !x.wait:
		return nil, fmt.Errorf("%w (--wait waits for it)", err)
	}
	g.note("%s is being changed by another process: waiting for it", path)
	return outfile.Await(ctx, path)
}

func newUpdateCommand(g *global) *cobra.Command {
	var x change
	var s source
	var r remote
	var combine string
	c := &cobra.Command{
		Use:   "update DICT TABLE [-o OTHER]",
		Short: "Insert a table's pairs into a saved dictionary or a server",
		Long: `Update inserts the pairs of a table, or of another saved dictionary, into a
saved dictionary. If a key is already there, it gets the table's value. With
--combine, its old and new value are added, or the lesser or the greater one
stays; then all rows with the same key count, not only the last. Update prints
how many rows were inserted, how many assigned and how many skipped, and how
many pairs there are now.

` + changeHelp + `The table is read with the dictionary's types, unless --key-type and
--value-type name others. If a row or a sum does not fit the dictionary's types,
they become wider (see "vkds help types"). A sum that does not fit the widest
type is an error, and the dictionary stays as it was. Floats are added in the
order of the rows. "vkds help tables" explains what a TABLE may be.

With --server, update TABLE inserts the pairs into a server's dictionary
(vkds serve --flight), which keeps its types. Rows go in order, some ten thousand
at a time. If update fails, it tells how many rows are stored surely.`,
		Example: `  vkds update airports.vkds new-airports.csv --key id --value altitude
  vkds update counts.vkds other-counts.vkds -o all-counts.vkds
  vkds update visits.vkds today.csv --combine add
  sqlite3 -csv shop.db 'select id, stock from wares' | vkds update stock.vkds -
  vkds update --server localhost:8815 stock.csv`,
		Args: r.or(takes("a DICT and a TABLE", 2, 2), takes("one TABLE with --server", 1, 1)),
		RunE: func(c *cobra.Command, arguments []string) error {
			if r.given() {
				if err := checkInputs("-", arguments[0]); err != nil {
					return err
				}
				measures, err := r.load(c.Context(), g, &s, arguments[0])
				if err != nil {
					return err
				}
				return g.answerMeasures(measures, x.json)
			}
			ctx, path, table := c.Context(), arguments[0], arguments[1]
			if path == input.Stdin && table == input.Stdin {
				return errBothFromStdin("the dictionary", "the table")
			}
			if err := checkInputs("-", table); err != nil {
				return err
			}
			kind, known := combinations[combine]
			if !known {
				return fmt.Errorf("--combine %s: it is add, min or max", combine)
			}
			return x.run(ctx, g, path, table, func(d *vk.Device, dict *dictionary) ([]measure, error) {
				if kind != structures.Insert && dict.value == keytype.Text {
					return nil, fmt.Errorf("--combine %s is for numbers, and the values of %s are text", combine,
						called(path))
				}
				if kind == structures.InsertAdd && !dict.value.Sums() {
					return nil, fmt.Errorf("--combine add: the values of %s are of type %s, but sums are of numbers",
						called(path), dict.value)
				}
				return s.insertInto(ctx, g, d, dict, path, table, kind)
			})
		},
	}
	x.add(c)
	c.Flags().StringVar(&combine, "combine", "",
		"`how` to combine the values of a key that is already\nthere: add, min or max (default: assign the new value)")
	_ = c.Flags().SetAnnotation("combine", valuesOf, []string{"add", "min", "max"}) // the flag exists
	s.addTable(c)
	r.add(c, "json", "key", "value", "format", "null", "skip-invalid", "delimiter", "header", "no-header", "comment")
	return c
}

// combinations are the values of --combine.
var combinations = map[string]structures.Kind{
	"": structures.Insert, "add": structures.InsertAdd, "min": structures.InsertMin, "max": structures.InsertMax,
}

// insertInto inserts a table's pairs into a dictionary. Its types become wider if a pair needs it.
func (s *source) insertInto(ctx context.Context, g *global, d *vk.Device, dict *dictionary, path, table string,
	kind structures.Kind) ([]measure, error) {
	columns, was := s.options.Columns, dict.types()
	for i, flag := range []string{"key-type", "value-type"} {
		own, wider, c := was[i], was[i].Wider(), &columns[i]
		if named := s.flags.Changed(flag); named && c.Type != own && !slices.Contains(c.Wider, own) {
			return nil, fmt.Errorf("--%s %s: those of %s are %s", flag, c.Type, path, own)
		} else if named && c.Wider == nil {
			wider = nil
		}
		*c = input.Column{Name: c.Name, Type: own, Wider: wider, Before: dict.there[i]}
	}
	l := &loader{ctx: ctx, opening: openAlready(d), combine: kind, sums: kind == structures.InsertAdd,
		dictionary: *dict, tells: true, least: dict.width()}
	l.saved = nil
	err := l.read(g, s, table, func(in *opened) error {
		if meet(dict.key, in.key) && meet(dict.value, in.value) {
			return nil
		}
		return fmt.Errorf("%s has keys of type %s and values of type %s, but %s has %s and %s", called(table), in.key,
			in.value, path, dict.key, dict.value)
	})
	dict.words, dict.textual, dict.key, dict.value = l.words, l.textual, l.key, l.value
	if is := dict.types(); is != was {
		g.note("keys are of type %s now, and values of type %s", is[0], is[1])
	}
	return []measure{{"inserted", l.rows - l.assigned}, {"assigned", l.assigned}, {"skipped", l.skipped + l.nulls}}, err
}

// meet reports whether two types are the same, or can become so by becoming wider.
func meet(t, other keytype.Type) bool {
	both := append(other.Wider(), other)
	return slices.ContainsFunc(append(t.Wider(), t), func(t keytype.Type) bool { return slices.Contains(both, t) })
}

func newDeleteCommand(g *global) *cobra.Command {
	var x change
	var a asked
	var r remote
	c := &cobra.Command{
		Use:   "delete DICT [KEY…] [-o OTHER]",
		Short: "Delete keys from a saved dictionary or a server",
		Long: `Delete deletes keys from a saved dictionary. Keys come from the command line,
else from --keys FILE, else from standard input, one a line. It prints how many
were deleted, how many were absent, and how many pairs are left. A key that is
named twice is absent the second time.

` + changeHelp + `"vkds help keys" explains how to write keys.

With --server, all arguments are keys, which are deleted from a server's
dictionary (vkds serve --flight).`,
		Example: `  vkds delete airports.vkds 507 3797
  vkds delete airports.vkds --keys closed.txt -o open-airports.vkds
  vkds delete --server localhost:8815 507 3797`,
		Args: r.or(takes("a DICT, then keys", 1, math.MaxInt), nil),
		RunE: func(c *cobra.Command, arguments []string) error {
			if r.given() {
				measures, err := r.remove(c.Context(), g, &a, arguments)
				if err != nil {
					return err
				}
				return g.answerMeasures(measures, x.json)
			}
			ctx := c.Context()
			path, err := a.take(ctx, g, arguments)
			if err != nil {
				return err
			}
			defer a.close()
			x.saved.ready = a.begin
			return x.run(ctx, g, path, a.path, func(_ *vk.Device, dict *dictionary) ([]measure, error) {
				var deleted, absent int64
				err := a.read(dict.key, func(b batch) error {
					statuses, err := dict.remove(ctx, b.column(0))
					for _, s := range statuses {
						if s == structures.Deleted {
							deleted++
						} else {
							absent++
						}
					}
					return err
				})
				return []measure{{"deleted", deleted}, {"absent", absent}}, err
			})
		},
	}
	x.add(c)
	a.addKeys(c.Flags())
	r.add(c, "json", "keys", "keys-format", "keys-column", "keys-comment")
	c.SetFlagErrorFunc(minusIsNoFlag)
	return c
}
