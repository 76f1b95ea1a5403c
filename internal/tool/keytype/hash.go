package keytype

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/vkds/vkds/structures"
	"github.com/zeebo/xxh3"
)

// Hash is a hash of texts.
type Hash func(text []byte) uint64

// Hashes returns the hash of each attempt, from 0. The next one is tried if two texts have the same hash.
type Hashes func(attempt int) Hash

// Random returns a hash with a random seed, so that nobody can prepare texts that collide.
func Random(int) Hash {
	seed := rand.Uint64()
	return func(text []byte) uint64 { return xxh3.HashSeed(text, seed) }
}

// second returns a hash that is independent of Random's. It uses AES if the processor has it.
func second() Hash {
	seed := maphash.MakeSeed()
	return func(text []byte) uint64 { return maphash.Bytes(seed, text) }
}

// mostAttempts is the number of hashes that are tried. The probability that one fails for n texts is about n²/2^65.
const mostAttempts = 4

// ErrCollision reports that two texts have the same hash.
var ErrCollision = errors.New("two different texts have the same hash")

// CollisionError reports that texts collide under that many hashes. For random hashes this does not happen.
type CollisionError struct{ Hashes int }

func (e *CollisionError) Error() string {
	return fmt.Sprintf("different texts have the same hash, under each of %d hashes", e.Hashes)
}

// of returns the hashes of texts. It uses several threads if there are enough texts.
func (h Hash) of(all Some) []uint64 {
	const share = 16 << 10 // number of texts that are worth another thread
	hashes := make([]uint64, all.Len())
	each := max(share, (len(hashes)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for at := 0; at < len(hashes); at += each {
		part := hashes[at:min(at+each, len(hashes))]
		wait.Go(func() {
			for i := range part {
				part[i] = h(all.At(at + i))
			}
		})
	}
	wait.Wait()
	return hashes
}

// Map has the methods of a device dictionary that texts need.
type Map interface {
	UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint64, status []structures.Status) error
	Find(ctx context.Context, keys []uint64) (values []uint64, found []bool, err error)
	Delete(ctx context.Context, keys []uint64) ([]structures.Status, error)
	Close() error
}

// Make makes an empty Map of 64-bit keys and values.
type Make func(ctx context.Context, capacity int) (Map, error)
