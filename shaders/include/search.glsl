// Search: binary search in sorted arrays, of words or of numbers of 64 bits (uvec2, number.glsl). The type of the key
// is that of the array's elements.
//
// The lower bound of a key is the number of elements below it. The upper bound is the number of elements that are not
// above it. So the elements equal to the key are those from the lower bound to before the upper bound.
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

// The lower bound of one key, if it is in [low, high], found by a subgroup: each lane tests another place in each
// round, so that few rounds of loads are needed. Collective over the subgroup.
uint lower_bound_subgroup(uvec2 words, uint low, uint high, uint key) {
    while (low < high) {
        // Lane l tests the last element of the l-th of equal parts. Elements after the end count as not below.
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

// The number of the eight words, or of the four numbers of 64 bits, at an address that are below a key. The address
// must be a multiple of 16. If it is a multiple of 32, all come from one sector, which costs a GPU no more than one
// word.
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
