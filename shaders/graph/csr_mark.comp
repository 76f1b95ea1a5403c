// Flags the sorted arcs that stay: the last of equal ones, and loops only if `loops` is 1.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "number.glsl"
#include "invocation.glsl"
#define BITMAP_BITS WORKGROUP
#include "../primitives/bitmap.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;    // numbers of 64 bits
    uvec2 flags;   // output: one bit per arc
    uint arcs;
    uint bits;     // per id
    uint loops;    // 1: arcs from a vertex to itself stay
};

bool stays(uint i) {
    if (i >= arcs) return false;
    uvec2 key = plain_load2(address_at(keys, i, 3u));
    if (loops == 0u && number_from(key, bits) == (key.x & ((1u << bits) - 1u))) return false;
    return i + 1u == arcs || !number_equal(plain_load2(address_at(keys, i + 1u, 3u)), key);
}

void main() {
    uint group = workgroup_index();
    uint first = group * WORKGROUP;
    bitmap_clear();
    barrier();
    bitmap_set_all(workgroup_lane(), stays(first + workgroup_lane()));
    barrier();
    if (first < arcs) bitmap_store(address_at(flags, group * (WORKGROUP / 32u), 2u), min(WORKGROUP, arcs - first));
}
