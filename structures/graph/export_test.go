package graph

// HashTextsBy has a new graph tell texts apart by another hash.
func HashTextsBy(n *Named[string], hash func(text string) uint64) { n.dense.(*textNames).hash = hash }
