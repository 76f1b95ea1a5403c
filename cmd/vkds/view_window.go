//go:build glfw

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/vkds/vkds/internal/tool/draw"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// On macOS windows are for the process's first thread, and on all systems for one thread.
func init() { runtime.LockOSThread() }

// show shows the dictionary in a window until that is closed.
func (v *viewing) show(ctx context.Context, g *global, path string) (err error) {
	if g.onHost() {
		return errors.New("--device none: the window is of structures on a device")
	}
	w, err := draw.OpenWindow(draw.WindowOptions{Validation: g.validation})
	if err != nil {
		return fmt.Errorf("--window: %w", err)
	}
	defer func() {
		g.complaints.Add(int64(w.Complaints()))
		err = errors.Join(err, w.Close())
	}()
	g.adopt = w.Adopt
	return v.use(ctx, g, path, func(d *vk.Device, dict *dictionary) error {
		var snapshots closers
		defer snapshots.close()
		show := draw.Show{Title: filepath.Base(path), Every: v.o.Every}
		if show.Scene = sceneOf(dict); show.Scene == nil {
			return fmt.Errorf("--window: %s can't be drawn (--structure: %s)", dict.structure.name,
				strings.Join(drawable(), ", "))
		}
		if v.ops != "" {
			if dict.hasText() {
				return fmt.Errorf("%s has text, and --ops is of numbers", called(path))
			}
			steps, err := readSteps(v.ops, dict)
			if err != nil {
				return err
			}
			show.Steps = stepsOf(dict, steps, &snapshots)
		}
		return w.Run(ctx, d, show)
	})
}

// sceneOf returns how a dictionary is shown; nil: it can't be.
func sceneOf(dict *dictionary) func(context.Context, *draw.Maker) (*draw.Scene, error) {
	l := draw.Look{Width: dict.width(), Key: writtenAs(dict.key), Value: writtenAs(dict.value)}
	if dict.index != nil {
		l.Key = draw.Hex // hashes
	}
	switch t := dict.itself().(type) {
	case interface {
		Inspect() btree.Inspection
		InShaders() btree.InShaders
	}:
		return func(ctx context.Context, m *draw.Maker) (*draw.Scene, error) {
			s, err := t.Inspect().Stats(ctx)
			if err != nil {
				return nil, err
			}
			return m.Tree(ctx, t.InShaders(), l, aboutTree(s))
		}
	case interface {
		Inspect() slabhash.Inspection
		InShaders() structures.InShaders[slabhash.Description]
	}:
		return func(ctx context.Context, m *draw.Maker) (*draw.Scene, error) {
			s, err := t.Inspect().Stats(ctx)
			if err != nil {
				return nil, err
			}
			return m.Table(ctx, t.InShaders(), l, aboutTable(s))
		}
	}
	return nil
}

// writtenAs returns how the window writes words of a type.
func writtenAs(t keytype.Type) draw.Format {
	switch t {
	case keytype.Uint32, keytype.Uint64, keytype.Text:
		return draw.Unsigned
	case keytype.Int32:
		return draw.Signed32
	case keytype.Int64:
		return draw.Signed64
	}
	return draw.Hex
}

// stepsOf returns what the steps of a file do to a dictionary. It adds the snapshots that they open to open.
func stepsOf(dict *dictionary, steps []step, open *closers) (all []draw.Step) {
	for _, s := range steps {
		if s.between != "" { // the window has trees and tables, and trees have snapshots
			all = append(all, draw.Step{Name: "a snapshot", Do: func(ctx context.Context) error {
				snapshot, err := snapshotOf(ctx, dict.itself())
				if err == nil {
					open.add(snapshot)
				}
				return err
			}})
			continue
		}
		name := fmt.Sprintf("%s operations", grouped(len(s.batch.Keys)))
		all = append(all, draw.Step{Name: name, Do: func(ctx context.Context) error {
			return apply(ctx, dict.itself(), s)
		}})
	}
	return all
}

// applier does batches of words.
type applier[W structures.Word] interface {
	Apply(context.Context, structures.Batch[W, W]) (structures.Results[W, W], error)
}

// apply does a step's batch on a structure.
func apply(ctx context.Context, to any, s step) (err error) {
	switch t := to.(type) {
	case applier[uint32]:
		_, err = t.Apply(ctx, batchOf[uint32](s))
	case applier[uint64]:
		_, err = t.Apply(ctx, batchOf[uint64](s))
	}
	return err
}
