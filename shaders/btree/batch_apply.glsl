// B-link-tree, batched updates: the segments of an inner level. The invocation with a segment's first element does it:
// in place if the result fits into the node, otherwise it writes a record.
#ifndef VKDS_BTREE_BATCH_APPLY_GLSL
#define VKDS_BTREE_BATCH_APPLY_GLSL

#include "batch_split.glsl"

// The end of the segment that begins at i, whose keys are at most `high`.
uint segment_end(Batch b, uint i, K high) {
    uint low = i + 1u, step = 1u;
    bool within = true;
    while (within) {
        within = low < b.count;
        if (within) within = VKDS_UP_TO(batch_key(b, low), high);
        if (within) {
            low += min(step, b.count - low);
            step *= 2u;
        }
    }
    // The end is after the last place tried that was within, and at most here.
    uint end = min(low, b.count);
    low = low - step / 2u + (step == 1u ? 0u : 1u);
    while (low < end) {
        uint middle = low + ((end - low) >> 1);
        if (VKDS_UP_TO(batch_key(b, middle), high)) low = middle + 1u;
        else end = middle;
    }
    return end;
}

// Inserts the children of a segment into an inner node with `have` children. They must fit.
void node_insert(Batch b, inout Node n, uint have, uint begin, uint end) {
    [[dont_unroll]] for (uint i = begin; i < end; i++) {
        P child = VKDS_BRANCH(batch_key(b, i), work_load(b.payload, i));
        uint at = 0u;
        [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++)
            at += s < have && VKDS_BELOW(n.pair[s].VKDS_KEY, child.VKDS_KEY) ? 1u : 0u;
        [[unroll]] for (uint s = BTREE_SLOTS - 1u; s != 0u; s--)
            n.pair[s] = s > at ? n.pair[s - 1u] : s == at ? child : n.pair[s];
        n.pair[0] = at == 0u ? child : n.pair[0];
        have++;
    }
    [[unroll]] for (uint s = 1u; s < BTREE_SLOTS; s++) n.pair[s] = s < have ? n.pair[s] : n.pair[s - 1u];
}

// Does a segment in its node, if the result fits. Otherwise returns true, with the record to write.
bool segment_apply(BTree tree, Work w, Batch b, uint i, uint slab, NodeHeader header, bool root_empty, out Record r) {
    uvec2 node = slab_address(tree.pool, slab);
    Node n;
    [[unroll]] for (uint q = 0u; q < BTREE_SLOTS / VKDS_QUAD_SLOTS; q++) {
        uvec4 v = plain_load4(address_add(node, q * 16u));
        VKDS_NODE_PUT(n, q, v);
    }
    uint end = segment_end(b, i, header.high);
    uint slots = root_empty ? 0u : node_slots(n, header.high);
    r = Record(slab, uint(bitCount(slots)) + (end - i), slots, i, end);
    bool fits = r.count <= BTREE_SLOTS;
    if (fits) {
        node_insert(b, n, uint(bitCount(slots)), i, end);
        [[unroll]] for (uint q = 0u; q < BTREE_SLOTS / VKDS_QUAD_SLOTS; q++)
            plain_store4(address_add(node, q * 16u), VKDS_NODE_QUAD(n, q));
        if (root_empty) {
            VKDS_HEADER_STORE(plain_store4, node, btree_meta(w.level, 0u), K(0u), K(~0u), SLAB_NULL);
        }
    } else if (record_long(r)) {
        uvec2 former = batch_former(w, i);
        [[unroll]] for (uint q = 0u; q < BTREE_SLOTS / VKDS_QUAD_SLOTS; q++) {
            work_store4(former, q, VKDS_NODE_QUAD(n, q));
        }
#if VKDS_WIDE
        work_store4(former, 6u, VKDS_LOWER(header.meta, header.low));
        work_store4(former, 7u, VKDS_UPPER(header.high, header.link));
#else
        work_store4(former, 7u, uvec4(header.meta, header.low, header.high, header.link));
#endif
    }
    return !fits;
}

// Does this workgroup's group of the level's elements; lane i has its element i. Collective over the workgroup.
void group_apply(BTree tree, Work w, Batch b, uint group) {
    uint i = group * w.group + workgroup_lane();
    bool enabled = i < b.count;
    K key = K(0u), before = K(0u);
    if (enabled) key = batch_key(b, i);
    if (enabled && i != 0u) before = batch_key(b, i - 1u);
    bool root_empty = work_load(batch_control(w, w.level - 1u, BATCH_ROOT_AT), 0u) != 0u;
    NodeHeader header = NodeHeader(0u, K(0u), K(~0u), SLAB_NULL);
    uint slab = tree.root;
    if (enabled && !root_empty) slab = batch_find(tree, w, w.level, key, true, header);
    bool first = enabled && slab != SLAB_NULL && (i == 0u || VKDS_BELOW(before, header.low));
    Record r = Record(0u, 0u, 0u, 0u, 0u);
    bool records = false;
    if (first) records = segment_apply(tree, w, b, i, slab, header, root_empty, r);
    group_record(tree, w, b, group, records, r);
}

#endif
