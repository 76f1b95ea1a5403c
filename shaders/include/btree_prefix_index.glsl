// B-link-tree prefix index: maps the first bits of a key to the node where its search starts.
//
// A search may start at any node whose low is not above the key. A prefix index is an array of such nodes: for each
// prefix, the lowest node whose range has all keys with that prefix. For random keys this is a node just above the
// leaves, and the search skips all levels above it. The index is correct for any keys, and stays correct while kernels
// change the tree concurrently, because no node's low changes then.
#ifndef VKDS_BTREE_PREFIX_INDEX_GLSL
#define VKDS_BTREE_PREFIX_INDEX_GLSL

#include "btree_node.glsl"

// A prefix index as the host describes it.
struct BTreePrefixIndex {
    uvec2 entries;   // address of the entries, two words each: a node, and its level
    uint bits;       // log2 of the number of entries; 0: there is no index, and searches start at the root
};

struct BTreePlace {
    uint node;
    uint level;
};

// A start for the search of any key: the root. The level 1 only says that it is no leaf.
BTreePlace btree_anywhere(BTree tree) { return BTreePlace(tree.root, 1u); }

#if VKDS_WIDE
// Keys of 64 bits, such as times and row ids, often have many first bits in common. So the entries divide the range of
// the keys of the searches into equal parts. The first entry is also for all keys below this range, and the last one
// for all keys above. Before the entries are the least key of the range, and log2 of the number of keys in a part.
struct BTreePrefixes {
    K low;
    uint shift;
};

#define VKDS_PREFIX_BYTES 256u   // before the entries: the alignment of parts of scratch
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

// The start of the search for a key, from a prefix index of at least one bit.
BTreePlace btree_prefix_start(BTreePrefixIndex index, K key) {
    uvec2 entry = plain_load2(VKDS_PREFIX_AT(index, VKDS_PREFIX(index, key)));
    return BTreePlace(entry.x, min(entry.y, 15u));   // levels have 4 bits; a search goes down so many at most
}

#endif
