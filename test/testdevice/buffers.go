package testdevice

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

// Room is a device buffer of n elements until the test's end; its contents are undefined.
func Room[T vk.Element](t testing.TB, d *vk.Device, n int) *vk.Buffer[T] {
	t.Helper()
	b, err := vk.NewBuffer[T](d, n)
	require.NoError(t, err)
	t.Cleanup(b.Free)
	return b
}

// Upload puts elements into a device buffer until the test's end.
func Upload[T vk.Element](t testing.TB, d *vk.Device, elements []T) *vk.Buffer[T] {
	t.Helper()
	b := Room[T](t, d, len(elements))
	require.NoError(t, b.Upload(t.Context(), 0, elements))
	return b
}

// Download returns the first n elements of a device buffer.
func Download[T vk.Element](t testing.TB, b *vk.Buffer[T], n int) []T {
	t.Helper()
	s := make([]T, n)
	require.NoError(t, b.Download(t.Context(), 0, s))
	return s
}

// Stream is a stream until the test's end.
func Stream(t testing.TB, d *vk.Device) *vk.Stream {
	t.Helper()
	s, err := d.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}
