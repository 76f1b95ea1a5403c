package vk

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk/internal/native"
)

// TestDeviceLost loses the device in each call in which that can happen. Then every later call must return
// ErrDeviceLost, and Close must succeed while buffers, kernels and streams are still open.
func TestDeviceLost(t *testing.T) {
	ctx := context.Background()
	for _, call := range []string{"vkQueueSubmit2", "vkWaitSemaphores", "vkGetSemaphoreCounterValue",
		"vkEndCommandBuffer", "vkBeginCommandBuffer"} {
		t.Run(call, func(t *testing.T) {
			failing := false
			d, err := Open(Options{CacheDir: "none", staged: true, fault: func(name string) native.Result {
				if failing && name == call {
					return native.ErrorDeviceLost
				}
				return native.Success
			}})
			require.NoError(t, err)
			s, submit := busy(t, d, 0)
			submit()
			require.NoError(t, s.Wait(ctx))
			b := buffer[uint32](t, d, 100)
			require.NoError(t, b.Upload(ctx, 0, numbers(100)))
			k := scaleKernel(t, d, KernelOptions{})
			p, err := s.Submit()
			require.NoError(t, err)

			failing = true
			k.Dispatch(s, 1, scale{b.Address(), b.Address(), 100, 1})
			// If the counter shows at once that the work has ended, no goroutine sleeps.
			for err == nil {
				if call == "vkWaitSemaphores" {
					_, err = s.line.sleep(s.last)
				} else {
					err = s.Wait(ctx)
				}
			}
			require.ErrorIs(t, err, ErrDeviceLost)

			s.Fill(b, 0, 1, 1)
			require.ErrorIs(t, s.Wait(ctx), ErrDeviceLost)
			require.ErrorIs(t, p.Wait(ctx), ErrDeviceLost)
			_, err = p.Done()
			require.ErrorIs(t, err, ErrDeviceLost)
			require.ErrorIs(t, b.Upload(ctx, 0, numbers(100)), ErrDeviceLost)
			require.ErrorIs(t, b.Download(ctx, 0, numbers(100)), ErrDeviceLost)
			_, err = NewBuffer[uint32](d, 1)
			require.ErrorIs(t, err, ErrDeviceLost)
			_, err = NewHostBuffer[uint32](d, 1)
			require.ErrorIs(t, err, ErrDeviceLost)
			_, err = NewKernel[scale](d, module(t, "scale"), KernelOptions{})
			require.ErrorIs(t, err, ErrDeviceLost)
			_, err = d.NewStream()
			require.ErrorIs(t, err, ErrDeviceLost)
			require.NoError(t, d.Close())
			require.NoError(t, d.Close())
			require.ErrorIs(t, b.Upload(ctx, 0, nil), ErrClosed)
			require.ErrorIs(t, p.Wait(ctx), ErrDeviceLost)
		})
	}
}

// TestUploadLosesTheDevice loses the device between two chunks of an upload.
func TestUploadLosesTheDevice(t *testing.T) {
	ctx := context.Background()
	submissions := -1 << 30
	d, err := Open(Options{CacheDir: "none", staged: true, StagingBytes: 64 << 10,
		fault: func(name string) native.Result {
			if name == "vkQueueSubmit2" {
				if submissions++; submissions > 5 {
					return native.ErrorDeviceLost
				}
			}
			return native.Success
		}})
	require.NoError(t, err)
	b := buffer[uint32](t, d, 1_000_000)
	submissions = 0
	require.ErrorIs(t, b.Upload(ctx, 0, numbers(1_000_000)), ErrDeviceLost)
	require.ErrorIs(t, b.Download(ctx, 0, numbers(10)), ErrDeviceLost)
	require.NoError(t, d.Close())
}

func TestAfterClose(t *testing.T) {
	ctx := context.Background()
	d, err := Open(Options{CacheDir: "none"})
	require.NoError(t, err)
	b, s, k := buffer[uint32](t, d, 8), stream(t, d), scaleKernel(t, d, KernelOptions{})
	h, err := NewHostBuffer[uint32](d, 8)
	require.NoError(t, err)
	s.Fill(b, 0, 8, 1)
	p, err := s.Submit()
	require.NoError(t, err)
	s.Fill(b, 0, 8, 2) // recorded and never submitted
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())

	done, err := p.Done()
	require.NoError(t, err)
	require.True(t, done)
	require.NoError(t, p.Wait(ctx))
	b.Free()
	h.Free()
	k.Free()
	require.NoError(t, s.Close())
	require.ErrorIs(t, b.Upload(ctx, 0, nil), ErrClosed)
	_, err = NewBuffer[uint32](d, 1)
	require.ErrorIs(t, err, ErrClosed)
	_, err = d.NewStream()
	require.ErrorIs(t, err, ErrClosed)
	_, err = k.p.statistics()
	require.ErrorIs(t, err, ErrClosed)
	k.Dispatch(s, 1, scale{})
	require.ErrorIs(t, s.Wait(ctx), ErrClosed)
}
