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

// Hashes gives the hash of each attempt, from 0: the next one is tried when two texts have one hash.
type Hashes func(attempt int) Hash

// Random are hashes by a seed of chance each, so that who knows the program can't prepare texts that collide.
func Random(int) Hash {
	seed := rand.Uint64()
	return func(text []byte) uint64 { return xxh3.HashSeed(text, seed) }
}

// second is a hash that has nothing in common with those of Random: AES where the processor has it.
func second() Hash {
	seed := maphash.MakeSeed()
	return func(text []byte) uint64 { return maphash.Bytes(seed, text) }
}

// mostAttempts is how many hashes are tried. That one fails is as likely as that two of n texts collide, n²/2^65.
const mostAttempts = 4

// ErrCollision says that two texts have one hash.
var ErrCollision = errors.New("two different texts have the same hash")

// CollisionError says that under each of so many hashes two texts collide: none of them is a hash.
type CollisionError struct{ Hashes int }

func (e *CollisionError) Error() string {
	return fmt.Sprintf("different texts have the same hash, under each of %d hashes", e.Hashes)
}

// of are the hashes of texts, by as many threads as pay.
func (h Hash) of(all Some) []uint64 {
	const share = 16 << 10 // texts for which another thread pays
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

// Map is what texts need of a dictionary on the device.
type Map interface {
	UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint64, status []structures.Status) error
	Find(ctx context.Context, keys []uint64) (values []uint64, found []bool, err error)
	Delete(ctx context.Context, keys []uint64) ([]structures.Status, error)
	Close() error
}

// Make makes an empty one, of 64 bits.
type Make func(ctx context.Context, capacity int) (Map, error)
