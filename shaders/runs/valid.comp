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
    uint first;    // the dispatch looks at the pairs first … first+count-1; first is a multiple of 32
    uint count;
};

void main() {
    uint begin = workgroup_index() * WORKGROUP, index = begin + workgroup_lane();
    if (begin >= count) return;   // the whole workgroup
    bool valid = false, tombstone;
    if (index < count) valid = stack_valid(stack, first + index, tombstone);
    bitmap_clear();
    barrier();   // also has all lanes of a subgroup together again
    bitmap_set_all(workgroup_lane(), valid);
    barrier();
    bitmap_store(address_at(flags, (first + begin) >> 5, 2u), min(count - begin, WORKGROUP));
}
