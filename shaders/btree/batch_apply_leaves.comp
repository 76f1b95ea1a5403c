// Does the operations of a batch in the leaves that have room for their segments.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 1
#include "batch_leaves.glsl"
#define BITMAP_BITS BATCH_GROUP
#include "../primitives/bitmap.glsl"

layout(constant_id = 18) const uint KIND = OP_INSERT;   // constant, so that code for other kinds takes no registers

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
    PushedBatch pushed;
    uvec2 leaves;    // the leaf of each position
    uvec2 emptied;   // 0, or output: a bit at the first position of each segment whose leaf has become empty
};

void main() {
    Batch batch = batch_taken(pushed);
    batch.kind = KIND;
    uint group = workgroup_index();
    bool empty;
    group_apply(tree, work, batch, leaves, group, empty);
    if ((emptied.x | emptied.y) != 0u) {
        bitmap_clear();
        barrier();
        bitmap_set_all(workgroup_lane(), empty);
        barrier();
        bitmap_store(address_at(emptied, group * (BATCH_GROUP / 32u), 2u), BATCH_GROUP);
    }
}
