// Segment: consecutive keys of an array that a subgroup has in registers. The segments of a workgroup's subgroups
// follow one another, and form a part.
//
// A lane has QUADS quads (quad.glsl) of its subgroup's segment. The quads q of all lanes are consecutive, and form row
// q of the segment. So in each load and store, lanes access 16 bytes each, next to one another.
#ifndef VKDS_SEGMENT_GLSL
#define VKDS_SEGMENT_GLSL

#include "quad.glsl"
#include "sum.glsl"
#include "workgroup.glsl"

layout(constant_id = 16) const uint QUADS = 4;

const uint PART = WORKGROUP * QUADS * QUAD_KEYS;   // keys per part

uint segment_keys() { return gl_SubgroupSize * QUADS * QUAD_KEYS; }

// The index of the first key of this subgroup's segment of a part.
uint segment_of(uint part) { return part * PART + gl_SubgroupID * segment_keys(); }

// The lane's first key of row q, relative to the segment.
uint segment_key(uint q) { return (q * gl_SubgroupSize + gl_SubgroupInvocationID) * QUAD_KEYS; }

// Loads the segment that begins at key `first`, a multiple of QUAD_KEYS, of an array of n keys. Keys from n on are
// `beyond`. `first` is the same for the whole subgroup.
void segment_load(uvec2 array, uint first, uint n, K beyond, out uvec4 v[QUADS]) {
    if (first + segment_keys() <= n && (array.x & 15u) == 0u) {
        [[unroll]] for (uint q = 0u; q < QUADS; q++)
            v[q] = plain_load4(address_at(array, first + segment_key(q), KEY_SHIFT));
    } else {
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uint at = first + segment_key(q);
            QUAD_LOAD(v[q], array, at, n, beyond);
        }
    }
}

// Stores the segment that begins at key `first` of an array of n keys, but no key from n on.
void segment_store(uvec2 array, uint first, uint n, uvec4 v[QUADS]) {
    if (first + segment_keys() <= n && (array.x & 15u) == 0u) {
        [[unroll]] for (uint q = 0u; q < QUADS; q++)
            plain_store4(address_at(array, first + segment_key(q), KEY_SHIFT), v[q]);
    } else {
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uint at = first + segment_key(q);
            QUAD_STORE(v[q], array, at, n);
        }
    }
}

// before[q] becomes the sum over the segment's quads before this lane's quad q. Returns the sum over all quads.
// Collective over the subgroup.
S segment_scan(S quad[QUADS], out S before[QUADS]) {
    S sum = S(0u);
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        S through = SUM_THROUGH(quad[q]);
        before[q] = SUM_MINUS(SUM_PLUS(sum, through), quad[q]);
        SUM_ADD(sum, subgroupShuffle(through, gl_SubgroupSize - 1u));
    }
    return sum;
}

#endif
