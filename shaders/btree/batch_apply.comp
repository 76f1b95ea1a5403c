// Does what a level's batch brings to each node, where the node has room for it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_batch_apply.glsl"
#if BATCH_LEAVES
#define BITMAP_BITS BATCH_GROUP
#include "bitmap.glsl"
#endif

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
#if BATCH_LEAVES
    Batch batch;
    uvec2 leaves;    // 0, or the leaf of each position
    uvec2 emptied;   // 0, or a bit a position, out: the first of the segment of a leaf that has no pairs left
#else
    uint split;      // of Batch
#endif
};

void main() {
    uint group = workgroup_index();
#if BATCH_LEAVES
    Batch b = batch;
#else
    Batch b = batch_above(work, split);
#endif
    bool empty;
    uint known = SLAB_NULL;
#if BATCH_LEAVES
    uint i = group * BATCH_GROUP + workgroup_lane();
    if ((leaves.x | leaves.y) != 0u && i < b.count) known = plain_load_at(leaves, i);
#endif
    group_apply(tree, work, b, group, known, empty);
#if BATCH_LEAVES
    if ((emptied.x | emptied.y) != 0u) {
        bitmap_clear();
        barrier();
        bitmap_set_all(workgroup_lane(), empty);
        barrier();
        bitmap_store(address_at(emptied, group * (BATCH_GROUP / 32u), 2u), BATCH_GROUP);
    }
#endif
}
