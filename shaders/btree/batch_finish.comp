// Does inner levels that have little to do, by one workgroup. If the segments of the first level were done already, it
// sums that level up. If the level has at most `most` new nodes, the workgroup does the rest of it, and all levels
// above it.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#define BATCH_ALONE 1
#include "batch_apply.glsl"
#include "batch_sum.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
    uvec2 free;       // as in batch_slab
    uint split;       // as in Batch
    uint splitting;   // invocations of a workgroup that does records; 0: do the first level's segments, too
    uint most;        // the greatest number of new nodes of the first level
};

void main() {
    Work w = work;
    bool begun = splitting != 0u;
    for (; w.level < 16u; w.level++) {
        Batch b = batch_above(w, split);
        uvec2 above = batch_control(w, w.level - 1u, BATCH_OUTPUTS_ARGS_AT);
        if (b.count == 0u || begun && work_load(above, 0u) == 0u) break;
        if (!begun) {
            w.group = WORKGROUP;
            for (uint group = 0u; group * w.group < b.count; group++) {
                group_apply(tree, w, b, group);
                barrier();
            }
            together();
        }
        sum_level(tree, w, b.count, free, max(splitting, 1u));
        together();
        uint outputs = min(work_load(batch_control(w, w.level, BATCH_OUTPUTS_AT), 0u), w.capacity);
        if (begun && outputs > most) break;
        if (workgroup_lane() == 0u) {
            // The dispatches for these have nothing to do any more.
            work_store(batch_control(w, w.level, BATCH_OUTPUTS_ARGS_AT), 0u, 0u);
            work_store(batch_control(w, w.level, BATCH_SPLIT_ARGS_AT), 0u, 0u);
        }
        begun = false;
        uint records = min(work_load(batch_control(w, w.level, BATCH_SEGMENTS_AT), 0u), w.capacity);
        for (uint i = workgroup_lane(); i < records; i += WORKGROUP) {
            uint number;
            Record r = split_take(w, b, i, number);
            split_record(tree, w, b, free, r, number);
        }
        if (work_load(batch_control(w, w.level, BATCH_LONG_AT), 0u) != 0u)
            for (uint o = workgroup_lane(); o < outputs; o += WORKGROUP) split_long(tree, w, b, free, o);
        together();
    }
}
