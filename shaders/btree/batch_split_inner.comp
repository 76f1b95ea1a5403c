// Splits the inner nodes that have no room for their segments. There is one invocation for each record, followed, if
// any record is of a long segment, by one for each new node.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "batch_split.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
    uvec2 free;      // as in batch_slab
    uint split;      // as in Batch
};

void main() {
    Batch b = batch_above(work, split);
    uint records = plain_load(batch_control(work, work.level, BATCH_SEGMENTS_AT));
    uint before = (records + WORKGROUP - 1u) / WORKGROUP, group = workgroup_index();
    uint i = group * WORKGROUP + workgroup_lane();
    if (group < before) {
        bool busy = i < records;
        Record r = Record(0u, 0u, 0u, 0u, 0u);
        uint number = 0u;
        if (busy) r = split_take(work, b, i, number);
        if (busy) split_record(tree, work, b, free, r, number);
    } else {
        uint o = i - before * WORKGROUP;
        if (o < plain_load(batch_control(work, work.level, BATCH_OUTPUTS_AT))) split_long(tree, work, b, free, o);
    }
}
