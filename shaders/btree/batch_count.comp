// Computes the number of operations from a part's first one on, if only the device knows the number of operations.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "batch.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 count;   // address of the number of operations of the batch
    uvec2 behind;  // output: the number without those in earlier parts
    uint first;    // the number of operations in earlier parts
};

void main() {
    if (invocation_index() != 0u) return;
    uint all = plain_load(count);
    plain_store(behind, all - min(all, first));
}
