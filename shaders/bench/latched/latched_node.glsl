// The latched tree: the B-trees of two papers as they are, to be measured beside the product's own (btree.glsl), which
// shares nothing with it. Awad et al., "Engineering a High-Performance GPU B-Tree" (2019), section 3, and Duong,
// "Implementation of B-trees on GPU" (2021), chapter 4. Every change of a node is made by a whole tile under the node's
// latch, slots are sorted, and full nodes are split on the way down.
//
// A node has 128 or 256 bytes: its slots, pairs of words, and behind them a fence of four words:
//
//   meta   bit 0: the latch; bits 1 to 4: the level, 0 for leaves
//   low    the least key of the node's range, which never changes
//   high   the greatest one, which falls when the node is split
//   link   the right neighbour, or NONE; always NONE in a tree without side links
//
// Slots in use come first and ascend: (separator, child), where a separator is the child's low, or (key, value). Free
// ones have the key ~0, which no pair may have. Memory that was never used is all ones, so that it looks like free
// slots of a latched node that is for no key. The root is node 0 and always an inner node.
//
// Ways down look at no latch and may read any mixture of old and new words: it leads to the right child, to one left of
// it, whose high is too small, or to one right of it, whose low is too great. What is decided so is decided again under
// the latch.
#ifndef VKDS_LATCHED_NODE_GLSL
#define VKDS_LATCHED_NODE_GLSL

#include "tile.glsl"

layout(constant_id = 16) const uint NODE_BYTES = 128;   // or 256; tiles have 4 lanes at least

// A tree as the host describes it (latched.device in Go).
struct LatchedTree {
    uvec2 nodes;
    uvec2 used;      // address of a counter: nodes in use, which are never given back
    uint capacity;   // nodes
};

const uint ROOT = 0u;
const uint NONE = ~0u;       // no node, no key
const uint QUADS = NODE_BYTES / 16u;
const uint SLOTS = 2u * QUADS - 2u;
const uint STEPS = TILE >= QUADS ? 1u : QUADS / TILE;   // quads that a lane holds, 4 at most
const uint META_AT = NODE_BYTES - 16u;
const uint HIGH_AT = NODE_BYTES - 8u;

// What one lane holds of a node: its quads lane, lane + TILE, …, each of two slots, or of the fence.
struct View {
    uvec4 quad[4];
};

struct Fence {
    uint meta;
    uint low;
    uint high;
    uint link;
};

bool latched(uint meta) { return (meta & 1u) != 0u; }
uint level_of(uint meta) { return (meta >> 1) & 15u; }

uvec2 node_address(LatchedTree tree, uint node) { return address_at(tree.nodes, node, NODE_BYTES == 128u ? 7u : 8u); }
uvec2 slot_address(LatchedTree tree, uint node, uint slot) { return address_add(node_address(tree, node), slot * 8u); }
uvec2 meta_address(LatchedTree tree, uint node) { return address_add(node_address(tree, node), META_AT); }

uint quad_index(uint step) { return step * TILE + tile_lane(); }

#define LATCHED_VIEW(NAME, LOAD4)                                                                          \
    View NAME(LatchedTree tree, uint node, bool enabled) {                                                 \
        View v;                                                                                            \
        [[unroll]] for (uint j = 0u; j < STEPS; j++) {                                                     \
            v.quad[j] = uvec4(NONE);                                                                       \
            if (enabled && quad_index(j) < QUADS)                                                          \
                v.quad[j] = LOAD4(address_add(node_address(tree, node), quad_index(j) * 16u));             \
        }                                                                                                  \
        return v;                                                                                          \
    }

LATCHED_VIEW(view_at_rest, plain_load4)
LATCHED_VIEW(view_beside, coherent_load4)

// The rest is collective over the subgroup, and its arguments are the same for all lanes of a tile.

Fence view_fence(View v) {
    const uint lane = (QUADS - 1u) & (TILE - 1u);
    uvec2 first = tile_shuffle(v.quad[STEPS - 1u].xy, lane), second = tile_shuffle(v.quad[STEPS - 1u].zw, lane);
    return Fence(first.x, first.y, second.x, second.y);
}

// How many slots have a key below this one.
uint view_below(View v, uint key) {
    uint count = 0u;
    [[unroll]] for (uint j = 0u; j < STEPS; j++) {
        bool slots = quad_index(j) < QUADS - 1u;
        count += uint(bitCount(tile_ballot(slots && v.quad[j].x < key))
                      + bitCount(tile_ballot(slots && v.quad[j].z < key)));
    }
    return count;
}

uvec2 view_slot(View v, uint slot) {
    uint step = (slot >> 1) / TILE;
    uvec4 quad = v.quad[0];
    [[unroll]] for (uint j = 1u; j < STEPS; j++) quad = step == j ? v.quad[j] : quad;
    uvec2 pair = (slot & 1u) == 0u ? quad.xy : quad.zw;
    return tile_shuffle(pair, (slot >> 1) & (TILE - 1u));
}

bool view_full(View v) { return view_slot(v, SLOTS - 1u).x != NONE; }

#endif
