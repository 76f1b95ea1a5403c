// Find: common code of both kernels of lookups. They search a key in one run after the other, the newest first, until
// one has it.
//
// An invocation has up to 32 queries; bit q stands for its query number q, at first + q * WORKGROUP. The kernel says
// what becomes of an answer.
#ifndef VKDS_RUN_FIND_GLSL
#define VKDS_RUN_FIND_GLSL

#include "run_search.glsl"
#include "results.glsl"

void answer(uint i, V value, bool hit);   // of query i

// The queries of an invocation that are below count.
uint find_asked(uint first, uint each, uint count) {
    uint asked = 0u;
    for (uint q = 0u; q < each; q++) {
        if (first + q * WORKGROUP < count) asked |= 1u << q;
    }
    return asked;
}

// Looks for the `open` ones of the workgroup's queries in a run, where each key's run_upper is low … high. Collective
// over the workgroup.
void find_in(Run run, uint low, uint high, uvec2 keys, uint first, uint each, inout uint open, inout uint hits) {
    RunSearch search;
    bool cached = run_search_begin(run, low, high, search);
    for (uint q = 0u; q < each; q++) {
        bool busy = ((open >> q) & 1u) != 0u;
        if (!subgroupAny(busy)) continue;
        uint i = first + q * WORKGROUP;
        K key = K(0u);
        if (busy) key = VKDS_LOAD(address_at(keys, i, VKDS_SHIFT));
        uint upper;
        if (cached) upper = run_search_upper(search, key);
        else upper = run_upper_in(run, low, high, key);
        bool here = busy && upper != 0u;
        if (here) here = run_key(run, upper - 1u) == key;
        if (here) {
            open &= ~(1u << q);
            V value = run_value(run, upper - 1u);
            if (!run_tombstone(run, upper - 1u, value)) {
                hits |= 1u << q;
                answer(i, value, true);
            }
        }
    }
}

#endif
