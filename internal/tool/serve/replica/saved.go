package replica

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/hashicorp/raft"
	"github.com/tidwall/btree"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// stored is a state at one moment, for a file of the log library: the version, the types, the clock, the number of the
// last change, the seed, the number of deadlines and each with its key, the texts if there are any, and the pairs as
// every structure saves them. The library has a checksum of all.
type stored struct {
	ctx       context.Context
	types     Types
	clock     int64
	changes   uint64
	deadlines *btree.Map[uint64, int64]
	seed      seed
	pairs     Snapshot
}

// store takes a snapshot. Only the goroutine that applies entries may call it.
func (s *state) store(ctx context.Context) (*stored, error) {
	pairs, err := s.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	x := &stored{ctx: ctx, types: s.types, clock: s.clock, changes: s.changes.last(), seed: s.seed, pairs: pairs}
	s.mu.Lock() // a copy of the map makes later changes copy its nodes
	defer s.mu.Unlock()
	x.deadlines = s.deadlines.of.Copy()
	return x, nil
}

// Persist writes the snapshot while other entries are applied.
func (x *stored) Persist(sink raft.SnapshotSink) error {
	if err := x.write(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

// Release closes the snapshot.
func (x *stored) Release() { _ = x.pairs.Close() }

func (x *stored) write(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<16)
	head := []byte{version, byte(x.types.Key), byte(x.types.Value)}
	head = binary.LittleEndian.AppendUint64(head, uint64(x.clock))
	head = x.seed.append(binary.LittleEndian.AppendUint64(head, x.changes))
	head = binary.LittleEndian.AppendUint64(head, uint64(x.deadlines.Len()))
	_, err := w.Write(head)
	x.deadlines.Scan(func(key uint64, at int64) bool {
		pair := binary.LittleEndian.AppendUint64(head[:0], key)
		_, err = w.Write(binary.LittleEndian.AppendUint64(pair, uint64(at)))
		return err == nil
	})
	if err == nil && x.pairs.texts != nil {
		err = writeTexts(w, x.pairs.texts)
	}
	if err != nil {
		return err
	}
	if _, err := x.pairs.Save(x.ctx, w); err != nil {
		return err
	}
	return w.Flush()
}

// restore replaces the state by a stored one. After an error it is as before. Error: *TypesError, and others.
func (s *state) restore(ctx context.Context, from io.Reader) error {
	r := bufio.NewReaderSize(from, 1<<16)
	var head [3 + 8 + 8 + seedBytes + 8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	if head[0] != version {
		return &VersionError{head[0]}
	}
	if have := (Types{keytype.Type(head[1]), keytype.Type(head[2])}); have != s.types {
		return &TypesError{have, s.types}
	}
	var seed seed
	seed.read(head[19:])
	all := newDeadlines()
	for range binary.LittleEndian.Uint64(head[19+seedBytes:]) {
		var pair [16]byte
		if _, err := io.ReadFull(r, pair[:]); err != nil {
			return err
		}
		all.set(binary.LittleEndian.Uint64(pair[:]), int64(binary.LittleEndian.Uint64(pair[8:])))
	}
	var texts *texts
	if s.texts != nil {
		texts = newTexts(s.types)
		texts.hashes = s.texts.hashes
		if err := texts.read(r, seed); err != nil {
			return err
		}
	}
	pairs, err := load(ctx, s.device, r)
	if err != nil {
		return err
	}
	return s.replace(ctx, pairs, all, texts, seed, int64(binary.LittleEndian.Uint64(head[3:])),
		binary.LittleEndian.Uint64(head[11:]))
}
