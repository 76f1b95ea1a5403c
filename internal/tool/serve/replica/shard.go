package replica

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Shard says which part of the keys a cluster keeps, of all clusters that keep one dictionary together. The zero value
// is a cluster that keeps all keys.
type Shard struct{ Number, Of uint16 } // Number is from 1

func (s Shard) String() string {
	if s == (Shard{}) {
		return "all keys"
	}
	return fmt.Sprintf("shard %d of %d", s.Number, s.Of)
}

// ShardError says that a folder or a member has another part of the keys than was asked for.
type ShardError struct {
	Name       string // of the folder or the member
	Have, Want Shard
}

func (e *ShardError) Error() string { return fmt.Sprintf("%s has %v, not %v", e.Name, e.Have, e.Want) }

// shardKey is where the folder remembers its part. A folder of a cluster that keeps all keys lacks it.
var shardKey = []byte("vkds.shard")

func (s Shard) bytes() []byte {
	if s == (Shard{}) {
		return nil
	}
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, s.Number), s.Of)
}

// shard returns an error if the folder was begun with another part of the keys.
func (l *log) shard(o *Options) error {
	began, err := l.recall(typesKey)
	if err != nil {
		return err
	}
	if last, err := l.LastIndex(); err != nil || began == nil && last == 0 {
		return err
	}
	is, err := l.recall(shardKey)
	if err != nil || bytes.Equal(is, o.Shard.bytes()) {
		return err
	}
	have := Shard{}
	if len(is) == 4 {
		have = Shard{binary.LittleEndian.Uint16(is), binary.LittleEndian.Uint16(is[2:])}
	}
	return &ShardError{o.Dir, have, o.Shard}
}

// remember keeps what a folder is of.
func (l *log) remember(o *Options) error {
	for _, x := range []struct{ key, value []byte }{
		{shardKey, o.Shard.bytes()},
		{typesKey, []byte{byte(o.Types.Key), byte(o.Types.Value)}},
	} {
		if is, err := l.recall(x.key); err != nil {
			return err
		} else if bytes.Equal(is, x.value) {
			continue
		}
		if err := l.Set(x.key, x.value); err != nil {
			return err
		}
	}
	return nil
}
