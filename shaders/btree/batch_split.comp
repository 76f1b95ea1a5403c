// Writes what becomes of nodes that have not room for what a level's batch brings: an invocation a record, and behind
// those, if any record is of a long segment, an invocation a new node.
#version 460
#extension GL_GOOGLE_include_directive : require
#if BATCH_LEAVES
#include "batch_halve.glsl"
#else
#include "batch_split.glsl"
#include "workgroup.glsl"
#endif

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
#if BATCH_LEAVES
    Batch batch;
#endif
    uvec2 free;      // batch_slab
#if !BATCH_LEAVES
    uint split;      // of Batch
#endif
};

void main() {
#if BATCH_LEAVES
    Batch b = batch;
#else
    Batch b = batch_above(work, split);
#endif
    uint records = plain_load(batch_control(work, work.level, BATCH_SEGMENTS_AT));
    uint before = (records + WORKGROUP - 1u) / WORKGROUP, group = workgroup_index();
    uint i = group * WORKGROUP + workgroup_lane();
    if (group < before) {
        bool busy = i < records;
        Record r = Record(0u, 0u, 0u, 0u, 0u);
        uint number = 0u;
        if (busy) r = split_take(work, b, i, number);
#if BATCH_LEAVES
        split_leaf(tree, work, b, free, busy, r, number);
#else
        if (busy) split_record(tree, work, b, free, r, number);
#endif
    } else {
        uint o = i - before * WORKGROUP;
        if (o < plain_load(batch_control(work, work.level, BATCH_OUTPUTS_AT))) split_long(tree, work, b, free, o);
    }
}
