// Command livejob counts the requests of a trace while somebody reads the counts:
//
//	livejob testdata/orm-night.trace.xz
//
// One goroutine adds the requests to a multiversion tree, batch by batch in the order of the trace. Another one takes
// snapshot after snapshot meanwhile and reads all of it: how many objects were asked for, and how often those of each
// quarter of the keys. Each total is compared with that of a Go map after the same batch. A snapshot that mixed two
// moments would equal none of them.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := errors.New("usage: livejob TRACE, of 32-bit big-endian keys")
	if len(os.Args) == 2 {
		err = run(ctx, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "livejob:", err)
		os.Exit(1)
	}
}

const batches = 50

// totals are what is read of a snapshot, all of one moment.
type totals struct {
	objects  int
	requests [4]uint64 // by the first two bits of an object's key
}

func (t totals) all() uint64 { return t.requests[0] + t.requests[1] + t.requests[2] + t.requests[3] }

func run(ctx context.Context, path string) error {
	trace, err := read(ctx, path)
	if err != nil {
		return err
	}
	d, err := vk.Open(vk.Options{Device: os.Getenv("VKDS_DEVICE")})
	if err != nil {
		return err
	}
	defer d.Close()
	tree, err := btree.New[uint32, uint64](ctx, d, btree.Options{})
	if err != nil {
		return err
	}
	defer tree.Close()
	batch := (len(trace) + batches - 1) / batches
	j := job{tree: tree, trace: trace, batch: batch, oracle: oracle(trace, batch), taken: make(chan struct{}, 1),
		began: time.Now()}
	return j.run(ctx)
}

// read reads a trace.
func read(ctx context.Context, path string) ([]uint32, error) {
	f, err := input.OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := io.ReadAll(f)
	keys := make([]uint32, len(all)/4)
	for i := range keys {
		keys[i] = binary.BigEndian.Uint32(all[4*i:])
	}
	if err == nil && len(keys) == 0 {
		err = fmt.Errorf("%s: no requests", path)
	}
	return keys, err
}

// oracle returns the totals of a Go map before the first batch, after it, and so on.
func oracle(trace []uint32, batch int) []totals {
	counts, now := map[uint32]uint64{}, totals{}
	all := []totals{now}
	for i, key := range trace {
		counts[key]++
		now.requests[key>>30]++
		if now.objects = len(counts); (i+1)%batch == 0 || i+1 == len(trace) {
			all = append(all, now)
		}
	}
	return all
}

// job is what the two goroutines share.
type job struct {
	tree   *btree.Tree[uint32, uint64]
	trace  []uint32
	batch  int
	oracle []totals
	taken  chan struct{} // a snapshot was taken since the last batch began: so each moment has a reader
	began  time.Time
}

func (j *job) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	written := make(chan struct{})
	read := make(chan error, 1)
	go func() {
		err := j.readAll(ctx, written)
		if err != nil {
			stop(err) // the writer has nobody to write for
		}
		read <- err
	}()
	err := j.write(ctx)
	close(written)
	if failed := <-read; failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	left, err := j.tree.Inspect().Versions(ctx)
	if err == nil && (left.Snapshots != 0 || left.Kept != 0) {
		err = fmt.Errorf("%d snapshots and %d versions are left", left.Snapshots, left.Kept)
	}
	if err != nil {
		return err
	}
	return j.tree.Inspect().Check(ctx)
}

// write adds the requests, batch by batch.
func (j *job) write(ctx context.Context) error {
	ones := make([]uint64, j.batch)
	for i := range ones {
		ones[i] = 1
	}
	for from := 0; from < len(j.trace); from += j.batch {
		select {
		case <-j.taken:
		case <-ctx.Done():
			return ctx.Err()
		}
		keys := j.trace[from:min(from+j.batch, len(j.trace))]
		if _, err := j.tree.InsertAdd(ctx, keys, ones[:len(keys)]); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads snapshot after snapshot, the last one behind all batches.
func (j *job) readAll(ctx context.Context, written <-chan struct{}) error {
	snapshots, shown := 0, 0
	for last := false; !last; {
		select {
		case <-written:
			last = true
		default:
		}
		at, got, err := j.readOne(ctx)
		if err != nil {
			return err
		}
		if last && at != len(j.oracle)-1 {
			return fmt.Errorf("the last snapshot is of %d batches, and not of all", at)
		}
		if snapshots++; last || at*10/(len(j.oracle)-1) > shown {
			shown = at * 10 / (len(j.oracle) - 1)
			fmt.Printf("%5.1f s: %8d requests are in, of %6d objects; %4d snapshots read beside, all exact\n",
				time.Since(j.began).Seconds(), got.all(), got.objects, snapshots)
		}
	}
	return nil
}

// readOne reads a snapshot of now, and says behind how many batches it is.
func (j *job) readOne(ctx context.Context) (batches int, got totals, err error) {
	s, err := j.tree.Snapshot(ctx)
	if err != nil {
		return 0, got, err
	}
	defer s.Close()
	select {
	case j.taken <- struct{}{}:
	default: // the writer has not begun the batch yet
	}
	for part, err := range s.Chunks(ctx) { // beside which batches go on
		if err != nil {
			return 0, got, err
		}
		got.objects += len(part.Keys)
		for i, key := range part.Keys {
			got.requests[key>>30] += part.Values[i]
		}
	}
	batches = (int(got.all()) + j.batch - 1) / j.batch
	if batches >= len(j.oracle) || got != j.oracle[batches] {
		return 0, got, fmt.Errorf("WRONG: a snapshot has %d objects, and by quarters %d requests, which no moment had",
			got.objects, got.requests)
	}
	return batches, got, nil
}
