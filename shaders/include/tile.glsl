// Tile: T neighbouring lanes of a subgroup that work on one node together.
//
// T is the specialization constant TILE: a power of two, at most 32 and at most the subgroup size. For tiles that work
// on nodes (node.glsl) it is at most 8. The functions are collective over the subgroup: call them in
// subgroup-uniform control flow, with every lane. They use ballots and shuffles, not clustered
// operations, because not every driver has these.
//
// A kernel with tiles is a flat loop, `while (subgroupAny(busy))`, with one node visit per iteration.
// In each iteration a tile works for one of its lanes, the source (warp-cooperative work sharing,
// Ashkiani et al. 2018, section IV-A). Loads, stores and atomics are predicated, and no subgroup
// operation is in divergent control flow. So nothing depends on reconvergence or on forward progress
// between lanes.
#ifndef VKDS_TILE_GLSL
#define VKDS_TILE_GLSL

#include "constants.glsl"
#include "memory.glsl"

layout(constant_id = VKDS_ID_TILE) const uint TILE = 8;

// This lane's place in its tile, 0 … TILE-1.
uint tile_lane() { return gl_SubgroupInvocationID & (TILE - 1u); }

// The first lane of this tile, as a lane of the subgroup.
uint tile_base() { return gl_SubgroupInvocationID & ~(TILE - 1u); }

// The conditions of this tile's lanes: bit i is that of its lane i.
uint tile_ballot(bool condition) {
    if (TILE == 1u) return condition ? 1u : 0u;
    uvec4 ballot = subgroupBallot(condition);
    uint word = ballot.x;
    // A tile never crosses a word of the ballot, since TILE divides 32.
    if (gl_SubgroupSize > 32u) {
        uint w = gl_SubgroupInvocationID >> 5;
        word = w == 0u ? ballot.x : w == 1u ? ballot.y : w == 2u ? ballot.z : ballot.w;
    }
    uint bits = word >> (tile_base() & 31u);
    return TILE == 32u ? bits : bits & ((1u << (TILE & 31u)) - 1u);
}

// The first lane of a ballot of the tile, or the tile's last lane if the ballot is empty.
uint tile_first(uint ballot) { return uint(findLSB(ballot)) & (TILE - 1u); }

// The value of the tile's lane `from`, 0 … TILE-1.
uint tile_shuffle(uint value, uint from) {
    return TILE == 1u ? value : subgroupShuffle(value, tile_base() + from);
}
uvec2 tile_shuffle(uvec2 value, uint from) {
    return TILE == 1u ? value : subgroupShuffle(value, tile_base() + from);
}
uvec4 tile_shuffle(uvec4 value, uint from) {
    return TILE == 1u ? value : subgroupShuffle(value, tile_base() + from);
}

#endif
