// For test/shader: combine.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "combine.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 operations;   // two words per invocation: kind, enabled (0 or 1)
    uvec2 pairs;        // two numbers per invocation: key, value
    uvec2 statuses;     // one word per invocation: the status that it would get alone
    uvec2 answers;      // one quad per invocation: follows (0 or 1), leader, status, 0
    uvec2 values;       // one number per invocation
    uint count;
};

void main() {
    uint i = invocation_index();
    uvec2 q = uvec2(0u);
    K key = K(0u);
    V value = V(0u);
    uint status = STATUS_PENDING;
    if (i < count) {
        q = plain_load2(address_at(operations, i, 3u));
        key = VKDS_LOAD_AT(pairs, 2u * i);
        value = VKDS_LOAD_AT(pairs, 2u * i + 1u);
        status = plain_load(address_at(statuses, i, 2u));
    }
    Combined c = combine(q.x, key, value, q.y != 0u);
    status = combine_status(c, q.x, status);
    if (i >= count) return;
    plain_store4(address_at(answers, i, 4u), uvec4(c.leads ? 0u : 1u, c.leader, status, 0u));
    VKDS_STORE_AT(values, i, value);
}
