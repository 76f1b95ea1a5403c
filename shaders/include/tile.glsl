// Tile: T neighbouring lanes of a subgroup that work on one node together.
//
// T is the specialization constant TILE: a power of two, at most 32 and at most the subgroup size; of tiles that work
// on nodes (node.glsl) at most 8. The functions are collective over the subgroup: call them in
// subgroup-uniform control flow, with every lane. Clustered operations are not used, since not every
// driver has them; ballot with shift and mask, and shuffle, do it all.
//
// A kernel over tiles is a flat loop, `while (subgroupAny(busy))`, one node visit an iteration,
// in which each tile works for one of its lanes, the source (warp-cooperative work sharing,
// Ashkiani et al. 2018, section IV-A). Loads, stores and atomics are predicated; no subgroup
// operation stands in divergent control flow. So nothing depends on reconvergence or on forward
// progress between lanes.
#ifndef VKDS_TILE_GLSL
#define VKDS_TILE_GLSL

#include "constants.glsl"
#include "memory.glsl"

layout(constant_id = VKDS_ID_TILE) const uint TILE = 8;

// This lane's place in its tile, 0 … TILE-1.
uint tile_lane() { return gl_SubgroupInvocationID & (TILE - 1u); }

// The first lane of this tile, as a lane of the subgroup.
uint tile_base() { return gl_SubgroupInvocationID & ~(TILE - 1u); }

// Bit i is lane i's condition, of this tile's lanes.
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

// The first lane of a ballot of the tile; the last lane where the ballot is empty.
uint tile_first(uint ballot) { return uint(findLSB(ballot)) & (TILE - 1u); }

// Lane `from`'s value, from 0 … TILE-1.
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
