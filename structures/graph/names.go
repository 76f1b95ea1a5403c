package graph

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// names maps the names of vertices to the graph's numbers. Queries may be concurrent with one another.
type names[ID comparable] interface {
	// Find returns the numbers of names, and whether they are there.
	Find(ctx context.Context, names []ID) (numbers []uint32, there []bool, err error)
	// firsts says of each name that isn't there which is the first equal one among all.
	firsts(names []ID, there []bool) []int
	// insert puts names that aren't there, all of them different, and their numbers. After an error none is there.
	insert(ctx context.Context, names []ID, numbers []uint32) error
	// remove takes names away, those that are there.
	remove(ctx context.Context, names []ID) error
	Close() error
}

// firstsBy are the firsts by what tells names apart.
func firstsBy[ID any, K comparable](names []ID, there []bool, of func(ID) K) []int {
	first, seen := make([]int, len(names)), map[K]int{}
	for i, name := range names {
		if there[i] {
			continue
		}
		at, ok := seen[of(name)]
		if !ok {
			at = i
			seen[of(name)] = i
		}
		first[i] = at
	}
	return first
}

// numberNames are numbers, in a slab hash.
type numberNames[ID structures.Number] struct{ *slabhash.Map[ID, uint32] }

func newNumberNames[ID structures.Number](ctx context.Context, d *vk.Device, o Options) (names[ID], error) {
	m, err := slabhash.New[ID, uint32](ctx, d, slabhash.Options{Capacity: o.Capacity, Seed: o.Seed, Tile: o.Tile})
	return numberNames[ID]{m}, err
}

// A float's name is its bits: a NaN is itself.
func (n numberNames[ID]) firsts(names []ID, there []bool) []int {
	return firstsBy(names, there, structures.KeyCode[ID]().Word)
}

func (n numberNames[ID]) insert(ctx context.Context, names []ID, numbers []uint32) error {
	_, err := n.Insert(ctx, names, numbers)
	if err != nil {
		err = errors.Join(err, n.remove(context.WithoutCancel(ctx), names))
	}
	return err
}

func (n numberNames[ID]) remove(ctx context.Context, names []ID) error {
	_, err := n.Delete(ctx, names)
	return err
}

// textNames are texts: the device has their hashes, and the host the texts by the graph's numbers. Texts whose hash
// another one has, of which there are next to none, are the host's alone.
type textNames struct {
	hashes *slabhash.Map[uint64, uint32]
	hash   func(text string) uint64
	texts  []string // by the graph's numbers, those of hashes
	others map[string]uint32
}

func newTextNames(ctx context.Context, d *vk.Device, o Options) (names[string], error) {
	m, err := slabhash.New[uint64, uint32](ctx, d,
		slabhash.Options{Capacity: o.Capacity, Seed: o.Seed, Tile: o.Tile})
	seed := maphash.MakeSeed() // so that nobody prepares texts of one hash
	hash := func(text string) uint64 { return maphash.String(seed, text) }
	return &textNames{hashes: m, hash: hash, others: map[string]uint32{}}, err
}

func (n *textNames) hashed(texts []string) []uint64 {
	hashes := make([]uint64, len(texts))
	for i, text := range texts {
		hashes[i] = n.hash(text)
	}
	return hashes
}

func (n *textNames) Find(ctx context.Context, texts []string) (numbers []uint32, there []bool, err error) {
	numbers, there, err = n.hashes.Find(ctx, n.hashed(texts))
	if err != nil {
		return nil, nil, err
	}
	for i, text := range texts {
		if there[i] && n.texts[numbers[i]] == text {
			continue
		}
		numbers[i], there[i] = n.others[text]
	}
	return numbers, there, nil
}

func (n *textNames) firsts(texts []string, there []bool) []int {
	return firstsBy(texts, there, func(text string) string { return text })
}

func (n *textNames) insert(ctx context.Context, texts []string, numbers []uint32) error {
	hashes := n.hashed(texts)
	_, taken, err := n.hashes.Find(ctx, hashes)
	if err != nil {
		return err
	}
	var own, beside []int // those whose hash is theirs, and those that find another one there
	var fresh []uint64
	var of []uint32
	now := make(map[uint64]bool, len(texts))
	for i, hash := range hashes {
		if taken[i] || now[hash] {
			beside = append(beside, i)
			continue
		}
		now[hash] = true
		own, fresh, of = append(own, i), append(fresh, hash), append(of, numbers[i])
	}
	if _, err := n.hashes.Insert(ctx, fresh, of); err != nil {
		_, undone := n.hashes.Delete(context.WithoutCancel(ctx), fresh)
		return errors.Join(err, undone)
	}
	if len(numbers) > 0 {
		most := int(slices.Max(numbers)) + 1
		n.texts = append(n.texts, make([]string, max(most-len(n.texts), 0))...)
	}
	for _, i := range own {
		n.texts[numbers[i]] = texts[i]
	}
	for _, i := range beside {
		n.others[texts[i]] = numbers[i]
	}
	return nil
}

func (n *textNames) remove(ctx context.Context, texts []string) error {
	hashes := n.hashed(texts)
	numbers, there, err := n.hashes.Find(ctx, hashes)
	if err != nil {
		return err
	}
	var gone []uint64
	for i, text := range texts {
		if there[i] && n.texts[numbers[i]] == text {
			gone = append(gone, hashes[i])
		} else {
			delete(n.others, text)
		}
	}
	_, err = n.hashes.Delete(ctx, gone)
	return err
}

func (n *textNames) Close() error { return n.hashes.Close() }
