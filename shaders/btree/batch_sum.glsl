// B-link-tree, batched updates: sums over all groups of a level, and its control words, by one workgroup.
#ifndef VKDS_BTREE_BATCH_SUM_GLSL
#define VKDS_BTREE_BATCH_SUM_GLSL

#include "batch.glsl"
#include "../primitives/workgroup_sum.glsl"

// A barrier after which all invocations of the workgroup see what the others have written to memory.
void together() {
    release_fence();
    barrier();
    acquire_fence();
}

const uint SUM_AHEAD = 8u;   // pairs of words that a lane has in flight

// Replaces each of `count` pairs of words by the sum of those before it. The pair after the last becomes the sum of
// all, which is returned. Each subgroup has a part of the pairs, and its lanes have consecutive ones. Collective over
// the workgroup. A barrier must separate two calls.
uvec2 sum_pairs(uvec2 pairs, uint count) {
    uint steps = (count + WORKGROUP - 1u) / WORKGROUP;
    uint first = gl_SubgroupID * steps * gl_SubgroupSize + gl_SubgroupInvocationID;
    uvec2 own = uvec2(0u);
    [[dont_unroll]] for (uint step = 0u; step < steps; step += SUM_AHEAD) {
        uvec2 pair[SUM_AHEAD];
        [[unroll]] for (uint k = 0u; k < SUM_AHEAD; k++)
            pair[k] = work_load2(pairs, min(first + (step + k) * gl_SubgroupSize, count - 1u));
        [[unroll]] for (uint k = 0u; k < SUM_AHEAD; k++)
            own += step + k < steps && first + (step + k) * gl_SubgroupSize < count ? pair[k] : uvec2(0u);
    }
    barrier();   // makes each subgroup converge again
    uvec2 total, before;
    before.x = workgroup_before(subgroupAdd(own.x), total.x);
    barrier();
    before.y = workgroup_before(subgroupAdd(own.y), total.y);
    [[dont_unroll]] for (uint step = 0u; step < steps; step += SUM_AHEAD) {
        uvec2 pair[SUM_AHEAD];
        [[unroll]] for (uint k = 0u; k < SUM_AHEAD; k++)
            pair[k] = work_load2(pairs, min(first + (step + k) * gl_SubgroupSize, count - 1u));
        [[unroll]] for (uint k = 0u; k < SUM_AHEAD; k++) {
            uint i = first + (step + k) * gl_SubgroupSize;
            bool has = step + k < steps && i < count;
            uvec2 here = has ? pair[k] : uvec2(0u);
            uvec2 through = uvec2(subgroupInclusiveAdd(here.x), subgroupInclusiveAdd(here.y));
            if (has) work_store2(pairs, i, before + through - here);
            before += subgroupShuffle(through, gl_SubgroupSize - 1u);
        }
    }
    if (workgroup_lane() == 0u) work_store2(pairs, count, total);
    return total;
}

// Sums up the groups of a level and writes its control words. `elements` is the number of elements of the level's
// batch, `free` is as in batch_slab, and `splitting` is the number of invocations of a workgroup that does records.
// Returns the number of new nodes. Collective over the workgroup.
uint sum_level(BTree tree, Work w, uint elements, uvec2 free, uint splitting) {
    uvec2 total = sum_pairs(batch_groups(w), (elements + w.group - 1u) / w.group);
    if (workgroup_lane() == 0u) {
        uint taken = 0u;
        if (w.level != 0u) {
            taken = work_load(batch_control(w, w.level - 1u, BATCH_TAKEN_AT), 0u);
            taken += work_load(batch_control(w, w.level - 1u, BATCH_OUTPUTS_AT), 0u);
        }
        uint free_slabs = plain_load_near(free, SHARED != 0u ? 0u : 2u * tree.pool.blocks);
        uint room = min(free_slabs - taken, w.capacity);
        total.y = min(total.y, w.capacity);
        if (total.x > room) {
            // The host prevents this. If it happens all the same, nothing is overwritten.
            if (w.level == 0u) work_store(batch_control(w, 0u, BATCH_FAILED_AT), 0u, 1u);
            else atomic_add(address_add(tree.state, BTREE_ORPHANS_AT), elements);
            total = uvec2(0u);
        }
        work_store(batch_control(w, w.level, BATCH_OUTPUTS_AT), 0u, total.x);
        work_store(batch_control(w, w.level, BATCH_SEGMENTS_AT), 0u, total.y);
        work_store(batch_control(w, w.level, BATCH_TAKEN_AT), 0u, taken);
        bool any_long = work_load(batch_control(w, w.level, BATCH_LONG_AT), 0u) != 0u;
        uint above = (total.x + w.group - 1u) / w.group;
        uint records = (total.y + splitting - 1u) / splitting
            + (any_long ? (total.x + splitting - 1u) / splitting : 0u);
        [[unroll]] for (uint i = 0u; i < 3u; i++) {
            work_store(batch_control(w, w.level, BATCH_OUTPUTS_ARGS_AT), i, i == 0u ? above : 1u);
            work_store(batch_control(w, w.level, BATCH_SPLIT_ARGS_AT), i, i == 0u ? records : 1u);
        }
        if (total.x != 0u) atomic_add(address_add(tree.state, BTREE_SPLITS_AT), total.x);
    }
    return total.x;
}

#endif
