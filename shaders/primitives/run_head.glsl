// Run heads: the elements of an array that differ from the one before, with which a run of equal keys begins.
#ifndef VKDS_RUN_HEAD_GLSL
#define VKDS_RUN_HEAD_GLSL

#include "segment.glsl"
#include "pack.glsl"

// Which words of the segment that begins at word first of an array of n are heads: bit c for component c of the lane's
// quad. v is the segment. Collective over the subgroup.
void run_heads(uvec2 array, uint first, uint n, uvec4 v[QUADS], out uint heads[QUADS]) {
    uint beside = (gl_SubgroupInvocationID + gl_SubgroupSize - 1u) & (gl_SubgroupSize - 1u);
    bool first_lane = gl_SubgroupInvocationID == 0u;
    uint row_before = 0u;   // the last word of the row before
    if (first != 0u && first < n) row_before = plain_load(address_at(array, first - 1u, 2u));
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        uint lane_before = subgroupShuffle(v[q].w, beside);
        uint left = first_lane ? row_before : lane_before;
        row_before = lane_before;   // read by the first lane alone, which has it from the last
        uint at = first + segment_word(q);
        uint set = at == 0u || left != v[q].x ? 1u : 0u;
        if (v[q].x != v[q].y) set |= 2u;
        if (v[q].y != v[q].z) set |= 4u;
        if (v[q].z != v[q].w) set |= 8u;
        heads[q] = pack_below(set, at, n);
    }
}

// How many heads the lane has of a segment, and behind which place the last of them is: its index plus 1, 0 where there
// is none.
uvec2 run_share(uint first, uint heads[QUADS]) {
    uint count = 0u, last = 0u;
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        count += uint(bitCount(heads[q]));
        if (heads[q] != 0u) last = first + segment_word(q) + uint(findMSB(heads[q])) + 1u;
    }
    return uvec2(count, last);
}

#endif
