// Run rank: the number of valid pairs of a stack with keys below a given key. It uses a bitmap of the valid pairs, and
// the number of bits before each of its words.
#ifndef VKDS_RUN_RANK_GLSL
#define VKDS_RUN_RANK_GLSL

#include "sorted_run.glsl"

struct Validity {
    uvec2 flags;    // one bit per pair of all rows, row after row; 0: there is one run, and all of its pairs are valid
    uvec2 before;   // one word per word of flags, and one more: the number of set bits before it
};

bool all_valid(Validity v) { return (v.flags.x | v.flags.y) == 0u; }

// The number of valid pairs before pair i of all rows.
uint valid_before(Validity v, uint i) {
    if (all_valid(v)) return i;
    uint all = plain_load_at(v.before, i >> 5);
    if ((i & 31u) != 0u) all += uint(bitCount(plain_load_at(v.flags, i >> 5) & ((1u << (i & 31u)) - 1u)));
    return all;
}

// The number of valid pairs with keys below `key`.
uint stack_rank(RunStack stack, Validity v, K key) {
    uint rank = 0u, first = 0u, rows = stack_rows(stack);
    for (uint row = 0u; row < rows; row++) {
        Run run = stack_run(stack, row);
        if (run.size == 0u) continue;
        rank += valid_before(v, first + run_lower(run, key)) - valid_before(v, first);
        first += run.size;
    }
    return rank;
}

#endif
