// For test/shader: each invocation calls one of memory.glsl's functions.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 operations;   // two quads per invocation: the function, 0, a pair of words; another pair, 0, 0
    uvec2 addresses;    // one per invocation
    uvec2 answers;      // one quad per invocation
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec4 q = plain_load4(address_at(operations, 2u * i, 4u));
    uint what = q.x;
    uvec2 a = q.zw;
    uvec2 b = plain_load4(address_at(operations, 2u * i + 1u, 4u)).xy;
    uvec2 at = plain_load2(address_at(addresses, i, 3u));
    uvec4 answer = uvec4(0u);
    switch (what) {
    case 0u: answer.xy = address_add(a, b.x); break;
    case 1u: answer.xy = address_at(a, b.x, b.y); break;
    case 2u: answer.x = plain_load(at); break;
    case 3u: answer.xy = plain_load2(at); break;
    case 4u: answer = plain_load4(at); break;
    case 5u: plain_store(at, a.x); break;
    case 6u: plain_store2(at, a); break;
    case 7u: plain_store4(at, uvec4(a, b)); break;
    case 8u: answer.xy = coherent_load2(at); break;
    case 9u: answer = coherent_load4(at); break;
    case 10u: answer.x = atomic_load(at); break;
    case 11u: atomic_store(at, a.x); break;
    case 12u: answer.x = atomic_add(at, a.x); break;
    case 13u: answer.x = atomic_min(at, a.x); break;
    case 14u: answer.x = atomic_max(at, a.x); break;
    case 15u: answer.x = atomic_and(at, a.x); break;
    case 16u: answer.x = atomic_or(at, a.x); break;
    case 17u: answer.x = atomic_exchange(at, a.x); break;
    case 18u: answer.x = atomic_cas(at, b.x, a.x); break;
    case 19u: answer.x = plain_load_at(at, b.x); break;
    case 20u: plain_store_at(at, b.x, a.x); break;
    case 21u: answer.x = plain_load_near(at, b.x); break;
    case 22u: plain_store_near(at, b.x, a.x); break;
#if VKDS_INT64_ATOMICS
    case 23u: answer.xy = atomic_load2(at); break;
    case 24u: answer.xy = atomic_add2(at, a); break;
    case 25u: answer.xy = atomic_and2(at, a); break;
    case 26u: answer.xy = atomic_cas2(at, b, a); break;
    case 27u: answer.xy = atomic_min2(at, a); break;
    case 28u: answer.xy = atomic_max2(at, a); break;
#endif
    }
    plain_store4(address_at(answers, i, 4u), answer);
}
