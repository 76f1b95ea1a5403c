// For the doctor: pairs of words are written by 64-bit atomics, and read at the same time both by 64-bit atomics and as
// halves of a vector. The second word of a pair is a function of the first, so a torn read shows.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    Meeting meeting;
    uvec2 quads;     // each holds (0, hash_mix(0)) twice before
    uvec2 answers;   // one quad per invocation: pairs written; pairs read; of these, torn quads; and pairs that were
                     // torn when read by an atomic
    uint quad_count;
    uint rounds;
    uint seed;
};

void main() {
    uint i = invocation_index();
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    meet(meeting);
    bool writer = (group & 1u) == 0u;
    uint random = hash_mix(seed ^ i);
    uint written = 0u, read = 0u, torn = 0u, torn_atomics = 0u;
    for (uint round = 0u; round < rounds; round++) {
        random = jitter(random, 2u);
        uvec2 quad = address_at(quads, hash_reduce(random, quad_count), 4u);
        uvec2 pair = address_add(quad, (random & 1u) * 8u);
        // The fault writes half a pair. Readers do this, too, because all writers may run before or after them.
        if (FAULT == 1u && (random & 2u) != 0u) atomic_add(pair, 1u);
        if (writer) {
            uvec2 old = atomic_load2(pair);
            uint next = old.x + 1u;
            if (atomic_cas2(pair, old, uvec2(next, hash_mix(next))) == old) written++;
        } else {
            uvec4 v = coherent_load4(quad);
            uvec2 a = atomic_load2(pair);
            read++;
            if (v.y != hash_mix(v.x) || v.w != hash_mix(v.z)) torn++;
            if (a.y != hash_mix(a.x)) torn_atomics++;
        }
    }
    plain_store4(address_at(answers, i, 4u), uvec4(written, read, torn, torn_atomics));
}
