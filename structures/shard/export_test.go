package shard

import (
	"context"
	"testing"

	"github.com/vkds/vkds/structures"
)

// InBlocksOf divides batches in blocks of n operations until the test's end.
func InBlocksOf(t testing.TB, n int) {
	blockForTests = n
	t.Cleanup(func() { blockForTests = 0 })
}

// Lens returns the number of pairs in each shard.
func Lens[K, V structures.Number](t *Tree[K, V]) ([]uint64, error) {
	return t.d.lens(context.Background())
}
