// For test/shader: invocations publish a message each, and read the one of another, behind the fences of memory.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 messages;   // a pair an invocation, 0 before
    uvec2 flags;      // a word an invocation, 0 before
    uvec2 partners;   // a word an invocation: whose message it reads
    uvec2 answers;    // a pair an invocation: whether the flag was seen, and the message read if so
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
