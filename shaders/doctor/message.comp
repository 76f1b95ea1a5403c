// For the doctor: each invocation publishes messages, one after another, and reads those of other workgroups. A message
// is a quad of words, followed by a flag in memory of its own.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(constant_id = 16) const uint ORDER = 1;   // how a message is ordered with its flag

const uint NOTHING = 0u;
const uint FENCES = 1u;
const uint DEPENDENCY = 2u;   // by the results of atomics, and by an address computed from the flag, as in
                              // slab_claimed.glsl

layout(push_constant, std430) uniform Push {
    Meeting meeting;
    uvec2 messages;   // one quad per invocation, 0 before: in round r all its words become r
    uvec2 flags;      // one word per invocation, 0 before: the round whose message was published
    uvec2 answers;    // one quad per invocation: messages read; those of them from invocations that were not done;
                      // those of all that were older than their flag; 0
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
        if (ORDER == DEPENDENCY) message = address_add(message, flag >> 31);   // adds 0: no round has that bit
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
