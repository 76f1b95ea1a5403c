package recording

import "unsafe"

// Words returns numbers, or structs of numbers, as the 32-bit words that buffers hold.
func Words[T any](s []T) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T)))/4)
}
