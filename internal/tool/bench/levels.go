package bench

import (
	"math/bits"

	"github.com/vkds/vkds/internal/engine/enum"
)

// Levels says which levels of an LSM are full.
type Levels uint8

const (
	FullLevels      Levels = iota // all but one batch of n: every level is full
	OneLevel                      // n pairs, where that is a power of two of batches
	AlternateLevels               // every other level, the largest one included
)

var levelNames = enum.Names[Levels]{"full", "one", "alternate"}

func (l Levels) String() string { return levelNames.String(l) }

// LevelArrangements are the arrangements of levels, by their names.
var LevelArrangements = enum.Of("levels", FullLevels, OneLevel, AlternateLevels)

// batches is how many batches of n pairs are there; one at least.
func (l Levels) batches(n, batch int) int {
	all := 1 << (bits.Len(uint(max(n/batch, 1))) - 1) // a power of two
	switch {
	case l == OneLevel || all == 1:
		return all
	case l == FullLevels:
		return all - 1
	}
	some := 0
	for bit := all / 2; bit > 0; bit /= 4 {
		some |= bit
	}
	return some
}
