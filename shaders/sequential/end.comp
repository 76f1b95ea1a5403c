// Keeps the following chunks closed, if operations of this one are pending.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "state.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 state;
    uvec2 pending;   // a counter of operations left pending
};

void main() {
    if (invocation_index() == 0u) plain_store(address_add(state, STATE_CLOSED), plain_load(pending));
}
