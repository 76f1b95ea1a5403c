// Marks the pairs of a sorted array that are the last of their key's: a bit each.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

const uint EACH = 8u;   // pairs an invocation

#define BITMAP_BITS (EACH * WORKGROUP)
#include "bitmap.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 flags;   // a bit a pair, out
    uint count;
};

void main() {
    uint first = workgroup_index() * BITMAP_BITS;
    if (first >= count) return;   // the whole workgroup
    bitmap_clear();
    uint key[EACH], next[EACH];
    [[unroll]] for (uint r = 0u; r < EACH; r++) {
        uint i = min(first + r * WORKGROUP + workgroup_lane(), count - 1u);
        key[r] = plain_load_at(keys, i);
        next[r] = plain_load_at(keys, min(i + 1u, count - 1u));
    }
    barrier();
    [[unroll]] for (uint r = 0u; r < EACH; r++) {
        uint place = r * WORKGROUP + workgroup_lane();
        uint i = first + place;
        bitmap_set_all(place, i < count && (i + 1u == count || key[r] != next[r]));
    }
    barrier();
    bitmap_store(address_at(flags, first >> 5, 2u), min(count - first, BITMAP_BITS));
}
