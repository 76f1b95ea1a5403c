package slabs

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// retirer uses a reclaimer with the test kernel of epoch.glsl, step by step.
type retirer struct {
	*user
	pool      *Pool
	reclaimer *Reclaimer
	kernel    *vk.Kernel[retirerPush]
	epochs    *vk.Buffer[uint32]
	slabs     *vk.Buffer[uint32]
}

type retirerPush struct {
	Pool                   PoolDescription
	Reclaimer              ReclaimerDescription
	Epochs, Slabs, Answers uint64
	Subgroup, What         uint32
}

// The steps.
const (
	enters = iota
	retires
	leaves
)

func newReclaimer(t *testing.T, p *Pool, o ReclaimerOptions) *Reclaimer {
	t.Helper()
	r, err := NewReclaimer(t.Context(), p, o)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

func newRetirer(t *testing.T, d *vk.Device, p *Pool, o ReclaimerOptions) *retirer {
	r := &retirer{user: newUser(t, d), pool: p, reclaimer: newReclaimer(t, p, o)}
	m, err := kernels.Load("test/epoch")
	require.NoError(t, err)
	r.kernel, err = vk.NewKernel[retirerPush](d, m, vk.KernelOptions{Constants: map[string]uint32{
		"FUNCTION": 0, "POOL_LIGHT": 0, "POOL_SUPER_SHIFT": smallSupers}})
	require.NoError(t, err)
	r.epochs, err = vk.NewBuffer[uint32](d, 3*1024)
	require.NoError(t, err)
	r.slabs, err = vk.NewBuffer[uint32](d, 128)
	require.NoError(t, err)
	t.Cleanup(func() {
		r.kernel.Free()
		r.epochs.Free()
		r.slabs.Free()
	})
	return r
}

// retires sets the slabs that the next steps retire, at most as many as a subgroup has lanes.
func (r *retirer) retires(slabs ...uint32) {
	words := make([]uint32, 128)
	for i := range words {
		words[i] = ^uint32(0)
		if i < len(slabs) {
			words[i] = slabs[i]
		}
	}
	require.NoError(r.t, r.slabs.Upload(r.t.Context(), 0, words))
}

// on records a launch of steps for the first subgroup.
func (r *retirer) on(s *vk.Stream, steps ...uint32) error {
	launch, err := r.reclaimer.Begin(s)
	if err != nil {
		return err
	}
	return launch.Record(func() error {
		for _, step := range steps {
			r.kernel.Dispatch(s, 1, retirerPush{Pool: launch.Pool, Reclaimer: launch.Reclaimer,
				Epochs: r.epochs.Address(), Slabs: r.slabs.Address(), What: step})
		}
		return nil
	})
}

func (r *retirer) stats() ReclaimerStats {
	s, err := r.reclaimer.Stats(r.t.Context())
	require.NoError(r.t, err)
	return s
}

func (r *retirer) epoch() uint32 {
	var words [1]uint32
	require.NoError(r.t, r.reclaimer.state.Download(r.t.Context(), 0, words[:]))
	return words[0]
}

// Retired slabs return to the pool after their launch, including those that found no room in a bag and those of a pool
// that has grown. No other slab does. An epoch that was never left is counted, and does not delay later launches.
func TestReclaimer(t *testing.T) {
	d := testdevice.Open(t)
	p := newPool(t, d, Options{Blocks: 4, SuperShift: smallSupers})
	r := newRetirer(t, d, p, ReclaimerOptions{Stripes: 2, BagSlabs: 3})
	first := r.allocate(p, 4*BlockSlabs)
	r.retires(first[:4]...) // one slab finds no room
	require.NoError(t, r.on(r.stream, enters, retires, leaves))
	require.NoError(t, r.stream.Wait(t.Context()))
	require.Equal(t, 4*BlockSlabs-4, stats(t, p).Allocated)
	all := r.stats()
	require.Equal(t, ReclaimerStats{Left: 3, Kept: 1, Bytes: all.Bytes}, all)

	require.NoError(t, p.Grow(t.Context(), 1))
	second := r.allocate(p, 4*BlockSlabs)
	last := second[len(second)-1]
	require.EqualValues(t, 1, last>>24, "of the new super block")
	r.retires(first[4], first[5], first[6], last)
	require.NoError(t, r.on(r.stream, enters, retires)) // and never leaves
	require.NoError(t, r.stream.Wait(t.Context()))
	require.Equal(t, 8*BlockSlabs-8, stats(t, p).Allocated)
	require.False(t, marked(t, p)[last])
	require.EqualValues(t, 1, r.stats().Stuck)
	require.EqualValues(t, 8, r.stats().Left+r.stats().Kept)

	epoch := r.epoch()
	r.retires(first[8:12]...)
	require.NoError(t, r.on(r.stream, enters, retires, leaves))
	require.NoError(t, r.stream.Wait(t.Context()))
	require.Equal(t, 8*BlockSlabs-12, stats(t, p).Allocated)
	require.Equal(t, epoch+1, r.epoch())
	require.EqualValues(t, 1, r.stats().Stuck)
}

// Launches of several streams run one after the other. If one was not submitted, the others return an error.
func TestReclaimerOnStreams(t *testing.T) {
	d := testdevice.Open(t)
	p := newPool(t, d, Options{Blocks: 1, SuperShift: smallSupers})
	r := newRetirer(t, d, p, ReclaimerOptions{})
	slabs := r.allocate(p, 10)
	r.retires(slabs[:3]...)
	other, err := d.NewStream()
	require.NoError(t, err)
	defer other.Close()

	require.NoError(t, r.on(r.stream, enters, retires, leaves))
	require.ErrorIs(t, r.on(other, enters, leaves), vk.ErrUnsubmitted)
	require.ErrorIs(t, p.Grow(t.Context(), 1), vk.ErrUnsubmitted)
	_, err = r.reclaimer.Stats(t.Context())
	require.ErrorIs(t, err, vk.ErrUnsubmitted)
	_, err = r.stream.Submit()
	require.NoError(t, err)
	require.NoError(t, r.on(other, enters, leaves))
	require.NoError(t, other.Wait(t.Context()))
	require.EqualValues(t, 3, r.stats().Left, "the other one's launch was first")
	require.Equal(t, 7, stats(t, p).Allocated)

	wrong := errors.New("wrong")
	launch, err := r.reclaimer.Begin(r.stream)
	require.NoError(t, err)
	require.ErrorIs(t, launch.Record(func() error { return wrong }), wrong)
	require.NoError(t, r.stream.Wait(t.Context()), "nothing was recorded")
	foreign, err := testdevice.Open(t, vk.Options{Without: []vk.Feature{vk.Int64}}).NewStream()
	require.NoError(t, err)
	defer foreign.Close()
	var is *vk.ForeignError
	require.ErrorAs(t, r.on(foreign), &is)
	r.reclaimer.Close()
	r.reclaimer.Close()
	require.ErrorIs(t, r.on(r.stream), vk.ErrClosed)
	_, err = r.reclaimer.Stats(t.Context())
	require.ErrorIs(t, err, vk.ErrClosed)
}

func TestReclaimerOptions(t *testing.T) {
	p := newPool(t, testdevice.Open(t), Options{})
	for _, o := range []ReclaimerOptions{{Stripes: 3}, {Stripes: -1}, {Stripes: 8192}, {BagSlabs: -1},
		{BagSlabs: 1 << 17}} {
		_, err := NewReclaimer(t.Context(), p, o)
		require.Error(t, err, "%+v", o)
	}
}
