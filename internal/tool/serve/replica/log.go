package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"github.com/vkds/vkds/internal/tool/keytype"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// DamagedError says that a file has other bytes than were written to it.
type DamagedError struct {
	File string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged: %v (docs/serve.md says what to do)", e.File, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// StorageError says that the log could not be written or read, for example because the disk is full. The server ends:
// what the disk has is certain only after it is read again.
type StorageError struct {
	File string
	Err  error
}

func (e *StorageError) Error() string { return fmt.Sprintf("%s: %v", e.File, e.Err) }
func (e *StorageError) Unwrap() error { return e.Err }

var (
	errChecksum = errors.New("its checksum is wrong")
	errBusy     = errors.New("another process has it open")
)

// log keeps the entries in a file of bbolt. It adds what the library lacks: a checksum of each entry.
type log struct {
	*raftboltdb.BoltStore
	path   string
	failed func(error) // called once the disk can't be relied on
}

func openLog(path string) (*log, error) {
	var store *raftboltdb.BoltStore
	err := guarded(path, func() (err error) {
		store, err = raftboltdb.New(raftboltdb.Options{
			Path:                    path,
			BoltOptions:             &bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType},
			MsgpackUseNewTimeFormat: true,
		})
		return err
	})
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		return nil, damaged
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, &StorageError{path, errBusy}
	case errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) ||
		errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, &DamagedError{path, err}
	case err != nil:
		return nil, &StorageError{path, err}
	}
	return &log{BoltStore: store, path: path}, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum returns the checksum of an entry.
func sum(l *raft.Log) []byte {
	var head [17]byte
	binary.LittleEndian.PutUint64(head[:], l.Index)
	binary.LittleEndian.PutUint64(head[8:], l.Term)
	head[16] = byte(l.Type)
	return binary.LittleEndian.AppendUint32(nil, crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, l.Data))
}

// StoreLogs writes entries and waits for the disk.
func (l *log) StoreLogs(logs []*raft.Log) error {
	with := make([]*raft.Log, len(logs))
	for i, x := range logs {
		copied := *x
		copied.Extensions = sum(x)
		with[i] = &copied
	}
	return l.written(l.BoltStore.StoreLogs(with))
}

// StoreLog is StoreLogs of one entry.
func (l *log) StoreLog(x *raft.Log) error { return l.StoreLogs([]*raft.Log{x}) }

// GetLog reads an entry. Further error: *DamagedError.
func (l *log) GetLog(index uint64, into *raft.Log) error {
	if err := l.BoltStore.GetLog(index, into); err != nil {
		return err
	}
	if into.Index != index || string(into.Extensions) != string(sum(into)) {
		return &DamagedError{l.path, fmt.Errorf("entry %d: %w", index, errChecksum)}
	}
	into.Extensions = nil
	return nil
}

// DeleteRange removes entries.
func (l *log) DeleteRange(first, last uint64) error {
	return l.written(l.BoltStore.DeleteRange(first, last))
}

// Set writes what the library must remember: terms and votes.
func (l *log) Set(key, value []byte) error { return l.written(l.BoltStore.Set(key, value)) }

// recall returns what Set has written, or nil.
func (l *log) recall(key []byte) ([]byte, error) {
	value, err := l.Get(key)
	if errors.Is(err, raftboltdb.ErrKeyNotFound) {
		return nil, nil
	}
	return value, err
}

// typesKey is where the folder remembers its types.
var typesKey = []byte("vkds.types")

// types puts those that the folder remembers in the place of options that leave them to it.
func (l *log) types(o *Options) error {
	have, err := l.recall(typesKey)
	if err != nil || len(have) != 2 {
		return err
	}
	if o.KeyOfDir {
		o.Types.Key = keytype.Type(have[0])
	}
	if o.ValueOfDir {
		o.Types.Value = keytype.Type(have[1])
	}
	return nil
}

// number returns what SetUint64 has written, or 0.
func (l *log) number(key []byte) (uint64, error) {
	value, err := l.GetUint64(key)
	if errors.Is(err, raftboltdb.ErrKeyNotFound) {
		return 0, nil
	}
	return value, err
}

// reached reports whether the last entry is of a term or a later one.
func (l *log) reached(term uint64) bool {
	var entry raft.Log
	last, err := l.LastIndex()
	return err == nil && last > 0 && l.GetLog(last, &entry) == nil && entry.Term >= term
}

// SetUint64 is Set of a number.
func (l *log) SetUint64(key []byte, value uint64) error {
	return l.written(l.BoltStore.SetUint64(key, value))
}

// written ends the server if a write has failed. It never returns then: the library would go on as if the disk might be
// all right, or panic.
func (l *log) written(err error) error {
	if err != nil && l.failed != nil {
		l.failed(&StorageError{l.path, err})
		select {}
	}
	return err
}

// guarded calls f, which reads a file of bbolt. A broken page may make that panic, or fault if the file is too short;
// guarded then returns a *DamagedError.
func guarded(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &DamagedError{path, fmt.Errorf("%v", r)}
		}
	}()
	return f()
}

// check reads all entries, so that what is damaged is found before anything is done. Entries that the newest snapshot
// has, up to an index, may be missing.
func (l *log) check(types Types, snapshot uint64) error {
	first, err := l.FirstIndex()
	if err != nil {
		return &DamagedError{l.path, err}
	}
	last, err := l.LastIndex()
	if err != nil {
		return &DamagedError{l.path, err}
	}
	if first > snapshot+1 {
		return &DamagedError{filepath.Join(filepath.Dir(l.path), snapshotFolder),
			fmt.Errorf("no snapshot has what was before entry %d of the log", first)}
	}
	for i := first; i <= last && last > 0; i++ {
		var entry raft.Log
		if err := l.GetLog(i, &entry); errors.Is(err, raft.ErrLogNotFound) && i <= snapshot {
			continue
		} else if err != nil {
			return l.damaged(i, err)
		}
		if entry.Type == raft.LogCommand {
			if _, err := types.decode(entry.Data); err != nil {
				return l.damaged(i, err)
			}
		}
	}
	return nil
}

func (l *log) damaged(index uint64, err error) error {
	var types *TypesError
	var version *VersionError
	var known *DamagedError
	if errors.As(err, &types) || errors.As(err, &version) || errors.As(err, &known) {
		return err
	}
	return &DamagedError{l.path, fmt.Errorf("entry %d: %w", index, err)}
}

// snapshotFolder is where the library keeps snapshots.
const snapshotFolder = "snapshots"

// openSnapshots opens the folder of snapshots, which only the server's user may read, and removes what a server that
// was killed has left unfinished. The caller has the log open, so no other server uses the folder.
func openSnapshots(dir string, output hclog.Logger) (*raft.FileSnapshotStore, error) {
	path := filepath.Join(dir, snapshotFolder)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return nil, err
	}
	all, err := os.ReadDir(path)
	for _, x := range all {
		if strings.HasSuffix(x.Name(), ".tmp") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(path, x.Name())))
		}
	}
	if err != nil {
		return nil, err
	}
	return raft.NewFileSnapshotStoreWithLogger(dir, 2, output)
}

// newest lists the newest snapshot alone. If it can't be restored, the library would take an older one, and then lack
// the entries between the two.
type newest struct{ *raft.FileSnapshotStore }

// List returns the newest snapshot.
func (s newest) List() ([]*raft.SnapshotMeta, error) {
	all, err := s.FileSnapshotStore.List()
	return all[:min(1, len(all))], err
}

// checkSnapshots reads the newest snapshot, of which the library has a checksum, and returns the last entry that it
// has. Without the check, the library would take an older one, or none.
func checkSnapshots(dir string, snapshots raft.SnapshotStore) (last uint64, err error) {
	path := filepath.Join(dir, snapshotFolder)
	all, err := snapshots.List()
	if err != nil {
		return 0, &DamagedError{path, err}
	}
	if len(all) == 0 {
		return 0, nil
	}
	_, r, err := snapshots.Open(all[0].ID)
	if err != nil {
		return 0, &DamagedError{filepath.Join(path, all[0].ID), err}
	}
	return all[0].Index, r.Close()
}
