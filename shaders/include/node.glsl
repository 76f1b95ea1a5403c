// Node: 128 bytes of memory, spread over the lanes of a tile.
//
// A node is 32 words, read as pairs of a key and a value (P of width.glsl): 16 of them, two a quad, or at 64 bits 8,
// one a quad of 16 bytes. The tile has up to 8 lanes, of which each holds 8/TILE quads, interleaved so that the tile
// touches whole sectors at a time: quad j of lane t is the node's quad j * TILE + t. Narrow tiles read best on GPUs
// (more nodes in flight, fewer instructions a node); on a CPU device one lane a node is fastest.
#ifndef VKDS_NODE_GLSL
#define VKDS_NODE_GLSL

#include "width.glsl"
#include "tile.glsl"

const uint NODE_BYTES = 128u;
const uint NODE_SHIFT = 7u;   // log2(NODE_BYTES), for address_at
const uint NODE_PAIRS = VKDS_WIDE != 0 ? 8u : 16u;
const uint NODE_NONE = ~0u;   // no slot, no lane

// What one lane holds of a node: pair[m] is the node's pair node_pair_index(m), for m < NODE_LANE_PAIRS.
struct Node {
    P pair[VKDS_WIDE != 0 ? 8 : 16];
};

const uint NODE_QUADS = 8u / TILE;   // steps in which the pairs are in node order
const uint NODE_LANE_PAIRS = NODE_PAIRS / TILE;

// The place in the node of this lane's m-th pair. The lane that holds a pair of the node, and its number among that
// lane's pairs. Quad q of a node, of those that this lane has, and its pairs.
#if VKDS_WIDE
uint node_pair_index(uint m) { return m * TILE + tile_lane(); }
uint node_pair_lane(uint pair) { return pair & (TILE - 1u); }
uint node_pair_number(uint pair) { return pair / TILE; }
#define VKDS_NODE_QUAD(N, Q) N.pair[Q]
#define VKDS_NODE_PUT(N, Q, V) N.pair[Q] = V
#else
uint node_pair_index(uint m) { return 2u * ((m >> 1) * TILE + tile_lane()) + (m & 1u); }
uint node_pair_lane(uint pair) { return (pair >> 1) & (TILE - 1u); }
uint node_pair_number(uint pair) { return 2u * ((pair >> 1) / TILE) + (pair & 1u); }
#define VKDS_NODE_QUAD(N, Q) uvec4(N.pair[2u * Q], N.pair[2u * Q + 1u])
#define VKDS_NODE_PUT(N, Q, V) \
    N.pair[2u * Q] = V.xy;     \
    N.pair[2u * Q + 1u] = V.zw
#endif

// The lane that holds the node's last pair, whose index among that lane's pairs is NODE_LANE_PAIRS - 1.
const uint NODE_LAST_LANE = TILE - 1u;

#define VKDS_NODE_LOAD(NAME, LOAD4)                                                       \
    Node NAME(uvec2 address, bool enabled) {                                              \
        Node n;                                                                           \
        [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {                               \
            uvec4 q = uvec4(0u);                                                          \
            if (enabled) q = LOAD4(address_add(address, (j * TILE + tile_lane()) * 16u)); \
            VKDS_NODE_PUT(n, j, q);                                                       \
        }                                                                                 \
        return n;                                                                         \
    }

// Reads the node at an address (of 128-byte alignment) that is the same for all lanes of the tile.
// Tiles that are not enabled read nothing.
VKDS_NODE_LOAD(node_load, plain_load4)
VKDS_NODE_LOAD(node_load_coherent, coherent_load4)

// Make all 32 words of a node ~0: how fresh nodes look. A fence orders the coherent one (slab_free).
#define VKDS_NODE_CLEAR(NAME, STORE4)                                                                   \
    void NAME(uvec2 address, bool enabled) {                                                            \
        [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++)                                               \
            if (enabled) STORE4(address_add(address, (j * TILE + tile_lane()) * 16u), uvec4(~0u));      \
    }

VKDS_NODE_CLEAR(node_clear, plain_store4)
VKDS_NODE_CLEAR(node_clear_coherent, coherent_store4)

// More visits of nodes than a tile has to make where nobody changes them: for each of its lanes, all nodes of so many
// memory blocks of a pool (slab_alloc.glsl), half by half. Loops that follow references end with them: only
// references that lead in circles take so many.
uint node_visits(uint blocks) { return min(blocks, (1u << 20) / TILE) * (TILE << 11) + (TILE << 6); }

#endif
