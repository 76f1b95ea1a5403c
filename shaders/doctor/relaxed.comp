// For the doctor: relaxed atomics in a loop that lanes leave at different times. An invocation increments its own word,
// and one that all share, until its own has reached a target.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    Meeting meeting;
    uvec2 words;     // one word per invocation, 0 before
    uvec2 shared_;   // a word, 0 before
    uvec2 answers;   // one quad per invocation: its target, its rounds, the last value read, how often it saw the
                     // shared word fall
    uint count;
    uint rounds;     // the maximal number of rounds; targets are lower
    uint seed;
};

void main() {
    uint i = invocation_index();
    meet(meeting);
    if (i >= count) return;
    uint target = 1u + hash_reduce(hash_mix(seed ^ i), rounds - 2u);
    uvec2 mine = address_at(words, i, 2u);
    uint before = atomic_load(mine);
    uint seen = 0u, high = 0u, fell = 0u, taken = 0u;
    for (uint round = 0u; round < rounds; round++) {
        seen = FAULT == 0u ? atomic_load(mine) : before;
        if (seen >= target) break;
        taken++;
        atomic_add(mine, 1u);
        uint now = atomic_load(shared_);
        if (now < high) fell++;
        high = now;
        atomic_add(shared_, 1u);
    }
    plain_store4(address_at(answers, i, 4u), uvec4(target, taken, seen, fell));
}
