// Finds keys, each in run after run, the newest first, until one has it.
//
// SORTED: the queries are in about the order of their keys, so that a workgroup's are close together in every run, and
// it searches that part alone. Their answers go to the places that they had before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "run_search.glsl"
#include "results.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 keys;      // uint32 a query
#ifdef SORTED
    uvec2 places;    // uint32 a query: the number of its answer
    uvec2 answers;   // two words a place, out: the value, and 1 where the key is there; else 0 and 0
#else
    uvec2 values;    // uint32 a query, out: 0 where the key is absent
    uvec2 found;     // a byte a query, out: 0 or 1
#endif
    uint count;
    uint each;       // queries an invocation, at most 32
};

void answer(uint i, uint value, bool hit) {
#ifdef SORTED
    plain_store2(address_at(answers, plain_load(address_at(places, i, 2u)), 3u), uvec2(value, hit ? 1u : 0u));
#else
    plain_store(address_at(values, i, 2u), value);
#endif
}

#ifdef SORTED
shared uint least[WORKGROUP / 4u];   // no subgroup has fewer than 4 lanes
shared uint largest[WORKGROUP / 4u];
shared uint bounds[2u * STACK_ROWS];   // run_upper of the least and the largest key in each run

// Sets bounds for the workgroup's queries, where `open` says which each invocation has. Collective over the workgroup.
void bound_all(uint first, uint open, uint rows) {
    uint low = ~0u, high = 0u;
    for (uint q = 0u; q < each; q++) {
        if (((open >> q) & 1u) != 0u) {
            uint key = plain_load(address_at(keys, first + q * WORKGROUP, 2u));
            low = min(low, key);
            high = max(high, key);
        }
    }
    low = subgroupMin(low);
    high = subgroupMax(high);
    if (gl_SubgroupInvocationID == 0u) {
        least[gl_SubgroupID] = low;
        largest[gl_SubgroupID] = high;
    }
    barrier();
    for (uint i = workgroup_lane(); i < 2u * rows; i += WORKGROUP) {
        uint key = least[0];
        for (uint s = 1u; s < gl_NumSubgroups; s++) key = min(key, least[s]);
        if ((i & 1u) != 0u) {
            key = largest[0];
            for (uint s = 1u; s < gl_NumSubgroups; s++) key = max(key, largest[s]);
        }
        bounds[i] = run_upper(stack_run(stack, i >> 1), key);
    }
    barrier();
}
#endif

void main() {
    uint first = workgroup_index() * WORKGROUP * each + workgroup_lane();
    // Bit q stands for the invocation's query number q, at first + q * WORKGROUP.
    uint asked = 0u;
    for (uint q = 0u; q < each; q++) {
        if (first + q * WORKGROUP < count) asked |= 1u << q;
    }
    uint rows = stack_rows(stack);
#ifdef SORTED
    bound_all(first, asked, rows);
#endif
    uint open = asked, hits = 0u;
    for (uint row = 0u; row < rows; row++) {
        Run run = stack_run(stack, row);
        if (run.size == 0u) continue;
        uint low = 0u, high = run.size;
#ifdef SORTED
        low = bounds[2u * row];
        high = bounds[2u * row + 1u];
#endif
        RunSearch search;
        bool cached = run_search_begin(run, low, high, search);
        for (uint q = 0u; q < each; q++) {
            bool busy = ((open >> q) & 1u) != 0u;
            if (!subgroupAny(busy)) continue;
            uint i = first + q * WORKGROUP;
            uint key = 0u;
            if (busy) key = plain_load(address_at(keys, i, 2u));
            uint upper;
            if (cached) upper = run_search_upper(search, key);
            else upper = run_upper_in(run, low, high, key);
            bool here = busy && upper != 0u;
            if (here) here = run_key(run, upper - 1u) == key;
            if (here) {
                open &= ~(1u << q);
                uint value = run_value(run, upper - 1u);
                if (!run_tombstone(run, upper - 1u, value)) {
                    hits |= 1u << q;
                    answer(i, value, true);
                }
            }
        }
    }
    for (uint q = 0u; q < each; q++) {
        uint i = first + q * WORKGROUP;
        bool hit = ((hits >> q) & 1u) != 0u;
        if (((asked >> q) & 1u) != 0u && !hit) answer(i, 0u, false);
#ifndef SORTED
        byte_store(found, i, count, hit ? 1u : 0u);
#endif
    }
}
