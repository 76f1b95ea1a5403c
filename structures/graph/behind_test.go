package graph_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Queries come after what streams have recorded, and updates after the lookups that streams have: ErrUnsubmitted while
// one was not submitted, and afterwards in that order.
func TestAfterStreams(t *testing.T) {
	pass.NotWidest(t, "the host orders calls and streams")
	d := testdevice.Open(t)
	g, err := Build(t.Context(), d, Edges{From: []uint32{0, 1}, To: []uint32{1, 2}}, Options{Directed: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()
	s, other := testdevice.Stream(t, d), testdevice.Stream(t, d)
	from, to := testdevice.Upload(t, d, []uint32{0}), testdevice.Upload(t, d, []uint32{3})
	found := testdevice.Room[uint8](t, d, 4)
	update := DeviceBatch{Count: 1, From: from, To: to}
	lookup := DeviceLookups{Count: 1, From: from, To: to, Found: found}
	edge := Edges{From: []uint32{0}, To: []uint32{3}}
	ctx := t.Context()
	queries := map[string]func() error{
		"FindEdges":   func() error { _, _, err := g.FindEdges(ctx, edge); return err },
		"Neighbors":   func() error { _, err := g.Neighbors(ctx, edge.From); return err },
		"AllEdges":    func() error { return last(g.AllEdges(ctx)) },
		"AllVertices": func() error { return last(g.AllVertices(ctx)) },
		"Degrees":     func() error { _, err := g.Degrees(ctx, edge.From); return err },
		"Size":        func() error { _, _, err := g.Size(ctx); return err },
		"CSR":         func() error { return closed(g.CSR(ctx, true)) },
		"Stats":       func() error { _, err := g.Inspect().Stats(ctx); return err },
		// As live analytics do.
		"Use":    func() error { return g.InShaders().Use(ctx, func(Description) error { return nil }) },
		"FindOn": func() error { defer other.Discard(); return g.On(other).Find(lookup) },
	}
	require.NoError(t, g.On(s).Update(ctx, structures.Insert, update))
	for name, query := range queries {
		require.ErrorIs(t, query(), vk.ErrUnsubmitted, name)
	}
	_, err = g.InsertEdges(ctx, edge)
	require.ErrorIs(t, err, vk.ErrUnsubmitted)
	require.NoError(t, g.On(s).Find(lookup), "on the stream itself")
	_, err = s.Submit()
	require.NoError(t, err)
	_, there, err := g.FindEdges(ctx, edge)
	require.NoError(t, err)
	require.Equal(t, []bool{true}, there)
	for name, query := range queries {
		require.NoError(t, query(), name)
	}

	require.NoError(t, g.On(s).Find(lookup))
	require.ErrorIs(t, g.On(other).Update(ctx, structures.Delete, update), vk.ErrUnsubmitted)
	other.Discard()
	_, err = g.DeleteEdges(ctx, edge)
	require.ErrorIs(t, err, vk.ErrUnsubmitted)
	_, err = s.Submit()
	require.NoError(t, err)
	require.NoError(t, g.On(other).Update(ctx, structures.Delete, update))
	require.NoError(t, other.Wait(ctx))
	require.NoError(t, s.Wait(context.Background()))
	require.Equal(t, uint8(1), testdevice.Download(t, found, 4)[0])
}

// closed closes rows.
func closed(rows *CSR, err error) error {
	if err != nil {
		return err
	}
	return rows.Close()
}

// last is the error that an iterator ends with.
func last[T any](of func(yield func(T, error) bool)) (err error) {
	of(func(_ T, now error) bool {
		err = now
		return true
	})
	return err
}
