// Marks the valid pairs of a stack: a bit each, of all rows one behind the other, the newest first. A lane has a pair.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "valid.glsl"
#include "invocation.glsl"

#define BITMAP_BITS WORKGROUP
#include "../primitives/bitmap.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 flags;   // out
    uint count;    // pairs
};

void main() {
    uint first = workgroup_index() * WORKGROUP, place = workgroup_lane();
    if (first >= count) return;   // the whole workgroup
    bool valid = false, tombstone;
    if (first + place < count) valid = stack_valid(stack, first + place, tombstone);
    bitmap_clear();
    barrier();   // also has all lanes of a subgroup together again
    bitmap_set_all(place, valid);
    barrier();
    bitmap_store(address_at(flags, first >> 5, 2u), min(count - first, WORKGROUP));
}
