// Run heads: the elements of an array that differ from the one before, with which a run of equal keys begins.
#ifndef VKDS_RUN_HEAD_GLSL
#define VKDS_RUN_HEAD_GLSL

#include "segment.glsl"
#include "pack.glsl"

// Which keys of the segment that begins at key first of an array of n are heads: bit c for key c of the lane's quad.
// v is the segment. Collective over the subgroup.
void run_heads(uvec2 array, uint first, uint n, uvec4 v[QUADS], out uint heads[QUADS]) {
    uint beside = (gl_SubgroupInvocationID + gl_SubgroupSize - 1u) & (gl_SubgroupSize - 1u);
    bool first_lane = gl_SubgroupInvocationID == 0u;
    K row_before = KEY_LEAST;   // the last key of the row before
    if (first != 0u && first < n) row_before = key_load_at(array, first - 1u);
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        K lane_before = subgroupShuffle(QUAD_LAST(v[q]), beside);
        K left = first_lane ? row_before : lane_before;
        row_before = lane_before;   // read by the first lane alone, which has it from the last
        uint at = first + segment_key(q);
        uint set = quad_changes(v[q], left);
        if (at == 0u) set |= 1u;
        heads[q] = pack_below(set, at, n);
    }
}

// How many heads the lane has of a segment, and behind which place the last of them is: its index plus 1, 0 where there
// is none.
uvec2 run_share(uint first, uint heads[QUADS]) {
    uint count = 0u, last = 0u;
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        count += uint(bitCount(heads[q]));
        if (heads[q] != 0u) last = first + segment_key(q) + uint(findMSB(heads[q])) + 1u;
    }
    return uvec2(count, last);
}

#endif
