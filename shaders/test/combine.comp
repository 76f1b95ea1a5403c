// For test/shader: combine.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "combine.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 operations;   // an invocation: kind, key, value, enabled (0 or 1)
    uvec2 statuses;     // a word an invocation: what it would get if it did its operation itself
    uvec2 answers;      // an invocation: follows (0 or 1), leader, value, status
    uint count;
};

void main() {
    uint i = invocation_index();
    uvec4 q = uvec4(0u);
    uint status = STATUS_PENDING;
    if (i < count) {
        q = plain_load4(address_at(operations, i, 4u));
        status = plain_load(address_at(statuses, i, 2u));
    }
    uint value = q.z;
    Combined c = combine(q.x, q.y, value, q.w != 0u);
    status = combine_status(c, q.x, status);
    if (i < count) plain_store4(address_at(answers, i, 4u), uvec4(c.leads ? 0u : 1u, c.leader, value, status));
}
