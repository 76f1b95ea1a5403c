// Sums up the records of the leaves over all groups of a batch, by one workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "batch_sum.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
    uvec2 free;
    uint count;       // the number of operations of the batch
    uint splitting;   // invocations of a workgroup that does records
};

void main() {
    sum_level(tree, work, count, free, splitting);
}
