// B-link-tree node: a slab of the pool, read as a node by a tile.
//
// After Awad et al., "Engineering a High-Performance GPU B-Tree" (2019), section 3.2, and Lehman and Yao: every node
// has the range of its keys, and a side link to its right neighbour. All pairs of the node but the last two are slots:
// 14 of them, or 6 if keys and values have 64 bits. The last two are the node's header:
//
//   meta   bit 0: the latch; bits 1 to 4: the level, 0 for leaves; bits 5 to 31: the version, which counts changes of
//          the node under its latch
//   low    the least key of the node's range. It never changes while kernels run concurrently
//   high   the greatest key of the range. While kernels run concurrently it only falls, when the node is split
//   link   the right neighbour, SLAB_NULL at the end of a level
//
// The ranges of a level's nodes follow one another without a gap and cover all keys. If a search arrives at a node and
// its key is above the high, it follows the link. If its key is below the low, or above the high of a node without
// link, it has read words of different age, and starts again at the root. So every search arrives whatever mixture of
// old and new words it reads, and no two words must be read together.
//
// The slots of inner nodes are (separator, child), sorted. A separator is its child's low; the first one is the node's
// own low. The child for a key is that of the last slot whose separator is not above the key. Unused slots repeat the
// last used one. So slots need not be counted, and no separator value means empty.
//
// The slots of leaves are (key, value), in any order. A free slot has the empty key: ~0 in all leaves but the last one,
// which alone may hold the key ~0. The range of the last leaf is always ~0 alone, and its empty key is 0. So all keys
// are allowed. A free slot is empty or erased. The value of an empty slot is its version (the node's version when it
// became free, times 2). The value of an erased slot is BTREE_ERASED: it can't be filled before the node is latched and
// cleaned. Without atomics on pairs, leaves are changed under their latch, and all free slots are empty, with value 0.
//
// The root is an inner node, and always the same slab until the tree is built anew. When it splits, its slots move to
// two new nodes, and its level rises.
#ifndef VKDS_BTREE_NODE_GLSL
#define VKDS_BTREE_NODE_GLSL

#include "constants.glsl"
#include "node.glsl"
#include "slab_alloc.glsl"
#include "trace.glsl"

// Whether a leaf's slots are changed by atomics without the leaf's latch. With VKDS_CLOCK (btree_clock.glsl) leaves are
// always latched.
#if VKDS_PAIR_ATOMICS && !defined(VKDS_CLOCK)
#define VKDS_LEAF_ATOMICS 1
#else
#define VKDS_LEAF_ATOMICS 0
#endif

// 1 if other structures may use the tree's pool. While updates run, a new node's slab may then have been theirs a
// moment ago, and a cache that is not coherent may still have what they had there. So no plain load reads nodes beside
// updates.
layout(constant_id = VKDS_ID_BTREE_SHARES) const uint BTREE_SHARES = 1;

// A tree as the host describes it (btree.Description in Go).
struct BTree {
    SlabPool pool;   // where its nodes come from; other trees and hash tables may share it
    uvec2 state;     // address of the tree's counters, BTREE_…_AT
    uint root;       // the root's slab
};

const uint BTREE_SLOTS = NODE_PAIRS - 2u;
const uint BTREE_ERASED = 1u;   // the value of an erased slot; those of empty ones are even

#if VKDS_WIDE
const uint BTREE_LEVEL_MOST = 15u;   // that a meta has bits for
const uint BTREE_META_AT = 96u;   // byte offsets in a node
const uint BTREE_LOW_AT = 104u;
const uint BTREE_HIGH_AT = 112u;
const uint BTREE_LINK_AT = 120u;
#else
const uint BTREE_META_AT = 112u;   // byte offsets in a node
const uint BTREE_LOW_AT = 116u;
const uint BTREE_HIGH_AT = 120u;
const uint BTREE_LINK_AT = 124u;
#endif

// Byte offsets in the tree's state: counters, and then other words. btree_clock.glsl has more of them.
const uint BTREE_SPLITS_AT = 0u;     // nodes split
const uint BTREE_RESTARTS_AT = 4u;   // restarts at the root, and failures to take a latch
const uint BTREE_ORPHANS_AT = 8u;    // nodes whose separator is in no parent yet
const uint BTREE_IN_PLACE_AT = 12u;  // not a counter: 1 if values were ever updated in place
const uint BTREE_STAMPS_AT = 16u;    // the address of the leaves' stamps (btree_version.glsl)
const uint BTREE_CHANGED_AT = 40u;   // the address of the bits of changed leaves (btree_version.glsl)

// A node's header.
struct NodeHeader {
    uint meta;
    K low;
    K high;
    uint link;
};

// VKDS_HEADER is a header as it is read; h.VKDS_META is its meta, and so on. The others convert between the references
// to nodes and the values of slots.
#if VKDS_WIDE
#define VKDS_HEADER NodeHeader
#define VKDS_NO_HEADER NodeHeader(0u, K(0u), K(0u), 0u)
#define VKDS_META meta
#define VKDS_LOW low
#define VKDS_HIGH high
#define VKDS_LINK link
#define VKDS_HEADER_OF(H) H
#define VKDS_HEADER_LOAD(LOAD4, NODE) \
    btree_header_of(LOAD4(address_add(NODE, BTREE_META_AT)), LOAD4(address_add(NODE, BTREE_HIGH_AT)))
#define VKDS_HEADER_STORE(STORE4, NODE, META, LOW, HIGH, LINK)             \
    STORE4(address_add(NODE, BTREE_META_AT), uvec4(META, 0u, LOW));        \
    STORE4(address_add(NODE, BTREE_HIGH_AT), uvec4(HIGH, LINK, 0u))
#define VKDS_LOWER(META, LOW) uvec4(META, 0u, LOW)   // the header as two pairs: the low is the value of one,
#define VKDS_UPPER(HIGH, LINK) uvec4(HIGH, LINK, 0u)  // the high the key of the other, and the link its child
#define VKDS_UPPER_OF(H) uvec4(H.high, H.link, 0u)
#define VKDS_LAST_HIGH xy   // of a node's last quad
#define VKDS_LAST_LINK z
#define VKDS_CHILD z
#define VKDS_REFERENCE(VALUE) VALUE.x
#define VKDS_VALUE_OF(REFERENCE) uvec2(REFERENCE, 0u)
#define VKDS_VERSION(VERSION) V(0u)   // what a slot's value is that becomes empty in a version
#define VKDS_BRANCH(SEPARATOR, CHILD) uvec4(SEPARATOR, CHILD, 0u)
NodeHeader btree_header_of(uvec4 first, uvec4 second) { return NodeHeader(first.x, first.zw, second.xy, second.z); }
#else
#define VKDS_HEADER uvec4
#define VKDS_NO_HEADER uvec4(0u)
#define VKDS_META x
#define VKDS_LOW y
#define VKDS_HIGH z
#define VKDS_LINK w
#define VKDS_HEADER_OF(H) NodeHeader(H.x, H.y, H.z, H.w)
#define VKDS_HEADER_LOAD(LOAD4, NODE) LOAD4(address_add(NODE, BTREE_META_AT))
#define VKDS_HEADER_STORE(STORE4, NODE, META, LOW, HIGH, LINK) \
    STORE4(address_add(NODE, BTREE_META_AT), uvec4(META, LOW, HIGH, LINK))
#define VKDS_LOWER(META, LOW) uvec2(META, LOW)
#define VKDS_UPPER(HIGH, LINK) uvec2(HIGH, LINK)
#define VKDS_UPPER_OF(H) H.zw
#define VKDS_LAST_HIGH z
#define VKDS_LAST_LINK w
#define VKDS_CHILD y
#define VKDS_REFERENCE(VALUE) VALUE
#define VKDS_VALUE_OF(REFERENCE) REFERENCE
#define VKDS_VERSION(VERSION) VERSION << 1
#define VKDS_BRANCH(SEPARATOR, CHILD) uvec2(SEPARATOR, CHILD)
#endif

bool btree_latched(uint meta) { return (meta & 1u) != 0u; }
uint btree_level(uint meta) { return (meta >> 1) & 15u; }
uint btree_version(uint meta) { return meta >> 5; }
uint btree_meta(uint level, uint version) { return (level << 1) | (version << 5); }

// The empty key, which free slots have, of a leaf whose range ends at high.
K btree_empty_key(K high) { return high == K(~0u) ? K(0u) : K(~0u); }

// Whether a leaf's slot with such a key holds a pair.
bool btree_live(K key, K high) { return key != btree_empty_key(high); }

uvec2 btree_slot(uvec2 node, uint slot) { return address_add(node, slot * VKDS_SLOT_BYTES); }

// btree_lane_has: whether this lane's pair m is a slot, not part of the header. btree_header: the header, for all lanes
// of the tile; collective.
#if VKDS_WIDE
bool btree_lane_has(uint m) { return node_pair_index(m) < BTREE_SLOTS; }

NodeHeader btree_header(Node n) {
    return btree_header_of(tile_shuffle(n.pair[node_pair_number(BTREE_SLOTS)], node_pair_lane(BTREE_SLOTS)),
                           tile_shuffle(n.pair[node_pair_number(BTREE_SLOTS + 1u)], TILE - 1u));
}
#else
bool btree_lane_has(uint m) { return m < NODE_LANE_PAIRS - 2u || tile_lane() != TILE - 1u; }

NodeHeader btree_header(Node n) {
    uvec2 first = tile_shuffle(n.pair[NODE_LANE_PAIRS - 2u], TILE - 1u);
    uvec2 second = tile_shuffle(n.pair[NODE_LANE_PAIRS - 1u], TILE - 1u);
    return NodeHeader(first.x, first.y, second.x, second.y);
}
#endif

#endif
