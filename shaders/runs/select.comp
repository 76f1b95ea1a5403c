// Finds the valid pairs of a stack by rank; the pair with the least key has rank 0. A key is found bit by bit, from the
// highest bit on: it is the greatest key with at most `rank` valid pairs below it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "run_rank.glsl"
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    Validity validity;
    uvec2 ranks;        // one word per query
    uvec2 out_keys;     // output: one per query, 0 if there is none
    uvec2 out_values;
    uvec2 statuses;     // output: one byte per query, STATUS_FOUND or STATUS_ABSENT
    Length count;
    uint all;           // the number of pairs of all rows
    uint first;         // the first query of this dispatch, a multiple of 4
};

#if VKDS_WIDE
#define HIGHEST_BIT K(0u, 1u << 31)
#define NEXT_BIT(bit) bit = K(bit.x >> 1 | bit.y << 31, bit.y >> 1)
#else
#define HIGHEST_BIT (1u << 31)
#define NEXT_BIT(bit) bit >>= 1
#endif

// The key with a rank. There must be one.
K select_key(uint rank) {
    if (all_valid(validity)) return run_key(stack_run(stack, 0u), rank);
    K key = K(0u);
    for (K bit = HIGHEST_BIT; bit != K(0u); NEXT_BIT(bit))
        if (stack_rank(stack, validity, key | bit) <= rank) key |= bit;
    return key;
}

// The value of a key, that of its newest pair. The key must be there.
V select_value(K key, uint rank) {
    if (all_valid(validity)) return run_value(stack_run(stack, 0u), rank);
    uint rows = stack_rows(stack);
    for (uint row = 0u; row < rows; row++) {
        Run run = stack_run(stack, row);
        uint upper = run_upper(run, key);
        if (upper != 0u && run_key(run, upper - 1u) == key) return run_value(run, upper - 1u);
    }
    return V(0u);
}

void main() {
    uint n = length_of(count), i = first + invocation_index();
    bool found = false;
    if (i < n) {
        uint rank = plain_load_at(ranks, i);
        K key = K(0u);
        V value = V(0u);
        found = rank < valid_before(validity, all);
        if (found) {
            key = select_key(rank);
            value = select_value(key, rank);
        }
        VKDS_STORE_AT(out_keys, i, key);
        VKDS_STORE_AT(out_values, i, value);
    }
    barrier();   // makes each subgroup converge again
    byte_store(statuses, i, n, found ? STATUS_FOUND : STATUS_ABSENT);
}
