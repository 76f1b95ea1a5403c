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

// names maps the names of vertices to the graph's numbers. Queries may be concurrent with one another.
type names[ID comparable] interface {
	// find returns the numbers of names, and whether they are there. all are those that there are, by their numbers.
	find(ctx context.Context, names, all []ID) (numbers []uint32, there []bool, err error)
	// firsts says of each name that isn't there which is the first equal one among all.
	firsts(names []ID, there []bool) []int
	// insert puts names that aren't there, all of them different, and their numbers. After an error none is there.
	insert(ctx context.Context, names []ID, numbers []uint32) error
	// remove takes names away, which are there.
	remove(ctx context.Context, names, all []ID) error
	// save writes names, which are all that there are, and their numbers.
	save(ctx context.Context, w io.Writer, names []ID, numbers []uint32) error
	Close() error
}

// mapOptions are those of the map of names to a graph's numbers.
func mapOptions(o Options) slabhash.Options {
	return slabhash.Options{Capacity: o.Capacity, Seed: o.Seed, Tile: o.Tile}
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
	m, err := slabhash.New[ID, uint32](ctx, d, mapOptions(o))
	return numberNames[ID]{m}, err
}

func (n numberNames[ID]) find(ctx context.Context, names, _ []ID) ([]uint32, []bool, error) {
	return n.Find(ctx, names)
}

// A float's name is its bits: a NaN is itself.
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

// textNames are texts: the device has their hashes, and what it finds is compared. Texts whose hash another one has, of
// which there are next to none, are the host's alone.
type textNames struct {
	hashes *slabhash.Map[uint64, uint32]
	hash   func(text string) uint64
	others map[string]uint32
}

func newTextNames(ctx context.Context, d *vk.Device, o Options) (names[string], error) {
	m, err := slabhash.New[uint64, uint32](ctx, d, mapOptions(o))
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
