package vk

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
)

// cramp limits the process to the address space that it has and the given number of bytes more.
func cramp(more uint64) (undo func(), err error) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return nil, err
	}
	pages, err := strconv.ParseUint(strings.Fields(string(statm))[0], 10, 64)
	if err != nil {
		return nil, err
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &before); err != nil {
		return nil, err
	}
	less := before
	less.Cur = pages*uint64(os.Getpagesize()) + more
	return func() { syscall.Setrlimit(syscall.RLIMIT_AS, &before) }, syscall.Setrlimit(syscall.RLIMIT_AS, &less)
}

// If the process has no room for a host buffer, NewHostBuffer returns a typed error, also if the driver reports that
// mapping it succeeded.
func TestHostBufferWithoutRoom(t *testing.T) {
	d := openFor(t, Options{CacheDir: "none"})
	undo, err := cramp(128 << 20)
	if err != nil {
		t.Skip("address space can't be limited here: ", err)
	}
	b, err := NewHostBuffer[uint32](d, 256<<20)
	undo()
	if err == nil {
		require.NotZero(t, b.Slice()[0]+1)
		t.Skip("the driver's memory is not of the process's address space")
	}
	var memory *OutOfMemoryError
	require.ErrorAs(t, err, &memory)
	require.EqualValues(t, 1<<30, memory.Bytes)
	again, err := NewHostBuffer[uint32](d, 1<<20)
	require.NoError(t, err)
	again.Slice()[1<<20-1] = 1
	again.Free()
}

// If a driver keeps memory in a file that would exceed the process's limit, the typed error says so, and there is no
// SIGBUS.
func TestMemoryBeyondFileLimit(t *testing.T) {
	pass.NotEmulated(t, "memory is the emulator's")
	d := openFor(t, Options{CacheDir: "none"})
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	limited := before
	limited.Cur = 4096
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited))
	b, err := NewBuffer[uint32](d, 16<<20)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))
	if err == nil {
		require.NoError(t, b.Upload(t.Context(), 16<<20-1, []uint32{1}))
		b.Free()
		t.Skip("the driver's memory is in no file")
	}
	var memory *OutOfMemoryError
	require.ErrorAs(t, err, &memory)
	require.EqualValues(t, 64<<20, memory.Bytes)
	require.NotNil(t, memory.FileLimit)
	require.EqualValues(t, 4096, *memory.FileLimit)
	require.Contains(t, err.Error(), "a file may have at most 4096 bytes (ulimit -f)")
}

func init() {
	if more := os.Getenv("VKDS_TEST_CRAMPED"); more != "" {
		openCramped(more)
		os.Exit(0)
	}
}

// openCramped opens the device in a process that may allocate only so much more memory, and returns the outcome.
func openCramped(more string) {
	runtime.LockOSThread()
	bytes, _ := strconv.ParseUint(more, 10, 64)
	if _, err := cramp(bytes); err != nil {
		fmt.Println("unlimited")
		return
	}
	d, err := Open(Options{CacheDir: "none"})
	switch {
	case err == nil:
		fmt.Println("opened")
		d.Close()
	case errors.Is(err, ErrNoRoom):
		fmt.Println("memory:", err)
	default:
		fmt.Println("other:", err)
	}
}

// If memory is missing, Open says so, whatever error the loader and the drivers report.
func TestOpenWithoutRoom(t *testing.T) {
	pass.NotEmulated(t, "memory is the emulator's")
	said := 0
	for more := uint64(8 << 20); more <= 1<<30; more *= 2 {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "VKDS_TEST_CRAMPED="+strconv.FormatUint(more, 10))
		out, err := command.Output()
		t.Logf("%d MiB: %s", more>>20, out)
		if err != nil {
			continue // Go's runtime or the driver ended the process, so vk could not return an error
		}
		require.NotContains(t, string(out), "other:")
		if strings.HasPrefix(string(out), "memory:") || strings.HasPrefix(string(out), "unlimited") {
			said++
		}
	}
	require.Positive(t, said)
}

// Lengths that exceed every device return an error at once, and nothing is allocated.
func TestAbsurdLengths(t *testing.T) {
	d := openFor(t, Options{})
	for _, n := range []int{-1, math.MinInt, math.MaxInt, 1 << 50, 1 << 61, 1<<61 + 1, 1 << 62} {
		for _, make := range []func() error{
			func() error { _, err := NewBuffer[uint32](d, n); return err },
			func() error { _, err := NewBuffer[uint64](d, n); return err },
			func() error { _, err := NewHostBuffer[uint8](d, n); return err },
			func() error { _, err := NewHostBuffer[uint64](d, n); return err },
		} {
			require.ErrorIs(t, make(), ErrNoRoom, n)
		}
	}
	used, _ := d.Memory()
	require.Zero(t, used)
	require.Empty(t, d.memory.device.blocks)
	require.Empty(t, d.memory.host.blocks)
}
