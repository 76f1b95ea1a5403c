// Writes what becomes of nodes that have not room for what a level's batch brings, an invocation an output: the nodes
// that are new, or then those that were there.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_batch_split.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
#if BATCH_LEAVES
    Batch batch;
#endif
    uvec2 free;      // batch_slab
#if !BATCH_LEAVES
    uint split;      // of Batch
#endif
};

void main() {
#if BATCH_LEAVES
    Batch b = batch;
#else
    Batch b = batch_above(work, split);
#endif
    uint i = invocation_index();
#ifdef NEW
    if (i < plain_load(batch_control(work, work.level, BATCH_OUTPUTS_AT))) split_new(tree, work, b, free, i);
#else
    if (i < plain_load(batch_control(work, work.level, BATCH_SEGMENTS_AT))) split_old(tree, work, b, free, i);
#endif
}
