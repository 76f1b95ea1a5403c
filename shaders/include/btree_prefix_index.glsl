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

#if VKDS_WIDE
// Keys of 64 bits often have many first bits in common: times, row ids. So entries are for equal stretches of what the
// keys that are asked for reach over; the first one also for all below that, and the last one for all above. In front
// of the entries stands where that begins, and log2 of how many keys a stretch has.
struct BTreePrefixes {
    K low;
    uint shift;
};

#define VKDS_PREFIX_BYTES 256u   // as parts of scratch are aligned
BTreePrefixes btree_prefixes(BTreePrefixIndex index) {
    uvec4 prefixes = plain_load4(index.entries);
    return BTreePrefixes(prefixes.xy, min(prefixes.z, 63u));
}

uvec2 btree_prefix_at(BTreePrefixIndex index, uint entry) {
    return address_add(address_at(index.entries, entry, 3u), VKDS_PREFIX_BYTES);
}

// The entry for a key.
uint btree_prefix(BTreePrefixIndex index, K key) {
    BTreePrefixes p = btree_prefixes(index);
    return min(number_from(number_subtract(number_max(key, p.low), p.low), p.shift), (1u << index.bits) - 1u);
}
#define VKDS_PREFIX_SIZE(BITS) (8u << BITS) + VKDS_PREFIX_BYTES   // of an index, in bytes
#define VKDS_PREFIX_AT(INDEX, ENTRY) btree_prefix_at(INDEX, ENTRY)
#define VKDS_PREFIX(INDEX, KEY) btree_prefix(INDEX, KEY)
#else
#define VKDS_PREFIX_AT(INDEX, ENTRY) address_at(INDEX.entries, ENTRY, 3u)
#define VKDS_PREFIX(INDEX, KEY) KEY >> (32u - INDEX.bits)
#define VKDS_PREFIX_SIZE(BITS) 8u << BITS
#endif

// Where the search for a key begins, by a prefix index of at least one bit.
BTreePlace btree_prefix_start(BTreePrefixIndex index, K key) {
    uvec2 entry = plain_load2(VKDS_PREFIX_AT(index, VKDS_PREFIX(index, key)));
    return BTreePlace(entry.x, min(entry.y, 15u));   // levels have 4 bits, and searches go down so many
}

#endif
