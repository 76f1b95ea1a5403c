// Opens a chunk if no operation of an earlier one is pending. Otherwise its operations stay pending.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "state.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 state;
    uvec2 statuses;   // a byte an operation
    uvec2 pending;    // a counter of operations left pending
    uint count;
    uint groups;      // workgroups of the chunk's operations
    uint retry;       // 1: statuses say what is done already
};

void main() {
    uint i = invocation_index();
    bool closed = plain_load(address_add(state, STATE_CLOSED)) != 0u;
    if (i == 0u) {
        args_store(address_add(state, STATE_APPLY_ARGS), closed ? 0u : groups);
        args_store(address_add(state, STATE_GROUP_ARGS), 0u);
        args_store(address_add(state, STATE_ORDER_ARGS), 0u);
        if (closed) atomic_add(pending, count);
    }
    if (closed && retry == 0u && i < (count + 3u) >> 2) plain_store_at(statuses, i, 0u);
}
