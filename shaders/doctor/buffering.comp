// For the doctor: store buffering. Lanes of two workgroups pair up; in each round both write a word of their own
// and then read the other's. That neither sees the other's write is allowed, and tells of a store buffer.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 tickets;   // a word, 0 before: workgroups pair up in the order in which they begin
    uvec2 reached;   // a word an invocation, 0 before: its round, plus 1
    uvec2 words;     // a word a round and an invocation, 0 before
    uvec2 answers;   // the same: 2 once done, plus 1 if the other's write was seen
    uint count;
    uint rounds;
    uint patience;   // how often an invocation looks whether the other one has come to the round, in all
    uint seed;
};

void main() {
    uint ticket = 0u;
    if (subgroupElect()) ticket = atomic_add(tickets, 1u);
    ticket = subgroupBroadcastFirst(ticket);   // workgroups are one subgroup
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
            acquire_fence();   // as in meet
            there = atomic_load(address_at(reached, other, 2u));
        }
        random = jitter(random, 4u);
        atomic_store(address_at(words, round * count + mine, 2u), 1u + (random & 1u));
        uint seen = atomic_load(address_at(words, round * count + other, 2u));
        plain_store(address_at(answers, round * count + mine, 2u), seen != 0u || FAULT != 0u ? 3u : 2u);
    }
}
