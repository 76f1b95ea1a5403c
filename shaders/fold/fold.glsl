// Fold: the result of all operations of a batch on one key, one after the other.
//
// A workgroup has a tile of positions of the batch in key order. The last position of a key computes its result. If the
// key began in an earlier tile, the whole workgroup computes the part before. If all operations update in place in the
// same way, it combines the results of the earlier tiles. In mixed batches it goes operation by operation, because an
// addition and a minimum can't be combined.
#ifndef VKDS_FOLD_GLSL
#define VKDS_FOLD_GLSL

#include "../runs/run_width.glsl"
#include "length.glsl"
#include "operation.glsl"
#include "results.glsl"
#include "value_subgroup.glsl"
#include "workgroup.glsl"

layout(constant_id = 16) const uint KIND = 0;   // of all operations, or OP_MIXED

const uint FOLD_ITEMS = 4u;                     // positions that a lane has
const uint FOLD_TILE = FOLD_ITEMS * WORKGROUP;

// The operations in key order, those of equal keys in the batch's order.
struct FoldBatch {
    uvec2 keys;
    uvec2 sources;   // where each stands in the batch
    uvec2 values;    // in the batch's order
    uvec2 kinds;     // likewise, bytes; of OP_MIXED alone
    Length count;
};

// A key while the operations on it are done.
struct Held {
    bool there;
    V value;
};

void fold_operation(inout Held held, uint kind, V value) {
    held.value = held.there ? op_value(kind, held.value, value) : value;
    held.there = kind != OP_DELETE;
}

// What operations of the batch's one kind come to, which updates in place: a value that does what they do.
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

// What all lanes' values come to, where operations have one kind that updates in place: their order is of no account.
// Collective over the workgroup. Between two calls lies a barrier.
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

// Where in the batch the operation at a position stands.
uint fold_source(FoldBatch b, uint i) { return min(plain_load_at(b.sources, i), b.count.n - 1u); }

K fold_key(FoldBatch b, uint i) { return VKDS_LOAD_AT(b.keys, i); }

#endif
