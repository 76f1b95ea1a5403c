// For the doctor: invocations publish one message after the other, each a quad of words behind a flag, and read
// those of other workgroups.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(constant_id = 16) const uint ORDER = 1;   // of a message and its flag: NOTHING, FENCES or DEPENDENCY

const uint NOTHING = 0u;
const uint FENCES = 1u;
const uint DEPENDENCY = 2u;   // as in slab_claimed.glsl: by the results of atomics, and by an address made of the flag

layout(push_constant, std430) uniform Push {
    Meeting meeting;
    uvec2 messages;   // a quad an invocation, 0 before: in round r all four words become r
    uvec2 flags;      // a word an invocation, 0 before: the round whose message is there
    uvec2 answers;    // a quad an invocation: messages read, of those of those from writers that were at work, of all
                      // those older than their flag, nothing
    uint count;
    uint rounds;
    uint seed;
};

void main() {
    uint i = invocation_index();
    meet(meeting);
    if (i >= count) return;
    uint random = hash_mix(seed ^ i);
    uvec2 mine = address_at(messages, i, 4u);
    uint read = 0u, live = 0u, stale = 0u;
    for (uint round = 1u; round <= rounds; round++) {
        random = jitter(random, 4u);
        bool done = true;
        for (uint w = 0u; w < 4u; w++) {
            uvec2 word = address_add(mine, 4u * w);
            if (FAULT != 0u && w == 3u) continue;
            if (ORDER == DEPENDENCY) done = atomic_exchange(word, round) < round && done;   // always true
            else atomic_store(word, round);
        }
        if (ORDER == FENCES) release_fence();
        if (done) atomic_store(address_at(flags, i, 2u), round);

        uint other = hash_reduce(random, count);
        uint flag = atomic_load(address_at(flags, other, 2u));
        if (ORDER == FENCES) acquire_fence();
        uvec2 message = address_at(messages, other, 4u);
        if (ORDER == DEPENDENCY) message = address_add(message, flag >> 31);   // no round has that bit
        uvec4 m;
        if (ORDER == DEPENDENCY) for (uint w = 0u; w < 4u; w++) m[w] = atomic_load(address_add(message, 4u * w));
        else m = coherent_load4(message);
        if (other / WORKGROUP != i / WORKGROUP && flag != 0u) {
            read++;
            if (flag < rounds) live++;
            if (min(min(m.x, m.y), min(m.z, m.w)) < flag) stale++;
        }
    }
    plain_store4(address_at(answers, i, 4u), uvec4(read, live, stale, 0u));
}
