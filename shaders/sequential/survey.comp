// Checks whether any operation of a chunk has met its key. If two operations have the same new key, one of them has.
// Only then the search for equal keys runs. Prepares the memory for that search.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "equals.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 state;
    uvec2 statuses;   // one byte per operation
    uvec2 marks;      // output: one byte per operation, none marked
    uvec2 table;      // output: two words per operation, EQUALS_NONE
    Equals equals;    // output: each operation alone in its group
    uint count;
    uint groups;      // the number of workgroups with an invocation for each operation
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
