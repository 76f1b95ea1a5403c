package bulk

import "bytes"

// Slots is the number of parts into which clients of a cluster divide keys. Each shard has a range of them.
const Slots = 16384

// crcs has the CRC-16/XMODEM of each byte.
var crcs = func() (of [256]uint16) {
	for b := range of {
		crc := uint16(b) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
		of[b] = crc
	}
	return of
}()

// Slot returns the slot of a key: CRC-16/XMODEM of it, or of what is between its first braces if that is not empty.
func Slot(key []byte) int {
	if _, after, open := bytes.Cut(key, []byte("{")); open {
		if tag, _, closed := bytes.Cut(after, []byte("}")); closed && len(tag) > 0 {
			key = tag
		}
	}
	crc := uint16(0)
	for _, b := range key {
		crc = crc<<8 ^ crcs[byte(crc>>8)^b]
	}
	return int(crc % Slots)
}
