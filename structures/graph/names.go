package graph

import (
	"context"
	"hash/maphash"
	"io"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// names maps the names of vertices to their numbers. Queries may be concurrent.
type names[ID comparable] interface {
	// find returns the number of each name, and whether it is there. all has the names by their numbers.
	find(ctx context.Context, names, all []ID) (numbers []uint32, there []bool, err error)
	// firsts returns, for each name that is not there, the index of the first equal name.
	firsts(names []ID, there []bool) []int
	// insert adds names and their numbers. The names are different from each other and are not there. After an error
	// none is there.
	insert(ctx context.Context, names []ID, numbers []uint32) error
	// remove removes names that are there.
	remove(ctx context.Context, names, all []ID) error
	// save writes all names and their numbers.
	save(ctx context.Context, w io.Writer, names []ID, numbers []uint32) error
	Close() error
}

// mapOptions returns the options of the map from names to numbers.
func mapOptions(o Options) slabhash.Options {
	return slabhash.Options{Capacity: o.Capacity, Seed: o.Seed, Tile: o.Tile}
}

// firstsBy is firsts. It compares names by the result of of.
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

// numberNames are names that are numbers, in a slab hash.
type numberNames[ID structures.Number] struct{ *slabhash.Map[ID, uint32] }

func newNumberNames[ID structures.Number](ctx context.Context, d *vk.Device, o Options) (names[ID], error) {
	m, err := slabhash.New[ID, uint32](ctx, d, mapOptions(o))
	return numberNames[ID]{m}, err
}

func (n numberNames[ID]) find(ctx context.Context, names, _ []ID) ([]uint32, []bool, error) {
	return n.Find(ctx, names)
}

// Floats are compared by their bits, so a NaN equals itself.
func (n numberNames[ID]) firsts(names []ID, there []bool) []int {
	return firstsBy(names, there, structures.KeyCode[ID]().Word)
}

func (n numberNames[ID]) insert(ctx context.Context, names []ID, numbers []uint32) error {
	_, err := n.Insert(ctx, names, numbers)
	if err != nil {
		err = joint.Error(pipeline.Cause(err), n.remove(context.WithoutCancel(ctx), names, nil))
	}
	return err
}

func (n numberNames[ID]) remove(ctx context.Context, names, _ []ID) error {
	_, err := n.Delete(ctx, names)
	return err
}

// textNames are names that are texts. The device maps their hashes, and the host compares the texts. A text that has
// the hash of another text is only in others, on the host; this is rare.
type textNames struct {
	hashes *slabhash.Map[uint64, uint32]
	hash   func(text string) uint64
	others map[string]uint32
}

func newTextNames(ctx context.Context, d *vk.Device, o Options) (names[string], error) {
	m, err := slabhash.New[uint64, uint32](ctx, d, mapOptions(o))
	seed := maphash.MakeSeed() // so that nobody can choose texts with equal hashes
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

func (n *textNames) find(ctx context.Context, texts, all []string) (numbers []uint32, there []bool, err error) {
	numbers, there, err = n.hashes.Find(ctx, n.hashed(texts))
	if err != nil {
		return nil, nil, err
	}
	for i, text := range texts {
		if there[i] && all[numbers[i]] == text {
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
	hashes, status := n.hashed(texts), make([]structures.Status, len(texts))
	err := n.hashes.UpdateInto(ctx, structures.InsertUnique, hashes, numbers, status)
	var own []uint64
	for i, s := range status {
		switch {
		case s == structures.Inserted:
			own = append(own, hashes[i])
		case err == nil:
			n.others[texts[i]] = numbers[i]
		}
	}
	if err != nil {
		_, undone := n.hashes.Delete(context.WithoutCancel(ctx), own)
		return joint.Error(pipeline.Cause(err), undone)
	}
	return nil
}

func (n *textNames) remove(ctx context.Context, texts, all []string) error {
	hashes := n.hashed(texts)
	numbers, there, err := n.hashes.Find(ctx, hashes)
	if err != nil {
		return err
	}
	var own []uint64
	for i, text := range texts {
		if there[i] && all[numbers[i]] == text {
			own = append(own, hashes[i])
		} else {
			delete(n.others, text)
		}
	}
	_, err = n.hashes.Delete(ctx, own)
	return err
}

func (n *textNames) Close() error { return n.hashes.Close() }
