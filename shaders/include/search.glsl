// Search: bounds in sorted words, and in sorted numbers of 64 bits (uvec2, number.glsl): the type of the key says which
// of them an array has.
//
// The lower bound of a key is how many words are below it, the upper bound how many are at most it; so equal words
// lie between the two.
#ifndef VKDS_SEARCH_GLSL
#define VKDS_SEARCH_GLSL

#include "memory.glsl"
#include "number.glsl"

// The lower bound of a key, if it is in [low, high].
uint lower_bound(uvec2 words, uint low, uint high, uint key) {
    while (low < high) {
        uint middle = low + ((high - low) >> 1);
        if (plain_load(address_at(words, middle, 2u)) < key) low = middle + 1u;
        else high = middle;
    }
    return low;
}

uint lower_bound(uvec2 numbers, uint low, uint high, uvec2 key) {
    while (low < high) {
        uint middle = low + ((high - low) >> 1);
        if (number_below(plain_load2(address_at(numbers, middle, 3u)), key)) low = middle + 1u;
        else high = middle;
    }
    return low;
}

// The upper bound of a key, if it is in [low, high].
uint upper_bound(uvec2 words, uint low, uint high, uint key) {
    return key == ~0u ? high : lower_bound(words, low, high, key + 1u);
}

uint upper_bound(uvec2 numbers, uint low, uint high, uvec2 key) {
    return key == uvec2(~0u) ? high : lower_bound(numbers, low, high, number_add(key, uvec2(1u, 0u)));
}

// The lower bound of one key, if it is in [low, high], by a subgroup: its lanes try as many places at once, so that few
// loads wait for one another. Collective over the subgroup.
uint lower_bound_subgroup(uvec2 words, uint low, uint high, uint key) {
    while (low < high) {
        // Lane l tries the last of the l-th of equal parts; those past the end count as not below.
        uint part = (high - low) / (gl_SubgroupSize + 1u) + 1u;
        uint at = low + part * (gl_SubgroupInvocationID + 1u) - 1u;
        bool below = false;
        if (at < high) below = plain_load(address_at(words, at, 2u)) < key;
        uint passed = subgroupBallotBitCount(subgroupBallot(below));   // the first ones, since words ascend
        low += part * passed;
        high = min(high, low + part - 1u);
    }
    return low;
}

uint lower_bound_subgroup(uvec2 numbers, uint low, uint high, uvec2 key) {
    while (low < high) {
        uint part = (high - low) / (gl_SubgroupSize + 1u) + 1u;
        uint at = low + part * (gl_SubgroupInvocationID + 1u) - 1u;
        bool below = false;
        if (at < high) below = number_below(plain_load2(address_at(numbers, at, 3u)), key);
        uint passed = subgroupBallotBitCount(subgroupBallot(below));
        low += part * passed;
        high = min(high, low + part - 1u);
    }
    return low;
}

// How many of the eight words at an address, a multiple of 16, or of the four numbers of 64 bits, are below a key. All
// come from one sector of 32 bytes where the address is a multiple of that, which costs a GPU no more than one word.
uint lower_bound_sector(uvec2 words, uint key) {
    uvec4 a = plain_load4(words);
    uvec4 b = plain_load4(address_add(words, 16u));
    uvec4 below = uvec4(lessThan(a, uvec4(key))) + uvec4(lessThan(b, uvec4(key)));
    return below.x + below.y + below.z + below.w;
}

uint lower_bound_sector(uvec2 numbers, uvec2 key) {
    uvec4 a = plain_load4(numbers);
    uvec4 b = plain_load4(address_add(numbers, 16u));
    return uint(number_below(a.xy, key)) + uint(number_below(a.zw, key)) + uint(number_below(b.xy, key)) +
           uint(number_below(b.zw, key));
}

#endif
