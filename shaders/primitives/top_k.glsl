// Top k: the k least keys of an array. The greatest of these is found digit by digit, from the highest digit on. A
// dispatch counts keys by a digit, among the keys with the digits found before. The next dispatch finds in the counts
// the digit of the k-th key. (Alabi, Blanchard, Gordon and Steinbach, Fast K-Selection Algorithms for Graphics
// Processing Units, 2012: radix selection.)
//
// For the k greatest keys, all keys are complemented when they are read.
#ifndef VKDS_TOP_K_GLSL
#define VKDS_TOP_K_GLSL

#include "chunk.glsl"
#include "pack.glsl"

const uint TOP_K_BITS = 11u;               // bits of a digit
const uint TOP_K_BINS = 1u << TOP_K_BITS;
const uint TOP_K_LANE_BINS = TOP_K_BINS / WORKGROUP;

// The number of bits of the digit that begins at bit `shift`. No digit is in two words, so the lowest digit of each
// word has only 10 bits.
uint top_k_bits(uint shift) { return (shift & 31u) == 0u ? 10u : TOP_K_BITS; }

// What is known of the k-th key.
struct TopK {
    K key;       // its highest digits; 0 for those that aren't known
    uint left;   // the number of keys with these digits that are wanted
    uint all;    // 1: these are all keys with these digits. `key` is then the greatest possible key with these digits,
                 // and the search ends. With 64 bits, it nearly always ends before the last digit
};

shared TopK top_k_found;

// TopK in memory: a key, and a word with `left`, whose highest bit is `all`.
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

// Masks: a digit of a key, at its place; all bits below a digit; all digits above a digit.
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

// Finds the digit of the k-th key that begins at bit `shift`. `counts` has the number of keys with each value of the
// digit. Collective over the workgroup. A barrier must separate it from workgroup_before.
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
        // This is so for one bin only, as long as no more keys are wanted than there are.
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

// The keys of a quad that are less than a key, and those that are equal to it: a bit each. The quad begins at key `at`
// of n.
uint top_k_less(uvec4 quad, K key, uint at, uint n) { return pack_below(quad_less(quad, key), at, n); }
uint top_k_equal(uvec4 quad, K key, uint at, uint n) { return pack_below(quad_equal(quad, key), at, n); }

#endif
