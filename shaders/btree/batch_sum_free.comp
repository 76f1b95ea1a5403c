// Sums up the free slabs of a pool's blocks, by one workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#define BATCH_ALONE 1
#include "batch_sum.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 pairs;
    uint count;
};

void main() {
    sum_pairs(pairs, count);
    together();   // other lanes have written the pairs whose second words are written next
    // The blocks where the searches of batch_slab begin.
    for (uint k = workgroup_lane(); k <= count; k += WORKGROUP) work_store(pairs, 2u * k + 1u, count - 1u);
    together();
    for (uint i = workgroup_lane(); i < count; i += WORKGROUP) {
        uint before = work_load(pairs, 2u * i), through = work_load(pairs, 2u * i + 2u);
        uint k = min((before + 1023u) >> 10, i);
        if (k << 10 < through) work_store(pairs, 2u * k + 1u, i);   // a block has at most 1024 slabs
    }
}
