// Node: 128 bytes of memory, distributed over the lanes of a tile.
//
// A node has 8 quads of 16 bytes, read as pairs of a key and a value (P of width.glsl): 16 pairs, two per quad, or 8
// pairs at 64 bits, one per quad. The tile has up to 8 lanes, and each holds 8/TILE quads. Quad j of lane t is the
// node's quad j * TILE + t, so that the tile reads whole sectors at a time. On GPUs narrow tiles are fastest (more
// nodes in flight, fewer instructions per node), and on CPU devices tiles of one lane.
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

const uint NODE_QUADS = 8u / TILE;   // quads per lane: quad j of all lanes comes before quad j + 1 in node order
const uint NODE_LANE_PAIRS = NODE_PAIRS / TILE;

// node_pair_index: the index in the node of this lane's pair m. node_pair_lane and node_pair_number: the lane that
// holds a pair of the node, and the pair's number in that lane. VKDS_NODE_QUAD and VKDS_NODE_PUT read and set this
// lane's quad q of a node.
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

// Reads a node that others may change. Its words may be old, even older than what this invocation has seen before
// (memory.glsl).
#ifdef VKDS_CHAOS
#define VKDS_OLD_LOAD4 coherent_load4   // with delays
#else
#define VKDS_OLD_LOAD4 plain_load4
#endif
VKDS_NODE_LOAD(node_load_old, VKDS_OLD_LOAD4)

// Set all 32 words of a node to ~0, as in a new node. After the coherent one, a fence is needed before slab_free.
#define VKDS_NODE_CLEAR(NAME, STORE4)                                                                   \
    void NAME(uvec2 address, bool enabled) {                                                            \
        [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++)                                               \
            if (enabled) STORE4(address_add(address, (j * TILE + tile_lane()) * 16u), uvec4(~0u));      \
    }

VKDS_NODE_CLEAR(node_clear, plain_store4)
VKDS_NODE_CLEAR(node_clear_coherent, coherent_store4)

// A bound on the node visits of a tile in a read-only phase: for each of its lanes, all nodes of `blocks` memory blocks
// of a pool (slab_alloc.glsl), in two halves. It ends loops that follow references, if damaged memory has a cycle.
uint node_visits(uint blocks) { return min(blocks, (1u << 20) / TILE) * (TILE << 11) + (TILE << 6); }

#endif
