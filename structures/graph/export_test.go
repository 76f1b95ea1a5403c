package graph

import "context"

// HashTextsBy has a new graph tell texts apart by another hash.
func HashTextsBy(n *Named[string], hash func(text string) uint64) { n.dense.(*textNames).hash = hash }

// Flush compacts adjacencies, as Rehash does, and leaves the number of buckets as it is.
func Flush(ctx context.Context, g *Graph) error {
	return g.inside(ctx, func() error {
		counts, err := g.counts(ctx, g.h.Stream)
		if err != nil {
			return err
		}
		return g.flush(ctx, int(counts[countExtent]))
	})
}
