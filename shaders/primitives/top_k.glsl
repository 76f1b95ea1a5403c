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

const uint TOP_K_BITS = 11u;               // of a digit
const uint TOP_K_BINS = 1u << TOP_K_BITS;
const uint TOP_K_LANE_BINS = TOP_K_BINS / WORKGROUP;

// How many bits the digit that begins at bit `shift` has: no digit reaches from word to word, so that each third one
// has but 10.
uint top_k_bits(uint shift) { return (shift & 31u) == 0u ? 10u : TOP_K_BITS; }

// What is known of the k-th key.
struct TopK {
    K key;       // its highest digits, and 0 for those that aren't known
    uint left;   // how many of the keys with these digits are wanted
    uint all;    // 1: these are all that there are, so that `key` is the greatest with these digits, and no more is
                 // looked for: nearly always before the last digit of 64 bits
};

shared TopK top_k_found;

// TopK in memory: a key, and a word for what is left, of which the highest bit is `all`.
const uint TOP_K_SHIFT = KEY_SHIFT + 1u;
const uint TOP_K_LEFT = (1u << 31) - 1u;

TopK top_k_load(uvec2 at) {
    uint left = plain_load(address_add(at, 1u << KEY_SHIFT));
    return TopK(key_load(at), left & TOP_K_LEFT, left >> 31);
}

void top_k_store(uvec2 at, TopK known) {
    key_store(at, known.key);
    plain_store(address_add(at, 1u << KEY_SHIFT), known.left | known.all << 31);
}

// A digit of a key, in its place; the bits of all digits behind one; and of all digits before one.
#if VKDS_KEY_BITS == 64
K top_k_digit(uint digit, uint shift) {
    uint word = digit << (shift & 31u);
    return shift < 32u ? K(word, 0u) : K(0u, word);
}
K top_k_behind(uint shift) {
    uint word = (1u << (shift & 31u)) - 1u;
    return shift < 32u ? K(word, 0u) : K(~0u, word);
}
K top_k_before(uint shift) {
    uint end = (shift & 31u) + top_k_bits(shift), word = end < 32u ? ~0u << end : 0u;
    return shift < 32u ? K(word, ~0u) : K(0u, word);
}
#else
K top_k_digit(uint digit, uint shift) { return digit << shift; }
K top_k_behind(uint shift) { return (1u << shift) - 1u; }
K top_k_before(uint shift) {
    uint end = shift + top_k_bits(shift);
    return end < 32u ? ~0u << end : 0u;
}
#endif

// The next digit, which begins at bit `shift`, where counts has how many keys have each value of it. Collective over
// the workgroup; between this and workgroup_before lies a barrier.
TopK top_k_next(TopK known, uvec2 counts, uint shift) {
    if (known.all != 0u) return known;
    uint first = workgroup_lane() * TOP_K_LANE_BINS, count[TOP_K_LANE_BINS], own = 0u, total;
    [[unroll]] for (uint i = 0u; i < TOP_K_LANE_BINS; i++) {
        count[i] = plain_load_at(counts, first + i);
        own += count[i];
    }
    uint before = subgroupExclusiveAdd(own);
    before += workgroup_before(subgroupAdd(own), total);
    [[unroll]] for (uint i = 0u; i < TOP_K_LANE_BINS; i++) {
        // In one bin alone, as long as no more are wanted than there are.
        if (before < known.left && known.left - before <= count[i]) {
            bool all = known.left - before == count[i];
            K key = known.key | top_k_digit(first + i, shift);
            top_k_found = TopK(all ? key | top_k_behind(shift) : key, known.left - before, all ? 1u : 0u);
        }
        before += count[i];
    }
    barrier();
    return top_k_found;
}

// Which keys of a quad at key at of n are less than one, and which are equal to it: a bit each.
uint top_k_less(uvec4 quad, K key, uint at, uint n) { return pack_below(quad_less(quad, key), at, n); }
uint top_k_equal(uvec4 quad, K key, uint at, uint n) { return pack_below(quad_equal(quad, key), at, n); }

#endif
