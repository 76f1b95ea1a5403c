package shard

import (
	"encoding/binary"
	"unsafe"
)

// element has the types of the elements of columns.
type element interface{ uint8 | uint32 | uint64 }

// column is a slice of numbers of 1, 4 or 8 bytes. The zero value is no slice.
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
	if shards == 2 {
		ones := sum(of)
		n[0] += uint32(len(of)) - ones
		n[1] += ones
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

// sum adds bytes that are 0 or 1, eight at a time.
func sum(of []uint8) (n uint32) {
	for len(of) >= 8 {
		rounds := min(len(of)/8, 255) // more do not fit a byte
		all := uint64(0)
		for i := 0; i < 8*rounds; i += 8 {
			all += binary.LittleEndian.Uint64(of[i:])
		}
		of = of[8*rounds:]
		for ; all != 0; all >>= 8 {
			n += uint32(all & 0xff)
		}
	}
	for _, one := range of {
		n += uint32(one)
	}
	return n
}

// divide moves the elements of columns to the parts of their shards. at are the places of the first ones.
func divide(of []uint8, at counts, from, to []column) {
	for i := 0; i < len(from); i += 2 {
		next := at
		a, b, toA, toB := from[i], from[i+1], to[i], to[i+1]
		if a.width == 0 {
			a, b, toA, toB = b, a, toB, toA
		}
		switch a.width {
		case 1:
			divideBeside(of, &next, a.bytes, toA.bytes, b, toB)
		case 4:
			divideBeside(of, &next, typed[uint32](a), typed[uint32](toA), b, toB)
		case 8:
			divideBeside(of, &next, typed[uint64](a), typed[uint64](toA), b, toB)
		}
	}
}

func divideBeside[T element](of []uint8, at *counts, a, toA []T, b, toB column) {
	switch b.width {
	case 0:
		divideOne(of, at, a, toA)
	case 1:
		divideTwo(of, at, a, toA, b.bytes, toB.bytes)
	case 4:
		divideTwo(of, at, a, toA, typed[uint32](b), typed[uint32](toB))
	case 8:
		divideTwo(of, at, a, toA, typed[uint64](b), typed[uint64](toB))
	}
}

func divideOne[T element](of []uint8, at *counts, a, toA []T) {
	a = a[:len(of)]
	for i, s := range of {
		place := at[s]
		at[s] = place + 1
		toA[place] = a[i]
	}
}

// divideTwo is divideOne for two columns: most of the time is that of the places.
func divideTwo[T, U element](of []uint8, at *counts, a, toA []T, b, toB []U) {
	a, b, toB = a[:len(of)], b[:len(of)], toB[:len(toA)]
	for i, s := range of {
		place := at[s]
		at[s] = place + 1
		toA[place], toB[place] = a[i], b[i]
	}
}

// unite is the inverse of divide.
func unite(of []uint8, at counts, from, to []column) {
	for i := 0; i < len(to); i += 2 {
		next := at
		a, b, toA, toB := from[i], from[i+1], to[i], to[i+1]
		if toA.width == 0 {
			a, b, toA, toB = b, a, toB, toA
		}
		switch toA.width {
		case 1:
			uniteBeside(of, &next, a.bytes, toA.bytes, b, toB)
		case 4:
			uniteBeside(of, &next, typed[uint32](a), typed[uint32](toA), b, toB)
		case 8:
			uniteBeside(of, &next, typed[uint64](a), typed[uint64](toA), b, toB)
		}
	}
}

func uniteBeside[T element](of []uint8, at *counts, a, toA []T, b, toB column) {
	switch toB.width {
	case 0:
		uniteOne(of, at, a, toA)
	case 1:
		uniteTwo(of, at, a, toA, b.bytes, toB.bytes)
	case 4:
		uniteTwo(of, at, a, toA, typed[uint32](b), typed[uint32](toB))
	case 8:
		uniteTwo(of, at, a, toA, typed[uint64](b), typed[uint64](toB))
	}
}

func uniteOne[T element](of []uint8, at *counts, a, toA []T) {
	toA = toA[:len(of)]
	for i, s := range of {
		place := at[s]
		at[s] = place + 1
		toA[i] = a[place]
	}
}

func uniteTwo[T, U element](of []uint8, at *counts, a, toA []T, b, toB []U) {
	toA, toB, b = toA[:len(of)], toB[:len(of)], b[:len(a)]
	for i, s := range of {
		place := at[s]
		at[s] = place + 1
		toA[i], toB[i] = a[place], b[place]
	}
}
