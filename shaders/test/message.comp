// For test/shader: each invocation publishes a message and reads that of another, with the fences of memory.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 messages;   // one pair per invocation, 0 before
    uvec2 flags;      // one word per invocation, 0 before
    uvec2 partners;   // one word per invocation: whose message it reads
    uvec2 answers;    // one pair per invocation: whether it saw the flag, and the message if it did
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec2 message_at = address_at(messages, i, 3u);
    atomic_store(message_at, i);
    atomic_store(address_add(message_at, 4u), ~i);
    release_fence();
    atomic_store(address_at(flags, i, 2u), 1u);

    uint partner = plain_load(address_at(partners, i, 2u));
    bool seen = atomic_load(address_at(flags, partner, 2u)) != 0u;
    acquire_fence();
    uvec2 message = uvec2(0u);
    if (seen) message = coherent_load2(address_at(messages, partner, 3u));
    plain_store2(address_at(answers, i, 3u), uvec2(seen ? 1u : 0u, message.x ^ ~message.y));
}
