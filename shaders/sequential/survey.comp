// Checks whether any operation of a chunk found its key, as one of two operations with equal new keys does. Only then
// equal keys are searched. Prepares the memory for that.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "equals.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 state;
    uvec2 statuses;   // a byte an operation
    uvec2 marks;      // likewise, out: none is to be done again
    uvec2 table;      // two words an operation, out: EQUALS_NONE
    Equals equals;    // out: each operation the only one of its group
    uint count;
    uint groups;      // workgroups that have an invocation for each operation
    uint met;         // the status of an operation that met its key
    uint kind;
};

void main() {
    uint i = invocation_index();
    bool meets = false;
    if (i < (count + 3u) >> 2) {
        uint word = plain_load_at(statuses, i);
        uvec4 status = uvec4(word, word >> 8, word >> 16, word >> 24) & 0xffu;
        uvec4 index = 4u * i + uvec4(0u, 1u, 2u, 3u);
        meets = any(equal(mix(uvec4(~0u), status, lessThan(index, uvec4(count))), uvec4(met)));
        plain_store_at(marks, i, STATUS_FOUND * 0x01010101u);
        bvec4 none = equal(status, uvec4(kind == OP_INSERT ? ~0u : STATUS_PENDING));
        plain_store4(address_at(equals.firsts, i, 4u), mix(index, uvec4(EQUALS_NONE), none));
        plain_store4(address_at(equals.lasts, i, 4u), index);
        plain_store4(address_at(table, 2u * i, 4u), uvec4(EQUALS_NONE));
        plain_store4(address_at(table, 2u * i + 1u, 4u), uvec4(EQUALS_NONE));
    }
    if (subgroupAny(meets) && subgroupElect()) atomic_store(address_add(state, STATE_GROUP_ARGS), groups);
}
