// Marks the valid pairs of a stack, with one bit per pair of all rows, row after row, the newest first. Each lane has a
// pair.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "valid.glsl"
#include "invocation.glsl"

#define BITMAP_BITS WORKGROUP
#include "../primitives/bitmap.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 flags;   // output
    uint first;    // this dispatch looks at the pairs first … first+count-1; first is a multiple of 32
    uint count;
};

void main() {
    uint begin = workgroup_index() * WORKGROUP, index = begin + workgroup_lane();
    if (begin >= count) return;   // the whole workgroup
    bool valid = false, tombstone;
    if (index < count) valid = stack_valid(stack, first + index, tombstone);
    bitmap_clear();
    barrier();   // also makes each subgroup converge again
    bitmap_set_all(workgroup_lane(), valid);
    barrier();
    bitmap_store(address_at(flags, (first + begin) >> 5, 2u), min(count - begin, WORKGROUP));
}
