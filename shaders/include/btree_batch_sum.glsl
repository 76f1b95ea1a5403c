// B-link-tree, batched updates: sums over all groups, and what a level comes to, by one workgroup.
#ifndef VKDS_BTREE_BATCH_SUM_GLSL
#define VKDS_BTREE_BATCH_SUM_GLSL

#include "btree_batch.glsl"
#include "workgroup_sum.glsl"

const uint SUM_AHEAD = 8u;   // pairs of words that a lane loads side by side

// Each pair becomes the sum of those before it; the one behind the last, that of all, which is returned. Collective over
// the workgroup. Between two calls lies a barrier.
uvec2 sum_pairs(uvec2 pairs, uint count) {
    uint each = (count + WORKGROUP - 1u) / WORKGROUP;
    uint begin = min(workgroup_lane() * each, count), end = min(begin + each, count);
    uvec2 own = uvec2(0u);
    [[dont_unroll]] for (uint i = begin; i < end; i += SUM_AHEAD) {
        uvec2 pair[SUM_AHEAD];
        [[unroll]] for (uint k = 0u; k < SUM_AHEAD; k++) pair[k] = work_load2(pairs, min(i + k, count - 1u));
        [[unroll]] for (uint k = 0u; k < SUM_AHEAD; k++) own += i + k < end ? pair[k] : uvec2(0u);
    }
    barrier();   // has all lanes of a subgroup together again, for what follows
    uvec2 through = uvec2(subgroupInclusiveAdd(own.x), subgroupInclusiveAdd(own.y));
    uvec2 total;
    uvec2 before = through - own;
    before.x += workgroup_before(subgroupShuffle(through.x, gl_SubgroupSize - 1u), total.x);
    barrier();
    before.y += workgroup_before(subgroupShuffle(through.y, gl_SubgroupSize - 1u), total.y);
    [[dont_unroll]] for (uint i = begin; i < end; i += SUM_AHEAD) {
        uvec2 pair[SUM_AHEAD];
        [[unroll]] for (uint k = 0u; k < SUM_AHEAD; k++) pair[k] = work_load2(pairs, min(i + k, count - 1u));
        [[unroll]] for (uint k = 0u; k < SUM_AHEAD; k++) {
            if (i + k < end) work_store2(pairs, i + k, before);
            before += pair[k];
        }
    }
    if (workgroup_lane() == 0u) work_store2(pairs, count, total);
    return total;
}

// Sums up a level's groups and writes its control words. free: batch_slab. elements is how many the level's batch has.
// Collective over the workgroup.
void sum_level(BTree tree, Work w, uint elements, uvec2 free) {
    uvec2 total = sum_pairs(batch_groups(w), (elements + BATCH_GROUP - 1u) / BATCH_GROUP);
    if (workgroup_lane() == 0u) {
        uint taken = 0u;
        if (w.level != 0u) {
            taken = work_load(batch_control(w, w.level - 1u, BATCH_TAKEN_AT), 0u);
            taken += work_load(batch_control(w, w.level - 1u, BATCH_OUTPUTS_AT), 0u);
        }
        uint room = plain_load_at(free, 2u * tree.pool.blocks) - taken;
        if (total.x > room) {
            // The host sees to it that this can't be. If it is nevertheless, nothing is overwritten.
            if (w.level == 0u) work_store(batch_control(w, 0u, BATCH_FAILED_AT), 0u, 1u);
            else atomic_add(address_add(tree.state, BTREE_ORPHANS_AT), elements);
            total = uvec2(0u);
        }
        work_store(batch_control(w, w.level, BATCH_OUTPUTS_AT), 0u, total.x);
        work_store(batch_control(w, w.level, BATCH_SEGMENTS_AT), 0u, total.y);
        work_store(batch_control(w, w.level, BATCH_TAKEN_AT), 0u, taken);
        uvec2 groups = (total + BATCH_GROUP - 1u) / BATCH_GROUP;
        [[unroll]] for (uint i = 0u; i < 3u; i++) {
            work_store(batch_control(w, w.level, BATCH_OUTPUTS_ARGS_AT), i, i == 0u ? groups.x : 1u);
            work_store(batch_control(w, w.level, BATCH_SEGMENTS_ARGS_AT), i, i == 0u ? groups.y : 1u);
        }
        if (total.x != 0u) atomic_add(address_add(tree.state, BTREE_SPLITS_AT), total.x);
    }
}

#endif
