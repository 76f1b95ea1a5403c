package doctor

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/vk"
)

// lab has what the tests use: a stream, random numbers, and the buffers and kernels of the current test.
type lab struct {
	d     *vk.Device
	s     *vk.Stream
	rnd   *rand.Rand
	fault bool
	lost  bool    // the device is lost
	looks float64 // atomic loads that an invocation in a loop does in a second
	made  []interface{ Free() }
}

func newLab(ctx context.Context, d *vk.Device, seed uint64, fault bool) (*lab, error) {
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	l := &lab{d: d, s: s, rnd: rand.New(rand.NewPCG(seed, 0x6c61626f72)), fault: fault}
	err = l.calibrate(ctx)
	if err = errors.Join(err, l.clear()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return l, nil
}

func (l *lab) close() error { return errors.Join(l.clear(), l.s.Close()) }

// clear waits for the device and frees what a test made.
func (l *lab) clear() error {
	err := l.s.Wait(context.Background())
	for _, m := range l.made {
		m.Free()
	}
	l.made = nil
	return err
}

// load makes a kernel from one of the doctor's modules. clear frees it. subgroup 0 is the device's own size.
func load[P any](l *lab, module string, workgroup, subgroup int, constants map[string]uint32) (*vk.Kernel[P], error) {
	m, err := shaders.Load("doctor/" + module)
	if err != nil {
		return nil, err
	}
	all := map[string]uint32{"FAULT": 0}
	if l.fault {
		all["FAULT"] = 1
	}
	for name, value := range constants {
		all[name] = value
	}
	k, err := vk.NewKernel[P](l.d, m, vk.KernelOptions{Workgroup: workgroup, SubgroupSize: subgroup, Constants: all})
	if err != nil {
		return nil, err
	}
	l.made = append(l.made, k)
	return k, nil
}

// words makes buffers of the given numbers of words. clear frees them. The next run sets them to 0.
func (l *lab) words(counts ...int) ([]*vk.Buffer[uint32], error) {
	var all []*vk.Buffer[uint32]
	for _, n := range counts {
		b, err := vk.NewBuffer[uint32](l.d, n)
		if err != nil {
			return nil, err
		}
		l.made = append(l.made, b)
		l.zero(b)
		all = append(all, b)
	}
	return all, nil
}

func (l *lab) zero(all ...*vk.Buffer[uint32]) {
	for _, b := range all {
		l.s.Fill(b, 0, b.Len(), 0)
	}
}

// trialTime is the time for the trials of a test.
const trialTime = 150 * time.Millisecond

// repeat runs trials until trialTime has passed, and at least four. Each trial sets the buffers to 0, records what push
// records, runs the kernel with the result of push, and calls check with the contents of the buffers. check returns
// false if invocations that should run at the same time did not, as can happen on a busy machine. Then repeat continues
// for up to four times trialTime.
func repeat[P any](ctx context.Context, l *lab, k *vk.Kernel[P], groups int, buffers []*vk.Buffer[uint32],
	push func() P, check func(contents [][]uint32) (met bool)) error {
	begin := time.Now()
	met := false
	for trial := 0; trial < 4 || time.Since(begin) < trialTime || !met && time.Since(begin) < 4*trialTime; trial++ {
		l.zero(buffers...)
		if err := run(ctx, l, k, groups, push()); err != nil {
			return err
		}
		var contents [][]uint32
		for _, b := range buffers {
			c, err := read(ctx, b)
			if err != nil {
				return err
			}
			contents = append(contents, c)
		}
		met = check(contents)
	}
	return nil
}

// run dispatches a kernel and waits until it has ended.
func run[P any](ctx context.Context, l *lab, k *vk.Kernel[P], groups int, p P) error {
	k.Dispatch(l.s, groups, p)
	return l.s.Wait(ctx)
}

// read returns the contents of a buffer.
func read(ctx context.Context, b *vk.Buffer[uint32]) ([]uint32, error) {
	all := make([]uint32, b.Len())
	return all, b.Download(ctx, 0, all)
}

// crowd returns an even number of workgroups of one or a few subgroups that the device can surely run at once.
func (l *lab) crowd() int {
	if l.d.Info().Type == vk.CPU {
		return 2 * max(1, runtime.NumCPU()/2)
	}
	return 64
}

// meeting is Meeting of litmus.glsl: where workgroups wait for each other before they begin.
type meeting struct {
	Arrivals uint64
	Wanted   uint32
	Patience uint32
}

func (l *lab) meeting(arrivals *vk.Buffer[uint32], groups int) meeting {
	return meeting{arrivals.Address(), uint32(min(groups, l.crowd())), l.patience(l.meetingTime())}
}

// meetingTime returns how long workgroups wait for others that do not begin: long enough for all threads of a CPU
// device to start, and much shorter than any watchdog's limit.
func (l *lab) meetingTime() time.Duration {
	if l.d.Info().Type == vk.CPU {
		return 25 * time.Millisecond
	}
	return 10 * time.Millisecond
}

// workgroup returns the size of a workgroup with this many subgroups of the device's own size, or as many as fit.
func (l *lab) workgroup(subgroups int) int {
	size := l.d.SubgroupSize()
	return max(size, min(subgroups*size, l.d.Info().MaxWorkgroup/size*size))
}

// patience returns how many reads of a word an invocation does in about the given time.
func (l *lab) patience(t time.Duration) uint32 {
	return uint32(min(max(l.looks*t.Seconds(), 1000), 1<<26))
}

// calibrate measures looks with a workgroup that waits in vain for a second one. It waits long enough that the start of
// the kernel takes only a small part of the time.
func (l *lab) calibrate(ctx context.Context) error {
	k, err := load[progressPush](l, "progress", l.workgroup(1), 0, map[string]uint32{"BETWEEN": betweenWorkgroups})
	if err != nil {
		return err
	}
	b, err := l.words(1, 1)
	if err != nil {
		return err
	}
	for looks := uint32(1000); ; looks *= 4 {
		l.zero(b...)
		if err := l.s.Wait(ctx); err != nil {
			return err
		}
		begin := time.Now()
		if err := run(ctx, l, k, 1, progressPush{Turns: b[0].Address(), Tickets: b[1].Address(), Moves: 4,
			Patience: looks}); err != nil {
			return err
		}
		took := time.Since(begin)
		l.looks = float64(looks) / took.Seconds()
		if took > 10*time.Millisecond || looks >= 1<<24 {
			return nil
		}
	}
}
