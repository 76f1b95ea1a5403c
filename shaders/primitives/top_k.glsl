// Top k: the k least keys of an array, by way of the greatest of them, which is found digit by digit from the highest
// one on: a dispatch counts the keys by a digit, among those that have the digits found before it, and the next one
// looks in the counts for where the k-th key is. (Alabi, Blanchard, Gordon and Steinbach, Fast K-Selection Algorithms
// for Graphics Processing Units, 2012: radix selection.)
//
// Where the greatest keys are wanted, all are complemented as they are read.
#ifndef VKDS_TOP_K_GLSL
#define VKDS_TOP_K_GLSL

#include "chunk.glsl"
#include "pack.glsl"

const uint TOP_K_BITS = 11u;               // of a digit; the last one, the third, has what is left of 32
const uint TOP_K_BINS = 1u << TOP_K_BITS;
const uint TOP_K_LANE_BINS = TOP_K_BINS / WORKGROUP;

// What is known of the k-th key.
struct TopK {
    uint digits;   // the highest ones
    uint left;     // how many of the keys with these are wanted
};

shared TopK top_k_found;

TopK top_k_load(uvec2 at) {
    uvec2 words = plain_load2(at);
    return TopK(words.x, words.y);
}

void top_k_store(uvec2 at, TopK known) { plain_store2(at, uvec2(known.digits, known.left)); }

// The next digit, of so many bits, where counts has how many keys have each value of it. Collective over the workgroup;
// between this and workgroup_before lies a barrier.
TopK top_k_next(TopK known, uvec2 counts, uint bits) {
    uint first = workgroup_lane() * TOP_K_LANE_BINS, count[TOP_K_LANE_BINS], own = 0u, total;
    [[unroll]] for (uint i = 0u; i < TOP_K_LANE_BINS; i++) {
        count[i] = plain_load_at(counts, first + i);
        own += count[i];
    }
    uint before = subgroupExclusiveAdd(own);
    before += workgroup_before(subgroupAdd(own), total);
    [[unroll]] for (uint i = 0u; i < TOP_K_LANE_BINS; i++) {
        // In one bin alone, as long as no more are wanted than there are.
        if (before < known.left && known.left - before <= count[i])
            top_k_found = TopK(known.digits << bits | (first + i), known.left - before);
        before += count[i];
    }
    barrier();
    return top_k_found;
}

// Which keys of a quad at word at of n are less than one, and which are equal to it: a bit each.
uint top_k_less(uvec4 quad, uint key, uint at, uint n) {
    uvec4 less = uvec4(lessThan(quad, uvec4(key)));
    return pack_below(less.x | less.y << 1 | less.z << 2 | less.w << 3, at, n);
}

uint top_k_equal(uvec4 quad, uint key, uint at, uint n) {
    uvec4 equals = uvec4(equal(quad, uvec4(key)));
    return pack_below(equals.x | equals.y << 1 | equals.z << 2 | equals.w << 3, at, n);
}

#endif
