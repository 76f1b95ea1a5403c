// Sorted run: pairs in the order of their keys, and a stack of such runs, the newest first.
//
// The sorted array and the LSM consist of these (Ashkiani et al., GPU LSM, 2018, sections III-A to III-D). In a run
// pairs with equal keys are in the order of time, the oldest first. So the newest pair of a key is at run_upper(run,
// key) - 1. (The paper has the newest first and takes the lower bound. In our order, a stable ascending sort and a
// stable merge of older before newer pairs need no reversal.) A run is written before the dispatch that reads it, so
// all reads are plain.
//
// Tombstones: a pair is a tombstone if its value is all ones and its bit in the run's bitmap is set. So no key and no
// value is reserved, and the bitmap is read only for values of all ones.
//
// Index: the index of a run is a static B+-tree of pivots without pointers. A node has 128 bytes, which is N keys: 32
// of 32 bits or 16 of 64. Level l consists of every N^l-th key. So a node holds the first keys of N nodes of the level
// below, and the nodes of level 0 are the run's keys themselves. The top is the first level with only one node. In
// memory the top comes first and level 1 last. Each level is padded to whole nodes with ~0, which is no smaller than
// any key.
#ifndef VKDS_SORTED_RUN_GLSL
#define VKDS_SORTED_RUN_GLSL

#include "width.glsl"

const uint RUN_NODE = 128u >> VKDS_SHIFT;   // keys per node
const uint RUN_NODE_SHIFT = 7u - VKDS_SHIFT;
const uint STACK_ROWS = 32u;

struct RunStack {
    uvec2 rows;   // STACK_ROWS rows of four addresses: keys, values, tombstones, index
    uint full;    // bit i: row i + 1 is full, with unit << i pairs; else it is empty
    uint unit;
    uint front;   // the number of pairs of row 0, the newest
};

struct Run {
    uvec2 keys;         // if there is an index: aligned to 128 bytes, and padded to whole nodes with ~0
    uvec2 values;
    uvec2 tombstones;   // one bit per pair; 0: no pair is a tombstone
    uvec2 index;        // 0: there is none
    uint size;          // the number of pairs
};

// The rows 0 … stack_rows-1 may hold pairs, the newest first.
uint stack_rows(RunStack stack) { return uint(findMSB(stack.full) + 2); }

// The number of pairs of a row.
uint stack_size(RunStack stack, uint row) {
    if (row == 0u) return stack.front;
    return ((stack.full >> (row - 1u)) & 1u) != 0u ? stack.unit << (row - 1u) : 0u;
}

// The run of a row. If it has no pairs, its addresses are not valid.
Run stack_run(RunStack stack, uint row) {
    uvec2 at = address_at(stack.rows, row, 5u);
    uvec4 pairs = plain_load4(at);
    uvec4 more = plain_load4(address_add(at, 16u));
    return Run(pairs.xy, pairs.zw, more.xy, more.zw, stack_size(stack, row));
}

K run_key(Run run, uint i) { return VKDS_LOAD_AT(run.keys, i); }
V run_value(Run run, uint i) { return VKDS_LOAD_AT(run.values, i); }

// Whether pair i, which has the given value, is a tombstone.
bool run_tombstone(Run run, uint i, V value) {
    if (value != V(~0u) || (run.tombstones.x | run.tombstones.y) == 0u) return false;
    return ((plain_load(address_at(run.tombstones, i >> 5, 2u)) >> (i & 31u)) & 1u) != 0u;
}

// The first of the pairs begin … end-1 with a key above `key`, or `end`. A binary search, for narrow slices.
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

// The number of keys of a level, of a run that is not empty.
uint run_level_keys(uint size, uint level) {
#if VKDS_WIDE
    if (RUN_NODE_SHIFT * level > 31u) return 1u;   // above the top of a run of 2^28 pairs or more
#endif
    return ((size - 1u) >> (RUN_NODE_SHIFT * level)) + 1u;
}

// The level with one node, of a run that is not empty. Without an index it is level 0, of any size.
RunLevel run_top(Run run) {
    uint levels = run.size > 1u ? uint(findMSB(run.size - 1u)) / RUN_NODE_SHIFT : 0u;
    if (levels == 0u || (run.index.x | run.index.y) == 0u) return RunLevel(run.keys, run.size, 0u);
    return RunLevel(run.index, run_level_keys(run.size, levels), levels);
}

// The level below a level other than 0.
RunLevel run_below(Run run, RunLevel above) {
    if (above.level == 1u) return RunLevel(run.keys, run.size, 0u);
    uint words = run_level_keys(run.size, above.level + 1u) << RUN_NODE_SHIFT;
    return RunLevel(address_at(above.at, words, VKDS_SHIFT), run_level_keys(run.size, above.level - 1u),
                    above.level - 1u);
}

// The number of keys in a quad of a node that are at most `key`, as a sum.
#if VKDS_WIDE
#define run_quad_rank(quad, key) uint(VKDS_UP_TO(quad.xy, key)) + uint(VKDS_UP_TO(quad.zw, key))
#else
#define run_quad_rank(quad, key) uint(quad.x <= key) + uint(quad.y <= key) + uint(quad.z <= key) + uint(quad.w <= key)
#endif

// The number of keys in a node that are at most `key`. If `key` is ~0, padding counts, too.
uint run_node_rank(uvec2 node, K key) {
    uint rank = 0u;
    [[unroll]] for (uint step = RUN_NODE >> 1; step >= VKDS_PER_QUAD; step >>= 1) {
        if (VKDS_UP_TO(VKDS_LOAD(address_add(node, (1u << VKDS_SHIFT) * (rank + step - 1u))), key)) rank += step;
    }
    uvec4 last = plain_load4(address_add(node, (1u << VKDS_SHIFT) * rank));
    return rank + run_quad_rank(last, key);
}

// The number of pairs with keys up to `key`: the end of the key's pairs, which begin at run_lower. Each lane searches
// alone.
uint run_upper(Run run, K key) {
    if (run.size == 0u) return 0u;
    RunLevel level = run_top(run);
    if (level.level == 0u) return run_upper_in(run, 0u, run.size, key);
    uint rank = run_node_rank(level.at, key);
    // Rank 0 means that `key` is below the run's first key. The first node then leads to the same result.
    while (level.level > 0u) {
        uint node = max(min(rank, level.keys), 1u) - 1u;
        level = run_below(run, level);
        rank = (node << RUN_NODE_SHIFT)
            + run_node_rank(address_at(level.at, node << RUN_NODE_SHIFT, VKDS_SHIFT), key);
    }
    return min(rank, run.size);
}

// The number of pairs with keys below `key`.
uint run_lower(Run run, K key) {
    return key == K(0u) ? 0u : run_upper(run, VKDS_BEFORE(key));
}

#endif
