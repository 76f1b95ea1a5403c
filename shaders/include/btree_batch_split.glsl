// B-link-tree, batched updates: segments whose results are divided among several nodes, or are too long for one
// invocation to go through.
#ifndef VKDS_BTREE_BATCH_SPLIT_GLSL
#define VKDS_BTREE_BATCH_SPLIT_GLSL

#include "btree_batch_merge.glsl"
#include "btree_batch_nodes.glsl"

struct Record {
    uint node;
    uint count;   // pairs that result
    uint slots;   // of the node that stay
    uint begin, end;
};

// A record is at the place of its group's element number rank.
void record_store(Work w, uint group, uint rank, Record r) {
    uint begin = r.begin - group * BATCH_GROUP;
    work_store4(batch_records(w), group * BATCH_GROUP + rank, uvec4(r.node, r.end, r.count, r.slots | begin << 16));
}

Record record_load(Work w, uint group, uint rank) {
    uvec4 v = work_load4(batch_records(w), group * BATCH_GROUP + rank);
    return Record(v.x, v.z, v.w & 0xffffu, group * BATCH_GROUP + (v.w >> 16), v.y);
}

// The new nodes that a record's results take beside the one that is there; the root is none of its outputs.
uint record_new(Batch b, Record r) { return batch_nodes(b, r.count) - (r.node == BTREE_ROOT ? 0u : 1u); }

// Writes output j of a record, whose first new node has a number.
void split_write(BTree tree, Work w, Batch b, uvec2 free, Record r, uint j, uint number) {
    uvec2 node = slab_address(tree.pool, r.node);
    Merge m;
    [[unroll]] for (uint q = 0u; q < 7u; q++) {
        uvec4 v = plain_load4(address_add(node, q * 16u));
        m.node.pair[2u * q] = v.xy;
        m.node.pair[2u * q + 1u] = v.zw;
    }
    uvec4 fence = plain_load4(address_add(node, BTREE_META_AT));
    m.slots = r.slots;
    m.begin = r.begin;
    m.end = r.end;
    uint nodes = batch_nodes(b, r.count);
    uint base = work_load(batch_control(w, w.level, BATCH_TAKEN_AT), 0u);
    uint skipped = r.node == BTREE_ROOT ? 0u : 1u;   // outputs that are not new
    uint o = number + j - skipped;                   // among the level's outputs
    uint slab = r.node;
    if (j >= skipped) slab = batch_slab(tree.pool, free, base + o);
    uvec2 target = slab_address(tree.pool, slab);
    uint begin = batch_first(r.count, nodes, j), end = batch_first(r.count, nodes, j + 1u);
    uint low, next;
    bool more = merge_write(b, m, begin, end - begin, target, btree_vacancy(fence.z), low, next);
    if (j == 0u) low = fence.y;
    uint link = fence.w;
    if (more) link = batch_slab(tree.pool, free, base + o + 1u);
    plain_store4(address_add(target, BTREE_META_AT), uvec4(btree_meta(w.level, 0u), low, more ? next - 1u : fence.z, link));
    if (j >= skipped) {
        work_store(batch_lows(w, w.level), o, low);
        work_store(batch_children(w, w.level), o, slab);
    }
}

// The last of a group's count records before which there are not more new nodes than so many.
uint record_of(Work w, uint group, uint count, uint number) {
    uint low = 0u, high = count;
    while (high - low > 1u) {
        uint middle = low + ((high - low) >> 1);
        if (work_load(batch_offsets(w), group * BATCH_GROUP + middle) <= number) low = middle;
        else high = middle;
    }
    return low;
}

// The last group before which there are not more than so many new nodes (word 0) or records (word 1).
uint group_of(Work w, Batch b, uint word, uint number) {
    uint low = 0u, high = (b.count + BATCH_GROUP - 1u) / BATCH_GROUP;
    while (high - low > 1u) {
        uint middle = low + ((high - low) >> 1);
        if (work_load(batch_groups(w), 2u * middle + word) <= number) low = middle;
        else high = middle;
    }
    return low;
}

// Writes the level's new node number o. The nodes that are there stay as they are.
void split_new(BTree tree, Work w, Batch b, uvec2 free, uint o) {
    uint group = group_of(w, b, 0u, o);
    uvec2 here = work_load2(batch_groups(w), group), behind = work_load2(batch_groups(w), group + 1u);
    uint rank = record_of(w, group, behind.y - here.y, o - here.x);
    uint first = here.x + work_load(batch_offsets(w), group * BATCH_GROUP + rank);
    Record r = record_load(w, group, rank);
    split_write(tree, w, b, free, r, o - first + (r.node == BTREE_ROOT ? 0u : 1u), first);
}

// Writes the first output of the level's record number i, which is a node that is there, when all new ones are written.
void split_old(BTree tree, Work w, Batch b, uvec2 free, uint i) {
    uint group = group_of(w, b, 1u, i);
    uvec2 here = work_load2(batch_groups(w), group);
    Record r = record_load(w, group, i - here.y);
    if (r.node != BTREE_ROOT) split_write(tree, w, b, free, r, 0u, here.x + work_load(batch_offsets(w), group * BATCH_GROUP + i - here.y));
}

#endif
