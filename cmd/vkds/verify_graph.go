package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
)

// holdsGraph says whether a file is a saved graph. Of what is no regular file nothing is read.
func holdsGraph(ctx context.Context, path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	r, err := dictfile.Open(ctx, path)
	if err != nil {
		return false // as who reads it finds, too
	}
	defer r.Close()
	return r.Header().Structure == "graph"
}

// verifyGraph reads a saved graph to its end, and checks what is built of it.
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
	if err := loaded.Check(ctx); err != nil {
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
