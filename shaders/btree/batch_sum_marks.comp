// Sums up the marks over all groups of a batch, by one workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "batch_sum.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 pairs;
    uint count;
};

void main() {
    sum_pairs(pairs, count);
}
