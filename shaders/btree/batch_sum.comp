// Sums over all groups of a batch, by one workgroup: of the marks, of the leaves' records, or of the pool's blocks.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#ifdef FREE
#define BATCH_ALONE 1
#endif
#include "batch_sum.glsl"

#ifdef LEAVES
layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
    uvec2 free;
    uint count;       // operations of the batch
    uint splitting;   // invocations of a workgroup that goes over records
};

void main() {
    sum_level(tree, work, count, free, splitting);
}
#else
layout(push_constant, std430) uniform Push {
    uvec2 pairs;
    uint count;
};

void main() {
    sum_pairs(pairs, count);
#ifdef FREE
    // What batch_slab begins at.
    for (uint k = workgroup_lane(); k <= count; k += WORKGROUP) work_store(pairs, 2u * k + 1u, count - 1u);
    release_fence();
    barrier();
    acquire_fence();
    for (uint i = workgroup_lane(); i < count; i += WORKGROUP) {
        uint before = work_load(pairs, 2u * i), through = work_load(pairs, 2u * i + 2u), k = min((before + 1023u) >> 10, i);
        if (k << 10 < through) work_store(pairs, 2u * k + 1u, i);   // a block has 1024 slabs at most
    }
#endif
}
#endif
