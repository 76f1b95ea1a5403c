package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"
	tidwall "github.com/tidwall/btree"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// store is an ordered dictionary with snapshots.
type store interface {
	insert(keys, values []uint32) error
	snapshot() (view, error)
	close() error
}

// view is what a store held. Several goroutines find in it.
type view interface {
	find(keys, values []uint32) error // of keys that are there
	each(do func(key, value uint32)) error
	close() error
}

const seriesBatches = 8

// snapshots measures a series of batches of new pairs, each behind a snapshot of its own with the one before closed,
// and then what a snapshot that the last batch came behind answers.
func snapshots(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("peers snapshots", flag.ContinueOnError)
	n := flags.Int("n", 1<<20, "pairs before the batches")
	batch := flags.Int("batch", 1<<17, "pairs of each of 8 batches")
	device := flags.String("device", "", "the device of vkds; empty: the best one")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *n < 1 || *batch < 1 || flags.NArg() != 0 {
		return errors.New("peers snapshots takes -n and -batch, 1 at least, and nothing else")
	}
	d, err := vk.Open(vk.Options{Device: *device})
	if err != nil {
		return err
	}
	defer d.Close()
	w := newSeries(*n, *batch)
	fmt.Fprintf(out, "%s, %d processors, %d pairs and %d batches of %d; M/s\n", d.Info().Name, runtime.NumCPU(), *n,
		seriesBatches, *batch)
	fmt.Fprintf(out, "%-20s %10s %10s %10s\n", "", "insert", "find", "iterate")
	for _, x := range []struct {
		name string
		make func() (store, error)
	}{
		{"vkds mvbtree", func() (store, error) { return newTree(ctx, d) }},
		{"tidwall/btree, Copy", func() (store, error) { return &copied{}, nil }},
		{"pebble, in memory", newPebble},
	} {
		s, err := x.make()
		if err != nil {
			return err
		}
		rates, err := w.measure(s)
		if err := errors.Join(err, s.close()); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		fmt.Fprintf(out, "%-20s %10.3f %10.3f %10.3f\n", x.name, rates[0], rates[1], rates[2])
	}
	return nil
}

// series is what all are given to do.
type series struct {
	n, batch     int
	keys, values []uint32 // of all batches, different ones
	asked        []uint32 // places of what is looked up, behind which the last batch came
}

func newSeries(n, batch int) *series {
	rng := rand.New(rand.NewPCG(1, 2))
	all := n + seriesBatches*batch
	s := &series{n: n, batch: batch, keys: make([]uint32, all), values: make([]uint32, all)}
	for i := range s.keys {
		s.keys[i], s.values[i] = uint32(i)*2654435761, rng.Uint32() // a bijection
	}
	for _, i := range rng.Perm(all - batch) {
		s.asked = append(s.asked, uint32(i))
	}
	return s
}

// measure returns millions of insertions, lookups and pairs of an iteration a second.
func (w *series) measure(s store) (rates [3]float64, err error) {
	if err := s.insert(w.keys[:w.n], w.values[:w.n]); err != nil {
		return rates, err
	}
	var at view
	start := time.Now()
	for from := w.n; from < len(w.keys); from += w.batch {
		next, err := s.snapshot()
		if err != nil {
			return rates, err
		}
		if at != nil {
			err = at.close()
		}
		at = next
		if err = errors.Join(err, s.insert(w.keys[from:from+w.batch], w.values[from:from+w.batch])); err != nil {
			return rates, err
		}
	}
	rates[0] = rate(seriesBatches*w.batch, start)
	defer at.close()
	if rates[1], err = w.finds(at); err != nil {
		return rates, err
	}
	sum, pairs, want := uint64(0), 0, uint64(0)
	start = time.Now()
	err = at.each(func(key, value uint32) { sum, pairs = sum+uint64(key^value), pairs+1 })
	rates[2] = rate(pairs, start)
	for _, i := range w.asked {
		want += uint64(w.keys[i] ^ w.values[i])
	}
	if err == nil && (pairs != len(w.asked) || sum != want) {
		err = fmt.Errorf("the snapshot has %d pairs instead of %d, or other ones", pairs, len(w.asked))
	}
	return rates, err
}

func rate(n int, since time.Time) float64 { return float64(n) / time.Since(since).Seconds() / 1e6 }

// finds has as many goroutines as there are processors look all keys up: of vkds, which takes them at once, one.
func (w *series) finds(at view) (float64, error) {
	keys, got := make([]uint32, len(w.asked)), make([]uint32, len(w.asked))
	for i, place := range w.asked {
		keys[i] = w.keys[place]
	}
	parts := runtime.NumCPU()
	if _, ours := at.(treeView); ours {
		parts = 1
	}
	failed := make([]error, parts)
	var wait sync.WaitGroup
	start := time.Now()
	for p := range parts {
		first, end := p*len(keys)/parts, (p+1)*len(keys)/parts
		wait.Go(func() { failed[p] = at.find(keys[first:end], got[first:end]) })
	}
	wait.Wait()
	r := rate(len(keys), start)
	for i, place := range w.asked {
		if got[i] != w.values[place] {
			failed = append(failed, fmt.Errorf("key %d has value %d instead of %d", keys[i], got[i], w.values[place]))
			break
		}
	}
	return r, errors.Join(failed...)
}

type tree struct {
	ctx context.Context
	*btree.Tree[uint32, uint32]
}

type treeView struct {
	ctx context.Context
	*btree.Snapshot[uint32, uint32]
}

func newTree(ctx context.Context, d *vk.Device) (store, error) {
	t, err := btree.New[uint32, uint32](ctx, d, btree.Options{})
	return tree{ctx, t}, err
}

func (t tree) close() error { return t.Close() }
func (t tree) insert(keys, values []uint32) error {
	_, err := t.Insert(t.ctx, keys, values)
	return err
}

func (t tree) snapshot() (view, error) {
	s, err := t.Snapshot(t.ctx)
	return treeView{t.ctx, s}, err
}

func (v treeView) close() error { return v.Close() }
func (v treeView) find(keys, values []uint32) error {
	got, _, err := v.Find(v.ctx, keys)
	copy(values, got)
	return err
}

func (v treeView) each(do func(key, value uint32)) error {
	for part, err := range v.Chunks(v.ctx) {
		if err != nil {
			return err
		}
		for i, key := range part.Keys {
			do(key, part.Values[i])
		}
	}
	return nil
}

// copied is a tree of which snapshots are copies, that share nodes until one of both changes them.
type copied struct{ t tidwall.Map[uint32, uint32] }

func (c *copied) close() error            { return nil }
func (c *copied) snapshot() (view, error) { return &copied{*c.t.Copy()}, nil }
func (c *copied) insert(keys, values []uint32) error {
	for i, key := range keys {
		c.t.Set(key, values[i])
	}
	return nil
}

func (c *copied) find(keys, values []uint32) error {
	for i, key := range keys {
		values[i], _ = c.t.Get(key)
	}
	return nil
}

func (c *copied) each(do func(key, value uint32)) error {
	c.t.Scan(func(key, value uint32) bool { do(key, value); return true })
	return nil
}

// pebbles is Pebble over a file system in memory, without a log.
type pebbles struct{ db *pebble.DB }

type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(f string, a ...any) {
	panic(fmt.Sprintf(f, a...))
}

func newPebble() (store, error) {
	db, err := pebble.Open("", &pebble.Options{FS: vfs.NewMem(), DisableWAL: true, Logger: silent{}})
	return pebbles{db}, err
}

func (p pebbles) close() error            { return p.db.Close() }
func (p pebbles) snapshot() (view, error) { return pebbleView{p.db.NewSnapshot()}, nil }
func (p pebbles) insert(keys, values []uint32) error {
	b := p.db.NewBatch()
	for i, key := range keys {
		if err := b.Set(binary.BigEndian.AppendUint32(nil, key), binary.LittleEndian.AppendUint32(nil, values[i]),
			nil); err != nil {
			return err
		}
	}
	return b.Commit(pebble.NoSync)
}

type pebbleView struct{ s *pebble.Snapshot }

func (v pebbleView) close() error { return v.s.Close() }
func (v pebbleView) find(keys, values []uint32) error {
	var k [4]byte
	for i, key := range keys {
		binary.BigEndian.PutUint32(k[:], key)
		value, closer, err := v.s.Get(k[:])
		if err != nil {
			return err
		}
		values[i] = binary.LittleEndian.Uint32(value)
		if err := closer.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (v pebbleView) each(do func(key, value uint32)) error {
	all, err := v.s.NewIter(nil)
	if err != nil {
		return err
	}
	for ok := all.First(); ok; ok = all.Next() {
		do(binary.BigEndian.Uint32(all.Key()), binary.LittleEndian.Uint32(all.Value()))
	}
	return all.Close()
}
