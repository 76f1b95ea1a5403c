// For the doctor: store buffering. Lanes of two workgroups form pairs. In each round both write a word of their own and
// then read the other's. Neither may see the other's write: this is allowed, and shows a store buffer.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 tickets;   // a word, 0 before: workgroups form pairs in the order in which they begin
    uvec2 reached;   // one word per invocation, 0 before: its round plus 1
    uvec2 words;     // one word per round and invocation, 0 before
    uvec2 answers;   // one word per round and invocation: 2 when done, 3 if it saw the other's write
    uint count;
    uint rounds;
    uint patience;   // the maximal number of times an invocation checks whether the other one has reached the round,
                     // over all rounds
    uint seed;
};

void main() {
    uint ticket = 0u;
    if (subgroupElect()) ticket = atomic_add(tickets, 1u);
    ticket = subgroupBroadcastFirst(ticket);   // a workgroup is one subgroup here
    uint mine = ticket * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint other = (ticket ^ 1u) * gl_SubgroupSize + gl_SubgroupInvocationID;
    if (mine >= count || other >= count) return;
    uint random = hash_mix(seed ^ mine);
    uint left = patience;
    for (uint round = 0u; round < rounds; round++) {
        atomic_store(address_at(reached, mine, 2u), round + 1u);
        uint there = atomic_load(address_at(reached, other, 2u));
        while (there <= round && left > 0u) {
            left--;
            acquire_fence();   // needed for the same reason as in meet
            there = atomic_load(address_at(reached, other, 2u));
        }
        random = jitter(random, 4u);
        atomic_store(address_at(words, round * count + mine, 2u), 1u + (random & 1u));
        uint seen = atomic_load(address_at(words, round * count + other, 2u));
        plain_store(address_at(answers, round * count + mine, 2u), seen != 0u || FAULT != 0u ? 3u : 2u);
    }
}
