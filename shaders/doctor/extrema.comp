// For the doctor: minima and maxima of words to which others add at the same time. The operands are chosen so that no
// minimum or maximum changes its word. So the final words count all additions, unless a minimum or maximum stored a
// word that it had loaded earlier.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    Meeting meeting;
    uvec2 words;   // two words, 64 bytes apart: for minima, 0 before; for maxima, 2^31 before
    uint count;
    uint rounds;   // the number of additions to each word per invocation; those of all invocations are fewer than 2^31
    uint seed;
};

const uint HIGH = 0x80000000u;

void main() {
    uint i = invocation_index();
    meet(meeting);
    if (i >= count) return;
    uint random = hash_mix(seed ^ i);
    uvec2 low = words, high = address_add(words, 64u);
    for (uint round = 0u; round < rounds; round++) {
        uint low_before = 0u, high_before = 0u;
        if (FAULT != 0u) {
            low_before = atomic_load(low);
            high_before = atomic_load(high);
        }
        atomic_add(low, 1u);
        atomic_add(high, 1u);
        random = hash_mix(random + 0x9e3779b9u);
        if (FAULT == 0u) {
            atomic_min(low, random | HIGH);
            atomic_max(high, random & ~HIGH);
        } else {
            atomic_store(low, min(low_before, random | HIGH));
            atomic_store(high, max(high_before, random & ~HIGH));
        }
    }
}
