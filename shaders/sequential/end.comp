// Keeps the following chunks closed if operations of this chunk are pending.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "state.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 state;
    uvec2 pending;   // counts the operations left pending
};

void main() {
    if (invocation_index() == 0u) plain_store(address_add(state, STATE_CLOSED), plain_load(pending));
}
