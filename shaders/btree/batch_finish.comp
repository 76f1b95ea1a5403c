// Does all levels from one on, by one workgroup: for those that have little to do.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#define BATCH_ALONE 1
#include "btree_batch_apply.glsl"
#include "btree_batch_sum.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
    uvec2 free;   // batch_slab
    uint split;   // of Batch
};

// What the workgroup's invocations did is seen by all of them.
void together() {
    release_fence();
    barrier();
    acquire_fence();
}

void main() {
    Work w = work;
    for (; w.level < 16u; w.level++) {
        Batch b = batch_above(w, split);
        if (b.count == 0u) break;
        for (uint group = 0u; group * BATCH_GROUP < b.count; group++) {
            bool emptied;
            group_apply(tree, w, b, group, SLAB_NULL, emptied);
            barrier();
        }
        together();
        sum_level(tree, w, b.count, free);
        together();
        uint outputs = work_load(batch_control(w, w.level, BATCH_OUTPUTS_AT), 0u);
        for (uint o = workgroup_lane(); o < outputs; o += WORKGROUP) split_new(tree, w, b, free, o);
        together();
        uint segments = work_load(batch_control(w, w.level, BATCH_SEGMENTS_AT), 0u);
        for (uint i = workgroup_lane(); i < segments; i += WORKGROUP) split_old(tree, w, b, free, i);
        together();
    }
}
