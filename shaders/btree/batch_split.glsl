// B-link-tree, batched updates: divides the results of records among nodes.
#ifndef VKDS_BTREE_BATCH_SPLIT_GLSL
#define VKDS_BTREE_BATCH_SPLIT_GLSL

#include "batch_merge.glsl"
#include "batch_nodes.glsl"
#include "batch_record.glsl"
#if defined(VKDS_VERSIONS) && BATCH_LEAVES
#include "btree_version.glsl"
#endif

// Writes output j of a record. `number` is that of the record's first new node.
void split_write(BTree tree, Work w, Batch b, uvec2 free, Record r, uint j, uint number) {
    uvec2 from = record_long(r) ? batch_former(w, r.begin) : slab_address(tree.pool, r.node);
    Merge m;
    [[unroll]] for (uint q = 0u; q < BTREE_SLOTS / VKDS_QUAD_SLOTS; q++) {
        uvec4 v = work_load4(from, q);
        VKDS_NODE_PUT(m.node, q, v);
    }
#if VKDS_WIDE
    NodeHeader header = btree_header_of(work_load4(from, 6u), work_load4(from, 7u));
#else
    uvec4 header = work_load4(from, 7u);
#endif
    m.slots = r.slots;
    m.begin = r.begin;
    m.end = r.end;
    uint nodes = batch_nodes(b, r.count);
    uint base = work_load(batch_control(w, w.level, BATCH_TAKEN_AT), 0u);
    uint skipped = r.node == tree.root ? 0u : 1u;   // the number of outputs that are not new
    uint o = number + j - skipped;                   // the number among the level's new nodes
    uint slab = r.node;
    if (j >= skipped) slab = batch_slab(tree.pool, free, base + o);
    uvec2 target = slab_address(tree.pool, slab);
    uint begin = batch_first(r.count, nodes, j), end = batch_first(r.count, nodes, j + 1u);
    K low, next;
    bool more = merge_write(b, m, begin, end - begin, target, btree_empty_key(header.VKDS_HIGH), low, next);
    if (j == 0u) low = header.VKDS_LOW;
    uint link = header.VKDS_LINK;
    if (more) link = batch_slab(tree.pool, free, base + o + 1u);
    VKDS_HEADER_STORE(plain_store4, target, btree_meta(w.level, 0u), low,
                      more ? VKDS_BEFORE(next) : header.VKDS_HIGH, link);
#if defined(VKDS_VERSIONS) && BATCH_LEAVES
    if (j >= skipped) btree_inherit(tree, r.node, slab);
#endif
    if (j >= skipped) {
        uint at = min(o, w.capacity - 1u);
        work_store_key(batch_lows(w, w.level), at, low);
        work_store(batch_children(w, w.level), at, slab);
    }
}

// Writes the outputs of a record that one invocation writes. Of a long segment that is the first one. Otherwise it is
// all, and the old node comes last, because the others are made from it.
void split_record(BTree tree, Work w, Batch b, uvec2 free, Record r, uint number) {
    uint first = r.node == tree.root && record_long(r) ? 1u : 0u;   // no output of the root is an old node
    uint nodes = record_long(r) ? 1u : batch_nodes(b, r.count);
    [[dont_unroll]] for (uint j = nodes; j > first; j--) split_write(tree, w, b, free, r, j - 1u, number);
}

// The last of the group's `count` records with at most `number` new nodes before it.
uint record_of(Work w, uint group, uint count, uint number) {
    uint low = 0u, high = count;
    while (high - low > 1u) {
        uint middle = low + ((high - low) >> 1);
        if (work_load(batch_offsets(w), group * w.group + middle) <= number) low = middle;
        else high = middle;
    }
    return low;
}

// The last group with at most `number` new nodes (word 0) or records (word 1) before it.
uint group_of(Work w, Batch b, uint word, uint number) {
    uint low = 0u, high = (b.count + w.group - 1u) / w.group;
    while (high - low > 1u) {
        uint middle = low + ((high - low) >> 1);
        if (work_load(batch_groups(w), 2u * middle + word) <= number) low = middle;
        else high = middle;
    }
    return low;
}

// Record i of the level, and the number of its first new node.
Record split_take(Work w, Batch b, uint i, out uint number) {
    uint group = group_of(w, b, 1u, i);
    uvec2 here = work_load2(batch_groups(w), group);
    uint rank = min(i - here.y, w.group - 1u);
    number = here.x + work_load(batch_offsets(w), group * w.group + rank);
    return record_load(w, b, group, rank);
}

// Writes new node o of the level, if it is of a long segment.
void split_long(BTree tree, Work w, Batch b, uvec2 free, uint o) {
    uint group = group_of(w, b, 0u, o);
    uvec2 here = work_load2(batch_groups(w), group), behind = work_load2(batch_groups(w), group + 1u);
    uint rank = record_of(w, group, min(behind.y - here.y, w.group), o - here.x);
    uint first = here.x + work_load(batch_offsets(w), group * w.group + rank);
    Record r = record_load(w, b, group, rank);
    if (record_long(r)) split_write(tree, w, b, free, r, o - first + (r.node == tree.root ? 0u : 1u), first);
}

#endif
