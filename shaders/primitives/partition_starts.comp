// Turns the counters of the parts of a partition into the parts' beginnings. One workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "workgroup_sum.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 counters;   // 2^bits words
    uint bits;
};

void main() {
    uint self = workgroup_lane(), parts = 1u << bits, each = (parts + WORKGROUP - 1u) / WORKGROUP;
    uint first = min(self * each, parts), end = min(first + each, parts);
    uint own = 0u;
    for (uint i = first; i < end; i++) own += plain_load_at(counters, i);
    uint before = subgroupExclusiveAdd(own), total;
    before += workgroup_before(subgroupAdd(own), total);
    for (uint i = first; i < end; i++) {
        uint count = plain_load_at(counters, i);
        plain_store_at(counters, i, before);
        before += count;
    }
}
