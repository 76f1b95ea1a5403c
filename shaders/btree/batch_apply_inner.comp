// Inserts the batch of an inner level into the nodes that have room for their segments.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "batch_apply.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
    uint split;      // as in Batch
};

void main() {
    uint group = workgroup_index();
    group_apply(tree, work, batch_above(work, split), group);
}
