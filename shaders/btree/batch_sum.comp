// Sums over all groups of a batch, by one workgroup: of an array of pairs of words, or of a level.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "btree_batch_sum.glsl"

#ifdef LEVEL
layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
    uvec2 free;
    uint count;   // operations of the batch
};

void main() {
    uint elements = count;
    if (work.level != 0u) elements = work_load(batch_control(work, work.level - 1u, BATCH_OUTPUTS_AT), 0u);
    sum_level(tree, work, elements, free);
}
#else
layout(push_constant, std430) uniform Push {
    uvec2 pairs;
    uint count;
};

void main() {
    sum_pairs(pairs, count);
}
#endif
