// B-link-tree, batched updates: a level's segments, each by the invocation that has its first element. What fits into
// the node is done in place, the rest is written down.
#ifndef VKDS_BTREE_BATCH_APPLY_GLSL
#define VKDS_BTREE_BATCH_APPLY_GLSL

#include "btree_batch_split.glsl"
#include "search.glsl"
#include "workgroup_sum.glsl"

const uint BATCH_WALK = 32u;   // operations that one invocation goes through

// The end of the segment that begins at i, of keys up to high.
uint segment_end(Batch b, uint i, uint high) {
    uint low = i + 1u, step = 1u;
    bool within = true;
    while (within) {
        within = low < b.count;
        if (within) within = batch_key(b, low) <= high;
        if (within) {
            low += step;
            step *= 2u;
        }
    }
    // Between the last place tried that was within and this one.
    uint end = min(low, b.count);
    low = low - step / 2u + (step == 1u ? 0u : 1u);
    while (low < end) {
        uint middle = low + ((end - low) >> 1);
        if (batch_key(b, middle) <= high) low = middle + 1u;
        else end = middle;
    }
    return end;
}

#if BATCH_LEAVES
// The slots of a leaf whose keys the segment doesn't bring.
uint slots_staying(Batch b, Node n, uint slots, uint begin, uint end) {
    uint first = batch_key(b, begin), last = batch_key(b, end - 1u);
    [[dont_unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        uint key = 0u;
        [[unroll]] for (uint t = 0u; t < BTREE_SLOTS; t++) key = s == t ? n.pair[t].x : key;
        bool may = (slots >> s & 1u) != 0u && key >= first && key <= last;
        if (may) {
            uint at = lower_bound(b.keys, begin, end, key);
            if (at < end && batch_key(b, at) == key) slots &= ~(1u << s);
        }
    }
    return slots;
}

// Does the operations of a segment in its leaf, where free slots suffice. Returns whether the leaf is empty then.
bool leaf_apply(Batch b, uvec2 node, Node n, uint slots, uint vacancy, uint begin, uint end) {
    uint key = batch_key(b, begin);
    [[dont_unroll]] for (uint i = begin; i < end; i++) {
        uint next = ~key;
        if (i + 1u < end) next = batch_key(b, i + 1u);
        if (next != key) {
            uint slot = leaf_slot(n, key);
            if (marks_lands(b, i)) {
                Landing l = batch_landing(b, i);
                if (slot == SLOT_NONE) {
                    slot = uint(findLSB(~slots));
                    plain_store2(btree_slot(node, slot), uvec2(key, l.value));
                } else if (!l.keeps) {
                    plain_store(address_add(btree_slot(node, slot), 4u), l.value);
                }
                slots |= 1u << slot;
            } else if (slot != SLOT_NONE) {
                plain_store2(btree_slot(node, slot), uvec2(vacancy, 0u));
                slots &= ~(1u << slot);
            }
        }
        key = next;
    }
    return slots == 0u;
}
#endif

// Does what a segment brings to its node, or says what there is to write down of it. Returns whether there is.
bool segment_apply(BTree tree, Work w, Batch b, uint i, uint slab, Fence fence, bool root_empty, out Record r, out bool emptied) {
    uvec2 node = slab_address(tree.pool, slab);
    Node n;
    [[unroll]] for (uint q = 0u; q < 7u; q++) {
        uvec4 v = plain_load4(address_add(node, q * 16u));
        n.pair[2u * q] = v.xy;
        n.pair[2u * q + 1u] = v.zw;
    }
    uint end = segment_end(b, i, fence.high);
    uint slots = node_slots(n, fence.high);
    uint have = uint(bitCount(slots));
    emptied = false;
#if BATCH_LEAVES
    bool fits = end - i <= BATCH_WALK && (b.kind == OP_DELETE || have + (end - i) <= BTREE_SLOTS);
    r = Record(slab, 0u, slots, i, end);
    if (!fits) {
        r.slots = slots_staying(b, n, slots, i, end);
        r.count = uint(bitCount(r.slots)) + marks_before(b, end) - marks_before(b, i);
        // In place, a mixed batch might need a slot before it frees one.
        fits = end - i <= BATCH_WALK && b.kind != OP_MIXED && r.count <= BTREE_SLOTS;
        emptied = !fits && r.count == 0u;
    }
    if (fits) emptied = leaf_apply(b, node, n, slots, btree_vacancy(fence.high), i, end);
    emptied = emptied && fence.low != ~0u;
#else
    if (root_empty) slots = have = 0u;
    r = Record(slab, have + (end - i), slots, i, end);
    bool fits = r.count <= BTREE_SLOTS;
    if (fits) {
        Merge m = Merge(n, slots, i, end);
        uint low, next;
        merge_write(b, m, 0u, r.count, node, 0u, low, next);
        if (root_empty) plain_store4(address_add(node, BTREE_META_AT), uvec4(btree_meta(w.level, 0u), 0u, ~0u, SLAB_NULL));
    }
#endif
    return !fits;
}

// Does this workgroup's group of the level's elements; lane i has element i of it. known: the node where the element
// goes, or SLAB_NULL: not known. emptied says that its leaf has no pairs left. Collective over the workgroup.
void group_apply(BTree tree, Work w, Batch b, uint group, uint known, out bool emptied) {
    uint i = group * BATCH_GROUP + workgroup_lane();
    bool enabled = i < b.count;
    uint key = 0u, before = 0u;
    if (enabled) key = batch_key(b, i);
    if (enabled && i != 0u) before = batch_key(b, i - 1u);
    bool root_empty = false;
#if BATCH_LEAVES
    enabled = enabled && (i == 0u || before != key);
#else
    root_empty = work_load(batch_control(w, w.level - 1u, BATCH_ROOT_AT), 0u) != 0u;
#endif
    Fence fence = Fence(0u, 0u, ~0u, SLAB_NULL);
    uint slab = known;
    if (known != SLAB_NULL && enabled) {
        uvec4 f = plain_load4(address_add(slab_address(tree.pool, known), BTREE_META_AT));
        fence = Fence(f.x, f.y, f.z, f.w);
    }
    if (known == SLAB_NULL && enabled) {
        slab = BTREE_ROOT;
        if (!root_empty) slab = batch_find(tree, w, w.level, key, true, fence);
    }
    bool first = enabled && slab != SLAB_NULL && (i == 0u || before < fence.low);
    Record r = Record(0u, 0u, 0u, 0u, 0u);
    emptied = false;
    bool records = false;
    if (first) records = segment_apply(tree, w, b, i, slab, fence, root_empty, r, emptied);
    uint made = 0u;
    if (records) {
        made = record_new(b, r);
        if (r.node == BTREE_ROOT) work_store(batch_control(w, w.level, BATCH_ROOT_AT), 0u, 1u);
    }

    barrier();   // has all lanes of a subgroup together again, for what follows
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
            work_store(batch_offsets(w), group * BATCH_GROUP + rank, offset);
        }
    }
    if (workgroup_lane() == 0u) work_store2(batch_groups(w), group, total);
}

#endif
