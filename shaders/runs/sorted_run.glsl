// Sorted run: pairs in key order, and a stack of such runs, the newest first.
//
// What the sorted array and the LSM are made of (Ashkiani et al., GPU LSM, 2018, sections III-A to III-D). In a run
// equal keys stand in order of time, the oldest first; so a key's newest pair is the last of its equals, at
// run_upper(run, key) - 1. (The paper has the newest first and takes the lower bound. Turned round, a stable ascending
// sort and a stable merge of older before newer need no reversal.) A run is written before the dispatch that reads it:
// all reads are plain.
//
// Tombstones. A pair is a tombstone if its value is all ones and its bit in the run's bitmap is set. No key and no
// value is reserved, and the bitmap is read only where a value is all ones.
//
// The index of a run is a static B+-tree of pivots without pointers. A node is 128 bytes, so N keys, 32 of 32 bits or
// 16 of 64. Level l has every N^l-th key, so that a node holds the first keys of N nodes of the level below, and the
// nodes of level 0 are the run's keys themselves. The top is the first level that is one node. It comes first in
// memory, level 1 last, and each level is filled up to whole nodes with ~0, which is no smaller than any key.
#ifndef VKDS_SORTED_RUN_GLSL
#define VKDS_SORTED_RUN_GLSL

#include "width.glsl"

const uint RUN_NODE = 128u >> VKDS_SHIFT;   // keys a node
const uint RUN_NODE_SHIFT = 7u - VKDS_SHIFT;
const uint STACK_ROWS = 32u;

struct RunStack {
    uvec2 rows;   // STACK_ROWS rows of four addresses: keys, values, tombstones, index
    uint full;    // bit i: row i + 1 is full, with unit << i pairs; else it is empty
    uint unit;
    uint front;   // pairs of row 0, the newest
};

struct Run {
    uvec2 keys;         // aligned to 128 bytes where there is an index, and then filled up to whole nodes with ~0
    uvec2 values;
    uvec2 tombstones;   // a bit a pair, or 0: none is a tombstone
    uvec2 index;        // or 0: none
    uint size;          // pairs
};

// The rows that may hold pairs are 0 … stack_rows-1, the newest first.
uint stack_rows(RunStack stack) { return uint(findMSB(stack.full) + 2); }

// Pairs of a row.
uint stack_size(RunStack stack, uint row) {
    if (row == 0u) return stack.front;
    return ((stack.full >> (row - 1u)) & 1u) != 0u ? stack.unit << (row - 1u) : 0u;
}

// The run of a row. One of no pairs has no addresses that may be followed.
Run stack_run(RunStack stack, uint row) {
    uvec2 at = address_at(stack.rows, row, 5u);
    uvec4 pairs = plain_load4(at);
    uvec4 more = plain_load4(address_add(at, 16u));
    return Run(pairs.xy, pairs.zw, more.xy, more.zw, stack_size(stack, row));
}

K run_key(Run run, uint i) { return VKDS_LOAD_AT(run.keys, i); }
V run_value(Run run, uint i) { return VKDS_LOAD_AT(run.values, i); }

// Whether pair i, whose value is given, is a tombstone.
bool run_tombstone(Run run, uint i, V value) {
    if (value != V(~0u) || (run.tombstones.x | run.tombstones.y) == 0u) return false;
    return ((plain_load(address_at(run.tombstones, i >> 5, 2u)) >> (i & 31u)) & 1u) != 0u;
}

// The end of the pairs with keys up to `key`, of the pairs begin … end-1: by bisection, for narrow slices.
uint run_upper_in(Run run, uint begin, uint end, K key) {
    while (begin < end) {
        uint middle = begin + ((end - begin) >> 1);
        if (VKDS_UP_TO(run_key(run, middle), key)) begin = middle + 1u;
        else end = middle;
    }
    return begin;
}

// A level of a run's search tree. Level 0 is the run's keys, level l > 0 every RUN_NODE^l-th of them.
struct RunLevel {
    uvec2 at;
    uint keys;
    uint level;
};

// How many keys a level has, of a run that isn't empty.
uint run_level_keys(uint size, uint level) {
#if VKDS_WIDE
    if (RUN_NODE_SHIFT * level > 31u) return 1u;   // above the top of 2^28 pairs and more
#endif
    return ((size - 1u) >> (RUN_NODE_SHIFT * level)) + 1u;
}

// The level that is one node, of a run that isn't empty. Without an index: level 0, of any size.
RunLevel run_top(Run run) {
    uint levels = run.size > 1u ? uint(findMSB(run.size - 1u)) / RUN_NODE_SHIFT : 0u;
    if (levels == 0u || (run.index.x | run.index.y) == 0u) return RunLevel(run.keys, run.size, 0u);
    return RunLevel(run.index, run_level_keys(run.size, levels), levels);
}

// The level below one that isn't level 0.
RunLevel run_below(Run run, RunLevel above) {
    if (above.level == 1u) return RunLevel(run.keys, run.size, 0u);
    uint words = run_level_keys(run.size, above.level + 1u) << RUN_NODE_SHIFT;
    return RunLevel(address_at(above.at, words, VKDS_SHIFT), run_level_keys(run.size, above.level - 1u),
                    above.level - 1u);
}

// How many keys of a quad of a node are at most one, as a sum.
#if VKDS_WIDE
#define run_quad_rank(quad, key) uint(VKDS_UP_TO(quad.xy, key)) + uint(VKDS_UP_TO(quad.zw, key))
#else
#define run_quad_rank(quad, key) uint(quad.x <= key) + uint(quad.y <= key) + uint(quad.z <= key) + uint(quad.w <= key)
#endif

// How many of a node's keys are at most `key`, its padding among them if key is ~0.
uint run_node_rank(uvec2 node, K key) {
    uint rank = 0u;
    [[unroll]] for (uint step = RUN_NODE >> 1; step >= VKDS_PER_QUAD; step >>= 1) {
        if (VKDS_UP_TO(VKDS_LOAD(address_add(node, (1u << VKDS_SHIFT) * (rank + step - 1u))), key)) rank += step;
    }
    uvec4 last = plain_load4(address_add(node, (1u << VKDS_SHIFT) * rank));
    return rank + run_quad_rank(last, key);
}

// How many pairs have keys up to `key`: the end of key's pairs, which begin at run_lower. One lane a search.
uint run_upper(Run run, K key) {
    if (run.size == 0u) return 0u;
    RunLevel level = run_top(run);
    if (level.level == 0u) return run_upper_in(run, 0u, run.size, key);
    uint rank = run_node_rank(level.at, key);
    // A rank of 0 is below the run's first key: then the way is that of the first key, to the same result.
    while (level.level > 0u) {
        uint node = max(min(rank, level.keys), 1u) - 1u;
        level = run_below(run, level);
        rank = (node << RUN_NODE_SHIFT)
            + run_node_rank(address_at(level.at, node << RUN_NODE_SHIFT, VKDS_SHIFT), key);
    }
    return min(rank, run.size);
}

// How many pairs have keys below `key`.
uint run_lower(Run run, K key) {
    return key == K(0u) ? 0u : run_upper(run, VKDS_BEFORE(key));
}

#endif
