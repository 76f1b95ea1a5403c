// The prefix index of a B-link-tree: where searches begin, by the first bits of a key.
//
// A search may begin at any node whose low is not above the key. A prefix index is an array of such nodes: for each
// prefix the lowest node whose range has all keys that begin so. For random keys that is a node just above the leaves,
// and all levels over it are skipped; whatever the keys are, it is right. It stays right while kernels change the tree
// concurrently, since no node's low changes then.
#ifndef VKDS_BTREE_PREFIX_INDEX_GLSL
#define VKDS_BTREE_PREFIX_INDEX_GLSL

#include "btree_node.glsl"

// Where searches begin.
struct BTreePrefixIndex {
    uvec2 entries;   // two words each: a node, and its level
    uint bits;       // there are 2^bits of them; 0: there is none, and searches begin at the root
};

struct BTreePlace {
    uint node;
    uint level;
};

// Where the search for any key may begin: at the root, whatever its level.
BTreePlace btree_anywhere(BTree tree) { return BTreePlace(tree.root, 1u); }

// Where the search for a key begins, by a prefix index of at least one bit.
BTreePlace btree_prefix_start(BTreePrefixIndex index, K key) {
    uvec2 entry = plain_load2(address_at(index.entries, VKDS_FIRST_WORD(key) >> (32u - index.bits), 3u));
    return BTreePlace(entry.x, min(entry.y, 15u));   // levels have 4 bits, and searches go down so many
}

#endif
