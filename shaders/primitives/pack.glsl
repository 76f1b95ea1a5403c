// Pack: those words of a part that are flagged, one behind the other in shared memory, so that they are written
// together.
#ifndef VKDS_PACK_GLSL
#define VKDS_PACK_GLSL

#include "segment.glsl"
#include "workgroup_sum.glsl"

shared uint packed_words[PART];

// Flags of the lane's quads, bit c for component c. rank[q] becomes the number of flagged words of the part before the
// lane's quad q; returns how many the part has. Collective over the workgroup. Between two calls lies a barrier.
uint pack_ranks(uint flags[QUADS], out uint rank[QUADS]) {
    uint count[QUADS];
    [[unroll]] for (uint q = 0u; q < QUADS; q++) count[q] = uint(bitCount(flags[q]));
    uint total;
    uint before = workgroup_before(segment_scan(count, rank), total);
    [[unroll]] for (uint q = 0u; q < QUADS; q++) rank[q] += before;
    return total;
}

// Writes the flagged words of v to packed_words, by their ranks. A barrier before reading them.
void pack_words(uint flags[QUADS], uint rank[QUADS], uvec4 v[QUADS]) {
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        uint at = rank[q];
        if ((flags[q] & 1u) != 0u) packed_words[at++] = v[q].x;
        if ((flags[q] & 2u) != 0u) packed_words[at++] = v[q].y;
        if ((flags[q] & 4u) != 0u) packed_words[at++] = v[q].z;
        if ((flags[q] & 8u) != 0u) packed_words[at] = v[q].w;
    }
}

// Writes the first count packed words to an array from word first on.
void pack_store(uvec2 array, uint first, uint count) {
    for (uint r = workgroup_lane(); r < count; r += WORKGROUP)
        plain_store(address_at(array, first + r, 2u), packed_words[r]);
}

// The flags of a quad at word at without those of words from n on.
uint pack_below(uint flags, uint at, uint n) {
    if (at + 4u <= n) return flags;
    return at < n ? flags & ((1u << (n - at)) - 1u) : 0u;
}

#endif
