// Flags the sorted arcs that stay: the last of equal ones, without ARC_NONE.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"
#include "invocation.glsl"
#define BITMAP_BITS WORKGROUP
#include "../primitives/bitmap.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 arcs;    // numbers of 64 bits
    uvec2 flags;   // output: one bit per arc
    uint count;
};

bool stays(uint i) {
    if (i >= count) return false;
    uvec2 arc = plain_load2(address_at(arcs, i, 3u));
    if (arc == ARC_NONE) return false;
    return i + 1u == count || plain_load2(address_at(arcs, i + 1u, 3u)) != arc;
}

void main() {
    uint first = workgroup_index() * WORKGROUP;
    bitmap_clear();
    barrier();
    bitmap_set_all(workgroup_lane(), stays(first + workgroup_lane()));
    barrier();
    if (first < count)
        bitmap_store(address_at(flags, workgroup_index() * (WORKGROUP / 32u), 2u), min(WORKGROUP, count - first));
}
