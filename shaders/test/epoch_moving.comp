// For test/shader: epoch.glsl, if the epoch advances after a subgroup has read it and before it announces itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

uvec2 epoch_at = uvec2(0u);
uint moves = 0u;   // how often the epoch advances

// Adds after the epoch has advanced. Other invocations may advance it at any time.
uint late_add(uvec2 at, uint more) {
    if (moves != 0u) {
        atomic_add(epoch_at, 1u);
        full_fence();
        moves--;
    }
    return atomic_add(at, more);
}

#define atomic_add late_add
#include "epoch.glsl"

layout(push_constant, std430) uniform Push {
    EpochReclaimer reclaimer;
    uvec2 entered;   // output, two words: the epoch of the first subgroup, and what it holds
    uint count;      // the number of advances
};

void main() {
    if (!subgroupAll(invocation_index() < gl_SubgroupSize)) return;
    epoch_at = address_add(reclaimer.state, EPOCH_NUMBER_AT);
    moves = count;
    Epoch e = epoch_enter(reclaimer);
    if (subgroupElect()) plain_store2(entered, uvec2(e.number, e.held));
}
