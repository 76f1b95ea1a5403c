package runs

import (
	"github.com/vkds/vkds/vk"
)

type indexPush struct {
	Keys, Index  uint64
	Count, Words uint32
}

const indexWorkgroup = 256

// BuildIndex records the building of the index of a run of n sorted keys. The index takes IndexKeys keys and is aligned
// to 128 bytes. BuildIndex also fills the keys up to Padded with ~0. Record it after every change of the run.
func (q *Queries) BuildIndex(s *vk.Stream, keys uint64, n int, index uint64) error {
	if err := check(n); err != nil {
		return err
	}
	k, err := q.of.index.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	words := IndexKeys(q.w, n)
	k.Dispatch(s, groups(words+Padded(q.w, n)-n, indexWorkgroup), indexPush{keys, index, uint32(n), uint32(words)})
	return nil
}
