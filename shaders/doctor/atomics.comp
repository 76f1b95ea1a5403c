// For the doctor: every atomic of memory.glsl on a few words that all invocations share.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    Meeting meeting;
    uvec2 places;    // pairs of words, numbered as below; low word first
    uvec2 bits;      // one pair for 32 invocations, all ones before; the 32-bit variant uses the low word
    uvec2 answers;   // two quads per invocation. First: increments by compare-and-swap, 1 if it alone cleared its bit,
                     // the word that exchange returned, swaps of the pair at SIZES. Second: the amount added, as a
                     // pair; the word offered; additions to the high word at SIZES
    uint count;      // a multiple of 32
    uint rounds;     // the maximal number of tries of a compare-and-swap
    uint increments; // the number of successful ones that an invocation wants
    uint seed;
};

// The numbers of the places, which are 64 bytes apart.
const uint SUM = 0u, SWAPPED = 1u, LEAST = 2u, MOST = 3u, EXCHANGED = 4u, UNION = 5u, SIZES = 6u;
uvec2 place(uint p) { return address_at(places, p, 6u); }

#if VKDS_INT64_ATOMICS
// Neighbouring invocations have their bits in different words of the pair.
uvec2 bit_of(uint i) { return (i & 1u) == 0u ? uvec2(1u << (i & 31u), 0u) : uvec2(0u, 1u << (i & 31u)); }
#else
uvec2 bit_of(uint i) { return uvec2(1u << (i & 31u), 0u); }
#endif

void main() {
    uint i = invocation_index();
    meet(meeting);
    if (i >= count) return;
    uint random = hash_mix(seed ^ i);
    uvec2 amount = uvec2(random, VKDS_INT64_ATOMICS != 0 ? hash_mix(random) : 0u);
    uint offered = hash_mix(random ^ 0x5bd1e995u);
    random = jitter(random, 8u);

    uvec2 bit = bit_of(i);
    uvec2 word = address_at(bits, i >> 5, 3u);
#if VKDS_INT64_ATOMICS
    if (FAULT == 0u) atomic_add2(place(SUM), amount);
    uvec2 held = atomic_and2(word, ~bit);
#else
    if (FAULT == 0u) atomic_add(place(SUM), amount.x);
    uvec2 held = uvec2(atomic_and(word, ~bit.x), 0u);
#endif
    bool own = (held & bit) == bit;

    uint done = 0u;
    for (uint round = 0u; round < rounds && done < increments; round++) {
#if VKDS_INT64_ATOMICS
        uvec2 old = atomic_load2(place(SWAPPED));
        // Both words are incremented, so that a swap of only half a pair would show.
        if (atomic_cas2(place(SWAPPED), old, old + 1u) == old) done++;
#else
        uint old = atomic_load(place(SWAPPED));
        if (atomic_cas(place(SWAPPED), old, old + 1u) == old) done++;
#endif
    }

    // Atomics of two sizes on one pair, as slab lists use them: a swap of the pair must not undo an addition to its
    // high word.
    uint swaps = 0u, additions = 0u;
#if VKDS_INT64_ATOMICS
    for (uint round = 0u; round < rounds && swaps < increments; round++) {
        uvec2 old = atomic_load2(place(SIZES));
        atomic_add(address_add(place(SIZES), 4u), 1u);
        additions++;
        old.y++;   // correct unless another invocation added, too
        if (atomic_cas2(place(SIZES), old, uvec2(old.x + 1u, old.y)) == old) swaps++;
    }
#endif

    atomic_min(place(LEAST), offered);
    atomic_max(place(MOST), offered);
    atomic_or(place(UNION), 1u << (offered & 31u));
    uint received = atomic_exchange(place(EXCHANGED), offered);
    plain_store4(address_at(answers, 2u * i, 4u), uvec4(done, own ? 1u : 0u, received, swaps));
    plain_store4(address_at(answers, 2u * i + 1u, 4u), uvec4(amount, offered, additions));
}
