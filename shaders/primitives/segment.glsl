// Segment: consecutive words of an array that a subgroup holds in its registers, and parts: the segments of a
// workgroup's subgroups, one behind the other.
//
// A lane has QUADS quads (four consecutive words) of its subgroup's segment. Quad q of the lanes, one after the other,
// is a row of the segment, so that each load and store is one of 16 bytes a lane beside its neighbour's.
#ifndef VKDS_SEGMENT_GLSL
#define VKDS_SEGMENT_GLSL

#include "memory.glsl"
#include "workgroup.glsl"

layout(constant_id = 16) const uint QUADS = 4;

const uint PART = WORKGROUP * QUADS * 4u;   // words of a part

uint segment_words() { return gl_SubgroupSize * QUADS * 4u; }

// Where this subgroup's segment of a part begins.
uint segment_of(uint part) { return part * PART + gl_SubgroupID * segment_words(); }

// The lane's first word of row q, counted from the segment's begin.
uint segment_word(uint q) { return (q * gl_SubgroupSize + gl_SubgroupInvocationID) * 4u; }

// Reads the segment that begins at word first, a multiple of 4, of an array of n words. Words from n on are taken
// for beyond. first is the same in the whole subgroup.
void segment_load(uvec2 array, uint first, uint n, uint beyond, out uvec4 v[QUADS]) {
    if (first + segment_words() <= n && (array.x & 15u) == 0u) {
        [[unroll]] for (uint q = 0u; q < QUADS; q++) v[q] = plain_load4(address_at(array, first + segment_word(q), 2u));
    } else {
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uint at = first + segment_word(q);
            v[q] = uvec4(beyond);
            if (at < n) v[q].x = plain_load(address_at(array, at, 2u));
            if (at + 1u < n) v[q].y = plain_load(address_at(array, at + 1u, 2u));
            if (at + 2u < n) v[q].z = plain_load(address_at(array, at + 2u, 2u));
            if (at + 3u < n) v[q].w = plain_load(address_at(array, at + 3u, 2u));
        }
    }
}

// Writes the segment that begins at word first of an array of n words, and nothing from n on.
void segment_store(uvec2 array, uint first, uint n, uvec4 v[QUADS]) {
    if (first + segment_words() <= n && (array.x & 15u) == 0u) {
        [[unroll]] for (uint q = 0u; q < QUADS; q++) plain_store4(address_at(array, first + segment_word(q), 2u), v[q]);
    } else {
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uint at = first + segment_word(q);
            if (at < n) plain_store(address_at(array, at, 2u), v[q].x);
            if (at + 1u < n) plain_store(address_at(array, at + 1u, 2u), v[q].y);
            if (at + 2u < n) plain_store(address_at(array, at + 2u, 2u), v[q].z);
            if (at + 3u < n) plain_store(address_at(array, at + 3u, 2u), v[q].w);
        }
    }
}

// before[q] becomes the sum of what the segment's quads before this lane's quad q have; returns the sum of all.
// Collective over the subgroup.
uint segment_scan(uint quad[QUADS], out uint before[QUADS]) {
    uint sum = 0u;
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        uint through = subgroupInclusiveAdd(quad[q]);
        before[q] = sum + through - quad[q];
        sum += subgroupShuffle(through, gl_SubgroupSize - 1u);
    }
    return sum;
}

#endif
