// Does what a level's batch brings to each node, where the node has room for it.
#version 460
#extension GL_GOOGLE_include_directive : require
#if BATCH_LEAVES
#include "batch_leaves.glsl"
#define BITMAP_BITS BATCH_GROUP
#include "../primitives/bitmap.glsl"
#else
#include "batch_apply.glsl"
#endif

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
#if BATCH_LEAVES
    Batch batch;
    uvec2 leaves;    // the leaf of each position
    uvec2 emptied;   // 0, or a bit a position, out: the first of the segment of a leaf that has no pairs left
#else
    uint split;      // of Batch
#endif
};

void main() {
    uint group = workgroup_index();
#if BATCH_LEAVES
    bool empty;
    group_apply(tree, work, batch, leaves, group, empty);
    if ((emptied.x | emptied.y) != 0u) {
        bitmap_clear();
        barrier();
        bitmap_set_all(workgroup_lane(), empty);
        barrier();
        bitmap_store(address_at(emptied, group * (BATCH_GROUP / 32u), 2u), BATCH_GROUP);
    }
#else
    group_apply(tree, work, batch_above(work, split), group);
#endif
}
