// A batch of updates and ranges beside them in one dispatch: workgroups for the ones stand among workgroups for the others.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_range.glsl"
#include "workgroup.glsl"

layout(constant_id = 3) const uint KIND = 0;

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 top;          // entries; where operations and ranges begin
    uvec2 keys;         // uint32 an operation
    uvec2 values;       // uint32 an operation, in and out
    uvec2 kinds;        // a byte an operation, if KIND is OP_MIXED
    uvec2 statuses;     // a byte an operation, out
    uvec2 pending;      // a counter of operations left pending
    uvec2 ranges;       // two words a range: the least and the greatest key
    uvec2 counts;       // a word a range, out: its pairs; ~0 where it was given up
    uvec2 out_keys;     // `width` words a range, out
    uvec2 out_values;
    uint count;         // operations
    uint range_count;   // ranges
    uint width;         // pairs of a range at most
    uint rounds;        // and in the upper 8 bits, those of the top
};

const uint ROUNDS_MASK = 0xffffffu;

BTreePlace start_of(uint key, bool enabled) {
    BTreePlace place = btree_anywhere();
    if (enabled && rounds > ROUNDS_MASK) place = btree_top(BTreeTop(top, rounds >> 24), key);
    return place;
}

void operations(uint i) {
    bool todo = i < count;
    uint kind = KIND;
    if (KIND == OP_MIXED) kind = todo ? byte_load(kinds, i) : OP_FIND;
    uint key = 0u, value = 0u;
    if (todo) key = plain_load_at(keys, i);
    if (todo && op_inserts(kind)) value = plain_load_at(values, i);
    SlabCursor cursor = slab_cursor();
    BTreePlace start = start_of(key, todo);
    BTreeHint hint = start.level == 0u ? BTreeHint(start.node, SLAB_NULL) : BTreeHint(SLAB_NULL, start.node);
    uint status = btree_apply(tree, cursor, kind, key, value, todo, rounds & ROUNDS_MASK, hint);
    uint left = subgroupBallotBitCount(subgroupBallot(status > STATUS_ORPHAN));
    status &= ~STATUS_ORPHAN;
    byte_store(statuses, i, count, status);
    if (todo && kind == OP_FIND) plain_store_at(values, i, status == STATUS_FOUND ? value : 0u);
    left += subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}

void walks(uint i) {
    bool todo = i < range_count;
    uvec2 range = uvec2(1u, 0u);
    if (todo) range = plain_load2(address_at(ranges, i, 3u));
    uint number;
    BTreePair first;
    uint status = btree_range(tree, start_of(range.x, todo), range.x, range.y, todo, out_keys, out_values, i * width, width, width,
                              rounds & ROUNDS_MASK, number, first);
    if (todo) plain_store_at(counts, i, status == STATUS_PENDING ? ~0u : number);
}

void main() {
    uint walk_groups = (range_count + WORKGROUP - 1u) / WORKGROUP, groups = (count + WORKGROUP - 1u) / WORKGROUP;
    // Every so many workgroups, one is of those that are fewer.
    uint few = min(walk_groups, groups), every = few == 0u ? ~0u : (walk_groups + groups) / few;
    uint group = workgroup_index(), nth = group / every;
    bool of_few = few != 0u && nth < few && group - nth * every == 0u;
    uint place = of_few ? nth : group - min(few, few == 0u ? 0u : nth + 1u);
    bool walking = of_few == (walk_groups <= groups);
    uint i = place * WORKGROUP + workgroup_lane();
    if (walking) walks(i);
    else operations(i);
}
