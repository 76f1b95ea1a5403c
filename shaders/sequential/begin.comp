// Opens a chunk if no operation of an earlier chunk is pending. Otherwise all operations of this chunk stay pending.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "state.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 state;
    uvec2 statuses;   // one byte per operation
    uvec2 pending;    // counts the operations left pending
    uint count;
    uint groups;      // the number of workgroups for the chunk's operations
    uint retry;       // 1: the statuses tell which operations are done
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
