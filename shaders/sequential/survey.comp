// Looks whether any operation of a chunk has met its key, as one of two with equal new keys does: only then the chunk
// is put into its order. Lays out what that takes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "state.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 state;
    uvec2 statuses;   // a byte an operation
    uvec2 marks;      // likewise, out: none is to be done again
    uvec2 indices;    // a word an operation, out: 0, 1, 2, …
    uint count;
    uint groups;      // workgroups that have an invocation for each operation
    uint met;         // the status of an operation that met its key
};

void main() {
    uint i = invocation_index();
    bool meets = false;
    if (i < (count + 3u) >> 2) {
        uint word = plain_load_at(statuses, i);
        for (uint byte = 0u; byte < 4u; byte++)
            meets = meets || 4u * i + byte < count && (word >> (8u * byte) & 0xffu) == met;
        plain_store_at(marks, i, STATUS_FOUND * 0x01010101u);
        plain_store4(address_at(indices, i, 4u), 4u * i + uvec4(0u, 1u, 2u, 3u));
    }
    if (subgroupAny(meets) && subgroupElect()) {
        atomic_store(address_add(state, STATE_LENGTH), count);
        atomic_store(address_add(state, STATE_ORDER_ARGS), groups);
    }
}
