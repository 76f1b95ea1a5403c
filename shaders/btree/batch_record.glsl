// B-link-tree, batched updates: the records of segments whose results don't fit into one node.
#ifndef VKDS_BTREE_BATCH_RECORD_GLSL
#define VKDS_BTREE_BATCH_RECORD_GLSL

#include "batch.glsl"
#include "../primitives/workgroup_sum.glsl"

struct Record {
    uint node;
    uint count;   // the number of resulting pairs
    uint slots;   // the mask of the node's slots that stay
    uint begin, end;
};

// A record is at the place of element number `rank` of its group.
void record_store(Work w, uint group, uint rank, Record r) {
    uint begin = r.begin - group * w.group;
    work_store4(batch_records(w), group * w.group + rank, uvec4(r.node, r.end, r.count, r.slots | begin << 16));
}

Record record_load(Work w, Batch b, uint group, uint rank) {
    uvec4 v = work_load4(batch_records(w), group * w.group + rank);
    uint begin = min(group * w.group + (v.w >> 16), b.count), end = clamp(v.y, begin, b.count);
    return Record(v.x, min(v.z, end - begin + BTREE_SLOTS), v.w & 0xffffu, begin, end);
}

bool record_long(Record r) { return r.end - r.begin > BATCH_WALK; }

// The number of new nodes for a record. The record's node is one of the outputs, unless it is the root.
uint record_new(BTree tree, Batch b, Record r) { return batch_nodes(b, r.count) - (r.node == tree.root ? 0u : 1u); }

// Stores the records of the workgroup's lanes, in the order of the lanes, and their numbers of new nodes. Collective
// over the workgroup.
void group_record(BTree tree, Work w, Batch b, uint group, bool records, Record r) {
    uint made = 0u;
    if (records) {
        made = record_new(tree, b, r);
        if (r.node == tree.root) work_store(batch_control(w, w.level, BATCH_ROOT_AT), 0u, 1u);
        if (record_long(r)) work_store(batch_control(w, w.level, BATCH_LONG_AT), 0u, 1u);
    }

    barrier();   // makes each subgroup converge again
    uint rank = subgroupInclusiveAdd(records ? 1u : 0u), offset = subgroupInclusiveAdd(made);
    uvec2 total;
    uint ranks = workgroup_before(subgroupShuffle(rank, gl_SubgroupSize - 1u), total.y);
    total.x = 0u;
    if (total.y != 0u) {   // the same for the whole workgroup
        barrier();
        offset += workgroup_before(subgroupShuffle(offset, gl_SubgroupSize - 1u), total.x) - made;
        if (records) {
            rank += ranks - 1u;
            record_store(w, group, rank, r);
            work_store(batch_offsets(w), group * w.group + rank, offset);
        }
    }
    if (workgroup_lane() == 0u && group * w.group < b.count) work_store2(batch_groups(w), group, total);
}

#endif
