// Fold: the result of all operations of a batch on one key, one after another.
//
// A workgroup has a tile of positions of the batch in key order. The invocation at the last position of a key computes
// the key's result. If the key began in an earlier tile, the whole workgroup first computes the part before the tile.
// If all operations are of one kind that updates in place, it combines the results of the earlier tiles. In mixed
// batches it goes operation by operation, because an addition and a minimum can't be combined.
#ifndef VKDS_FOLD_GLSL
#define VKDS_FOLD_GLSL

#include "../runs/run_width.glsl"
#include "length.glsl"
#include "operation.glsl"
#include "results.glsl"
#include "value_subgroup.glsl"
#include "workgroup.glsl"

layout(constant_id = 16) const uint KIND = 0;   // of all operations, or OP_MIXED

const uint FOLD_ITEMS = 4u;                     // positions per lane
const uint FOLD_TILE = FOLD_ITEMS * WORKGROUP;

// A batch in key order. Operations with equal keys keep the order of the batch.
struct FoldBatch {
    uvec2 keys;
    uvec2 sources;   // the index of each position's operation in the batch
    uvec2 values;    // in the order of the batch
    uvec2 kinds;     // bytes, in the order of the batch; for OP_MIXED only
    Length count;
};

// The state of a key after some of its operations.
struct Held {
    bool there;
    V value;
};

void fold_operation(inout Held held, uint kind, V value) {
    held.value = held.there ? op_value(kind, held.value, value) : value;
    held.there = kind != OP_DELETE;
}

// Combines two operands of the batch's kind, which updates in place. Applying the result has the effect of applying
// both.
V fold_values(V a, V b) { return op_value(KIND, a, b); }
#if VKDS_VALUES == VKDS_UNSIGNED
V fold_nothing() { return either(KIND == OP_INSERT_MIN, V(~0u), V(0u)); }
#else
V fold_nothing() {
    if (KIND == OP_INSERT_MIN) return value_greatest();
    if (KIND == OP_INSERT_MAX) return value_least();
    return value_zero();
}
#endif

shared V fold_sums[WORKGROUP / 4u];   // no subgroup has fewer than 4 lanes

V fold_subgroup(V value) {
    if (KIND == OP_INSERT_MIN) return VKDS_BY_VALUES(VKDS_SUBGROUP_MIN(value), value_subgroup_min(value));
    if (KIND == OP_INSERT_MAX) return VKDS_BY_VALUES(VKDS_SUBGROUP_MAX(value), value_subgroup_max(value));
    return VKDS_BY_VALUES(VKDS_SUBGROUP_ADD(value), value_subgroup_add(value));
}

// Combines the values of all lanes, for a kind that updates in place: their order doesn't matter. Collective over the
// workgroup. A barrier must separate two calls.
V fold_workgroup(V value) {
    value = fold_subgroup(value);
    if (gl_SubgroupInvocationID == 0u) fold_sums[gl_SubgroupID] = value;
    barrier();
    V all = fold_nothing();
    for (uint first = 0u; first < gl_NumSubgroups; first += gl_SubgroupSize) {
        uint i = first + gl_SubgroupInvocationID;
        all = fold_values(all, i < gl_NumSubgroups ? fold_sums[i] : fold_nothing());
    }
    return fold_subgroup(all);
}

// The index in the batch of the operation at a position.
uint fold_source(FoldBatch b, uint i) { return min(plain_load_at(b.sources, i), b.count.n - 1u); }

K fold_key(FoldBatch b, uint i) { return VKDS_LOAD_AT(b.keys, i); }

#endif
