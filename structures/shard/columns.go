package shard

import (
	"encoding/binary"
	"unsafe"
)

// element has the types of the elements of columns.
type element interface{ uint8 | uint32 | uint64 }

// column is a slice of numbers of 1, 4 or 8 bytes. The zero value has no elements, and is not used.
type column struct {
	bytes []byte
	width int
}

// columnOf returns the column of a slice, or none of a nil slice.
func columnOf[T any](s []T) column {
	if s == nil {
		return column{}
	}
	width := int(unsafe.Sizeof(*new(T)))
	return column{unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*width), width}
}

// typed returns a column as a slice, which is nil if there is none.
func typed[T any](c column) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.bytes))), len(c.bytes)/int(unsafe.Sizeof(*new(T))))
}

// cut returns the elements from first to end, without end.
func (c column) cut(first, end int) column {
	return column{c.bytes[first*c.width : end*c.width], c.width}
}

// counts is a number of elements, or a place, for each shard.
type counts [most]uint32

// count adds the number of elements in each of so many shards.
func (n *counts) count(of []uint8, shards int) {
	if shards <= 4 {
		low, high, both := bitSums(of)
		n[0] += uint32(len(of)) - low - high + both
		n[1] += low - both
		n[2] += high - both
		n[3] += both
		return
	}
	var odd counts // so that fewer additions wait for the one before
	i := 0
	for ; i+2 <= len(of); i += 2 {
		n[of[i]]++
		odd[of[i+1]]++
	}
	if i < len(of) {
		n[of[i]]++
	}
	for s := range shards {
		n[s] += odd[s]
	}
}

// bitSums returns how many of bytes below 4 have the low bit, the high bit, and both. It looks at eight at a time.
func bitSums(of []uint8) (low, high, both uint32) {
	const ones = 0x0101010101010101
	for len(of) >= 8 {
		rounds := min(len(of)/8, 255) // more do not fit a byte
		var lows, highs, boths uint64
		for i := 0; i < 8*rounds; i += 8 {
			bytes := binary.LittleEndian.Uint64(of[i:])
			x, y := bytes&ones, bytes>>1&ones
			lows, highs, boths = lows+x, highs+y, boths+(x&y)
		}
		of = of[8*rounds:]
		for shift := 0; shift < 64; shift += 8 {
			low += uint32(lows >> shift & 0xff)
			high += uint32(highs >> shift & 0xff)
			both += uint32(boths >> shift & 0xff)
		}
	}
	for _, s := range of {
		x, y := uint32(s&1), uint32(s>>1)
		low, high, both = low+x, high+y, both+(x&y)
	}
	return low, high, both
}

// move copies the elements of the user's columns to the parts of their shards or, back, from there. at are the places
// of the first ones.
func move(of []uint8, at counts, users, parts []column, back bool) {
	for i := 0; i < len(users); i += 2 {
		next := at
		a, b, partA, partB := users[i], users[i+1], parts[i], parts[i+1]
		if a.width == 0 {
			a, b, partA, partB = b, a, partB, partA
		}
		switch a.width {
		case 1:
			moveBeside(of, &next, a.bytes, partA.bytes, b, partB, back)
		case 4:
			moveBeside(of, &next, typed[uint32](a), typed[uint32](partA), b, partB, back)
		case 8:
			moveBeside(of, &next, typed[uint64](a), typed[uint64](partA), b, partB, back)
		}
	}
}

func moveBeside[T element](of []uint8, at *counts, a, partA []T, b, partB column, back bool) {
	switch b.width {
	case 0:
		moveOne(of, at, a, partA, back)
	case 1:
		moveTwo(of, at, a, partA, b.bytes, partB.bytes, back)
	case 4:
		moveTwo(of, at, a, partA, typed[uint32](b), typed[uint32](partB), back)
	case 8:
		moveTwo(of, at, a, partA, typed[uint64](b), typed[uint64](partB), back)
	}
}

func moveOne[T element](of []uint8, at *counts, a, part []T, back bool) {
	a = a[:len(of)]
	if back {
		for i, s := range of {
			place := at[s]
			at[s] = place + 1
			a[i] = part[place]
		}
		return
	}
	for i, s := range of {
		place := at[s]
		at[s] = place + 1
		part[place] = a[i]
	}
}

// moveTwo is moveOne for two columns: most of the time is that of the places.
func moveTwo[T, U element](of []uint8, at *counts, a, partA []T, b, partB []U, back bool) {
	a, b, partB = a[:len(of)], b[:len(of)], partB[:len(partA)]
	if back {
		for i, s := range of {
			place := at[s]
			at[s] = place + 1
			a[i], b[i] = partA[place], partB[place]
		}
		return
	}
	for i, s := range of {
		place := at[s]
		at[s] = place + 1
		partA[place], partB[place] = a[i], b[i]
	}
}
