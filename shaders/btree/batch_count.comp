// Before a part of a batch whose number of operations the device alone knows: how many there are from the part's first
// one on.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "batch.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 count;   // address of how many the batch has
    uvec2 behind;  // out: how many of them are not in the parts before
    uint first;    // those that are
};

void main() {
    if (invocation_index() != 0u) return;
    uint all = plain_load(count);
    plain_store(behind, all - min(all, first));
}
