// Run heads: the elements of an array that differ from the one before them. Each is the first of a run of equal keys.
#ifndef VKDS_RUN_HEAD_GLSL
#define VKDS_RUN_HEAD_GLSL

#include "segment.glsl"
#include "pack.glsl"

// Finds the heads in the segment v, which begins at key `first` of an array of n keys: bit c of heads[q] stands for key
// c of the lane's quad q. Collective over the subgroup.
void run_heads(uvec2 array, uint first, uint n, uvec4 v[QUADS], out uint heads[QUADS]) {
    uint beside = (gl_SubgroupInvocationID + gl_SubgroupSize - 1u) & (gl_SubgroupSize - 1u);
    bool first_lane = gl_SubgroupInvocationID == 0u;
    K row_before = KEY_LEAST;   // the last key of the previous row
    if (first != 0u && first < n) row_before = key_load_at(array, first - 1u);
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        K lane_before = subgroupShuffle(QUAD_LAST(v[q]), beside);
        K left = first_lane ? row_before : lane_before;
        row_before = lane_before;   // only the first lane uses it, and gets it from the last lane
        uint at = first + segment_key(q);
        uint set = quad_changes(v[q], left);
        if (at == 0u) set |= 1u;
        heads[q] = pack_below(set, at, n);
    }
}

// The number of the lane's heads in a segment, and the index of the last of them plus 1, or 0 if there is none.
uvec2 run_share(uint first, uint heads[QUADS]) {
    uint count = 0u, last = 0u;
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        count += uint(bitCount(heads[q]));
        if (heads[q] != 0u) last = first + segment_key(q) + uint(findMSB(heads[q])) + 1u;
    }
    return uvec2(count, last);
}

#endif
