// Find: common code of both kernels for lookups. They search a key in one run after another, the newest first, until a
// run has it.
//
// An invocation has up to 32 queries. Bit q of a mask stands for its query q, which has the index first + q *
// WORKGROUP. The kernel defines what happens with an answer.
#ifndef VKDS_RUN_FIND_GLSL
#define VKDS_RUN_FIND_GLSL

#include "run_search.glsl"
#include "results.glsl"

void answer(uint i, V value, bool hit);   // the answer to query i

// The mask of an invocation's queries with an index below count.
uint find_asked(uint first, uint each, uint count) {
    uint asked = 0u;
    for (uint q = 0u; q < each; q++) {
        if (first + q * WORKGROUP < count) asked |= 1u << q;
    }
    return asked;
}

// Looks up the workgroup's `open` queries in a run. Their keys' run_upper must be low … high. Collective over the
// workgroup.
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
