package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/vk"
)

func newVerifyCommand(g *global) *cobra.Command {
	s := source{looks: true}
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify DICT",
		Short: "Check a saved dictionary, and the structure built from it",
		Long: `Verify checks a saved dictionary in three steps:
  - It reads the whole file, and verifies the checksums, which cover every byte.
  - It builds the structure on the device, as saved or as --structure says. If
    that is a tree, it checks it in the device's memory: the order of its keys,
    the ranges, links and levels of its nodes, their latches, and that exactly
    the nodes in use are allocated.
  - It looks up every pair of the file. For that it reads the file again, so the
    file can't come through a pipe.

It also checks a graph that a Go program has saved: every byte of the file, and
the graph that is built from it.

The exit status is 0 if all is well, else 2.`,
		Example: `  vkds verify airports.vkds
  vkds verify airports.vkds --structure lsm`,
		Args: takes("one DICT", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			return verify(c.Context(), g, &s, arguments[0], asJSON)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	s.addSaved(c)
	return c
}

func verify(ctx context.Context, g *global, s *source, path string, asJSON bool) error {
	if err := checkInputs("-", path); err != nil {
		return err
	}
	if holdsGraph(ctx, path) {
		return verifyGraph(ctx, g, path, asJSON)
	}
	return s.use(ctx, g, path, func(d *vk.Device, dict *dictionary) error {
		measures := []measure{{"structure", dict.structure.name}, {"pairs", dict.pairs}}
		if dict.structure.check != nil && d != nil {
			started := time.Now()
			if err := dict.structure.check(ctx, dict.itself()); err != nil {
				return err
			}
			g.note("checked the %s in %.3g s", dict.structure.name, time.Since(started).Seconds())
			measures = append(measures, measure{"checked", "all that must hold of a " + dict.structure.name})
		}
		found, err := lookAgain(ctx, g, path, dict)
		if err != nil {
			return err
		}
		return g.answerMeasures(append(measures, measure{"found", found}), asJSON)
	})
}

// lookAgain reads a saved dictionary again and looks up each of its pairs. It reads the file that is open, even if the
// path names another one by now.
func lookAgain(ctx context.Context, g *global, path string, dict *dictionary) (found uint64, err error) {
	started := time.Now()
	show, end := g.progress("looking up " + filepath.Base(path))
	defer end()
	err = batches(ctx, 4, (*batch).ready, func(ctx context.Context) (readFunc, error) {
		return reading(dict.saved, show), dict.saved.Rewind(ctx)
	}, func(b batch) error {
		keys, want, have := b.column(0), b.column(1), dict.values()
		values, there, err := dict.find(ctx, keys)
		if err != nil {
			return err
		}
		for i, k := range b.keys {
			switch {
			case !there[i]:
				return fmt.Errorf("%s: key %s is in the file, but not found in the %s", path, keys.Format(k),
					dict.structure.name)
			case !want.same(b.values[i], have, values[i]):
				return fmt.Errorf("%s: key %s has the value %s in the file, but %s in the %s", path, keys.Format(k),
					want.Format(b.values[i]), have.Format(values[i]), dict.structure.name)
			}
		}
		found += uint64(len(b.keys))
		return nil
	})
	if err == nil && found != dict.pairs {
		err = fmt.Errorf("%s: %d pairs in the file, but %d in the %s", path, found, dict.pairs, dict.structure.name)
	}
	if err == nil {
		g.note("looked up %s", rate(found, "pairs", time.Since(started)))
	}
	return found, err
}

// holdsGraph reports whether a file is a saved graph. It looks into regular files only.
func holdsGraph(ctx context.Context, path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	r, err := dictfile.Open(ctx, path)
	if err != nil {
		return false // whoever reads the file will return the error
	}
	defer r.Close()
	return r.Header().Structure == "graph"
}

// verifyGraph reads a saved graph to its end, and checks the graph that is built from it.
func verifyGraph(ctx context.Context, g *global, path string, asJSON bool) (err error) {
	d, err := g.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	file, err := input.OpenFile(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	loaded, err := graph.Load(ctx, d, file, graph.Options{})
	if saved := (*structures.SavedError)(nil); errors.As(err, &saved) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	started := time.Now()
	if err := loaded.Inspect().Check(ctx); err != nil {
		return err
	}
	g.note("checked the graph in %.3g s", time.Since(started).Seconds())
	vertices, edges, err := loaded.Size(ctx)
	if err != nil {
		return err
	}
	return g.answerMeasures([]measure{{"structure", "graph"}, {"vertices", vertices}, {"edges", edges},
		{"checked", "all that must hold of a graph"}}, asJSON)
}
