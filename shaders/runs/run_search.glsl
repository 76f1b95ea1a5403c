// Run search: searches one run for many keys. A workgroup keeps the upper part of the run's search tree in shared
// memory, and tiles read the nodes below it.
//
// A load by 32 lanes from 32 places occupies the cache as long as 32 loads from one place. This limits searches for
// random keys: a binary search needs one such load for each bit of the result. A load from shared memory costs a tenth
// of it. A tile reads a node by one load of 16 bytes per lane, which decides four or five bits.
#ifndef VKDS_RUN_SEARCH_GLSL
#define VKDS_RUN_SEARCH_GLSL

#include "sorted_run.glsl"
#include "tile.glsl"
#include "workgroup.glsl"

const uint RUN_CACHE = 16384u >> VKDS_SHIFT;   // number of keys
shared K run_cache[RUN_CACHE];

struct RunSearch {
    Run run;
    RunLevel level;   // its keys first … first+count-1 are in the cache
    uint first;
    uint count;
    uint span;        // a power of two, at least count
};

// Prepares a search for keys whose run_upper is low … high in a run that is not empty: fills the cache with the part of
// a level that such searches need. It takes the largest level whose part fits. Returns false if none fits: a large run
// has no index. Collective over the workgroup.
bool run_search_begin(Run run, uint low, uint high, out RunSearch search) {
    uint first = max(low, 1u) - 1u, last = max(high, 1u) - 1u;
    RunLevel level = run_top(run);
    search = RunSearch(run, level, 0u, 0u, 0u);
    uint shift = RUN_NODE_SHIFT * level.level;
    if ((last >> shift) - (first >> shift) >= RUN_CACHE) return false;
    while (shift > 0u && (last >> (shift - RUN_NODE_SHIFT)) - (first >> (shift - RUN_NODE_SHIFT)) < RUN_CACHE) {
        level = run_below(run, level);
        shift -= RUN_NODE_SHIFT;
    }
    first >>= shift;
    uint count = (last >> shift) - first + 1u;
    uint span = count == 1u ? 1u : 2u << findMSB(count - 1u);
    search = RunSearch(run, level, first, count, span);
    barrier();   // no lane is searching the old content of the cache any more
    for (uint i = workgroup_lane(); i < span; i += WORKGROUP)
        run_cache[i] = i < count ? VKDS_LOAD(address_at(level.at, first + i, VKDS_SHIFT)) : K(~0u);
    barrier();
    return true;
}

// run_node_rank of each lane's node and key: the number of keys in the node that are at most `key`. The tile's lanes
// read the node of one lane after another together. Collective over the subgroup.
uint run_node_rank_tiled(uvec2 level, uint node, K key) {
    if (TILE == 1u) return run_node_rank(address_at(level, node << RUN_NODE_SHIFT, VKDS_SHIFT), key);
    uint place = tile_lane() << VKDS_QUAD_LOG;
    uint ranks[2] = {0u, 0u};   // one byte for each lane of the tile
    [[unroll]] for (uint lane = 0u; lane < TILE; lane++) {
        uvec2 at = address_at(level, (tile_shuffle(node, lane) << RUN_NODE_SHIFT) + place, VKDS_SHIFT);
        K k = tile_shuffle(key, lane);
        uint rank = 0u;
        [[unroll]] for (uint word = 0u; word < RUN_NODE; word += VKDS_PER_QUAD * TILE) {
            uvec4 keys = plain_load4(address_add(at, (1u << VKDS_SHIFT) * word));
            rank += run_quad_rank(keys, k);
        }
        ranks[lane >> 2] += rank << (8u * (lane & 3u));
    }
    [[unroll]] for (uint step = 1u; step < TILE; step <<= 1) {
        ranks[0] += subgroupShuffleXor(ranks[0], step);
        if (TILE > 4u) ranks[1] += subgroupShuffleXor(ranks[1], step);
    }
    uint mine = TILE > 4u && tile_lane() >= 4u ? ranks[1] : ranks[0];
    return (mine >> (8u * (tile_lane() & 3u))) & 0xffu;
}

// run_upper, with the cache: the number of pairs with keys up to `key`. Collective over the subgroup.
uint run_search_upper(RunSearch search, K key) {
    uint rank = 0u;
    for (uint step = search.span >> 1; step > 0u; step >>= 1)
        if (VKDS_UP_TO(run_cache[rank + step - 1u], key)) rank += step;
    rank += uint(VKDS_UP_TO(run_cache[rank], key));
    rank = min(rank, search.count);
    rank += search.first;
    // Rank 0 means that `key` is below the run's first key. The first node then leads to the same result.
    RunLevel level = search.level;
    while (level.level > 0u) {
        level = run_below(search.run, level);
        uint node = max(rank, 1u) - 1u;
        rank = min((node << RUN_NODE_SHIFT) + run_node_rank_tiled(level.at, node, key), level.keys);
    }
    return rank;
}

#endif
