// Counts the valid pairs and the tombstones of a stack.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "valid.glsl"
#include "invocation.glsl"

// There are several counters, so that subgroups don't contend for one. The host adds them up.
const uint COUNTERS = 64u;

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 counters;   // COUNTERS pairs of words: the numbers of valid pairs and of tombstones
    uint first;       // this dispatch looks at the pairs first … first+count-1 of all rows, the newest row first
    uint count;
};

void main() {
    uint index = invocation_index();
    bool valid = false, tombstone = false;
    if (index < count) valid = stack_valid(stack, first + index, tombstone);
    uint all_valid = subgroupAdd(uint(valid));
    uint all_tombstones = subgroupAdd(uint(tombstone));
    uvec2 at = address_at(counters, (index / gl_SubgroupSize) & (COUNTERS - 1u), 3u);
    if (subgroupElect()) {
        atomic_add(at, all_valid);
        atomic_add(address_add(at, 4u), all_tombstones);
    }
}
