package btree

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// versionCheck is a check of the versions. Nothing may use them meanwhile.
type versionCheck struct {
	memory *vk.Buffer[uint32] // begins with the report
	marks  int                // where the marks begin in memory, in words
	open   openSnapshots
	now    uint32 // the time that updates would have now
}

const (
	versionRules     = int(LostVersionRule-StampRule) + 1
	versionMarkWords = 4 // for each version
)

type versionCheckPush struct {
	Tree          Description
	Listed        listing
	Versions      vk.Arguments[versionArguments]
	Open          openSnapshots
	Report, Marks uint64
	Slabs         uint32
}

// newVersionCheck waits for work that reads or writes versions, and allocates memory for their check. It returns nil if
// there are no versions. Until the call ends, snapshots may be closed, but no version is freed.
func (t *tree) newVersionCheck(ctx context.Context) (*versionCheck, error) {
	v := &t.versions
	times, _ := v.times()
	if len(times) == 0 || !v.there() {
		return nil, nil
	}
	if err := v.rest(ctx); err != nil {
		return nil, err
	}
	var p recording.Parts
	p.Take(4 * 2 * versionRules)
	open, marks := p.Take(4*len(times)), p.Take(4*versionMarkWords*v.memory.count())
	memory, err := vk.NewBuffer[uint32](t.Device, int(p.Used/4))
	if err != nil {
		return nil, err
	}
	if err := memory.Upload(ctx, int(open/4), times); err != nil {
		memory.Free()
		return nil, err
	}
	return &versionCheck{memory, int(marks / 4),
		openSnapshots{memory.Address() + open, uint32(len(times)), times[0]}, v.next()}, nil
}

func (c *versionCheck) free() {
	if c != nil {
		c.memory.Free()
	}
}

// recordVersionCheck records the check of the versions of listed nodes. Leaves are listed among the inner nodes.
func (t *tree) recordVersionCheck(c *versionCheck, l listing) error {
	if c == nil {
		return nil
	}
	m := &t.versions.memory
	t.Stream.Fill(c.memory, 0, 4*versionRules, 0)
	t.Stream.Fill(c.memory, 4*versionRules, 4*versionRules, noSlab)
	t.Stream.Fill(c.memory, 4*c.marks, 4*versionMarkWords*m.count(), 0)
	versions := vk.NewArguments(t.Stream, t.versions.arguments(c.now))
	for pass := range uint32(2) {
		k, err := t.versionCheckKernel(pass).Kernel(t.Kernels, t.Stream)
		if err != nil {
			return err
		}
		k.Dispatch(t.Stream, t.walkers(max(int(l.InnerMost), m.count())), versionCheckPush{
			t.description(), l, versions, c.open, c.memory.Address(), c.memory.AddressOf(c.marks), uint32(m.slabs()),
		})
	}
	return nil
}

// versionVerdict returns the violations that the check has found.
func (t *tree) versionVerdict(ctx context.Context, c *versionCheck) (found []Violation, err error) {
	if c == nil {
		return nil, nil
	}
	var report [2 * versionRules]uint32
	if err := c.memory.Download(ctx, 0, report[:]); err != nil {
		return nil, err
	}
	for i, n := range report[:versionRules] {
		rule, first := StampRule+Rule(i), report[versionRules+i]
		if !rule.ofVersion() {
			first = t.slabReference(int(first))
		}
		if n != 0 {
			found = append(found, Violation{rule, n, first})
		}
	}
	return found, nil
}
