// B-link-tree, batched updates: the segments of the leaves. An invocation does each segment: in place if the result
// fits into the leaf, otherwise it writes a record.
#ifndef VKDS_BTREE_BATCH_LEAVES_GLSL
#define VKDS_BTREE_BATCH_LEAVES_GLSL

#include "batch_record.glsl"
#include "batch_marks.glsl"
#include "search.glsl"

shared uint group_leaf[WORKGROUP];   // the leaf of each of the group's positions

// A leaf that the batch changes.
struct Leaf {
    uint slab;
    uvec2 node;             // its address
    K key[BTREE_SLOTS];
    uint slots;             // the mask of the slots in use
    K empty_key;
};

// The mask of the slots with a key: at most one.
uint leaf_with(Leaf l, K key) {
    uint slots = 0u;
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) slots |= l.key[s] == key ? 1u << s : 0u;
    return slots & l.slots;
}

// The end of the segment of `leaf`, which has the position before `from`.
uint segment_end(Batch b, uvec2 leaves, uint from, uint leaf) {
    uint low = from, step = 1u;
    bool within = true;
    while (within) {
        within = low < b.count;
        if (within) within = plain_load_near(leaves, low) == leaf;
        if (within) {
            low += step;   // no overflow: a batch has up to 2^22 operations
            step *= 2u;
        }
    }
    // The end is after the last place tried that was within, and at most here.
    uint end = min(low, b.count);
    low = step == 1u ? low : low - step / 2u + 1u;
    while (low < end) {
        uint middle = low + ((end - low) >> 1);
        if (plain_load_near(leaves, middle) == leaf) low = middle + 1u;
        else end = middle;
    }
    return end;
}

// The mask of the slots whose keys are not in the segment.
uint slots_staying(Batch b, Leaf l, uint begin, uint end) {
    uint slots = l.slots;
    K first = batch_key(b, begin), last = batch_key(b, end - 1u);
    [[dont_unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        K key = K(0u);
        [[unroll]] for (uint t = 0u; t < BTREE_SLOTS; t++) key = s == t ? l.key[t] : key;
        bool may = (slots >> s & 1u) != 0u && VKDS_FROM(key, first) && VKDS_UP_TO(key, last);
        if (may) {
            uint at = lower_bound(b.keys, begin, end, key);
            if (at < end && batch_key(b, at) == key) slots &= ~(1u << s);
        }
    }
    return slots;
}

// The same for a short segment, and the number of resulting pairs.
uint slots_staying_short(Batch b, Leaf l, uint begin, uint end, out uint count) {
    uint slots = l.slots;
    count = 0u;
    K key = batch_key(b, begin);
    [[dont_unroll]] for (uint i = begin; i < end; i++) {
        K next = ~key;
        if (i + 1u < end) next = batch_key(b, i + 1u);
        if (next != key) {
            slots &= ~leaf_with(l, key);
            count += marks_lands(b, i) ? 1u : 0u;
        }
        key = next;
    }
    count += uint(bitCount(slots));
    return slots;
}

// Does the operations of a segment in its leaf, which must have enough free slots. Returns whether the leaf is then
// empty.
bool leaf_apply(Batch b, Leaf l, uint begin, uint end) {
    uint slots = l.slots;
    K key = batch_key(b, begin);
    [[dont_unroll]] for (uint i = begin; i < end; i++) {
        K next = ~key;
        if (i + 1u < end) next = batch_key(b, i + 1u);
        if (next != key) {
            uint slot = leaf_with(l, key);   // no earlier operation has filled this slot
            bool there = slot != 0u;
            if (!there) slot = ~slots & (slots + 1u);
            uvec2 at = btree_slot(l.node, uint(findLSB(slot)));
            if (marks_lands(b, i)) {
                Landing landing = batch_landing(b, i);
                if (!there) VKDS_SLOT_STORE(at, P(key, landing.value));
                else if (!landing.keeps) VKDS_STORE(address_add(at, VKDS_SLOT_BYTES / 2u), landing.value);
                slots |= slot;
            } else if (there) {
                VKDS_SLOT_STORE(at, P(l.empty_key, V(0u)));
                slots &= ~slot;
            }
        }
        key = next;
    }
    return slots == 0u;
}

// Does a segment in its leaf, if the result fits. Otherwise returns true, with the record to write.
bool segment_apply(Batch b, Leaf l, uint begin, uint end, out Record r, out bool emptied) {
    uint have = uint(bitCount(l.slots)), length = end - begin;
    bool fits = length <= BATCH_WALK && (b.kind == OP_DELETE || have + length <= BTREE_SLOTS);
    r = Record(l.slab, 0u, l.slots, begin, end);
    emptied = false;
    if (!fits) {
        if (length <= BATCH_WALK) {
            r.slots = slots_staying_short(b, l, begin, end, r.count);
        } else {
            r.slots = slots_staying(b, l, begin, end);
            r.count = uint(bitCount(r.slots)) + marks_before(b, end) - marks_before(b, begin);
        }
        // A mixed batch might need a free slot before it frees one.
        fits = length <= BATCH_WALK && b.kind != OP_MIXED && r.count <= BTREE_SLOTS;
        emptied = !fits && r.count == 0u;
    }
    if (fits) emptied = leaf_apply(b, l, begin, end);
    return !fits;
}

// m has words of two pairs for each of the tile's nodes. Transposes them, as a matrix of 4 by 4, so that each lane gets
// the words of its own node.
void turn_over(inout uvec2 m[4]) {
    uint lane = tile_lane();
    [[unroll]] for (uint step = 2u; step != 0u; step >>= 1) {
        bool upper = (lane & step) != 0u;
        [[unroll]] for (uint k = 0u; k < 4u; k++) {
            if ((k & step) == 0u) {
                uvec2 other = subgroupShuffleXor(upper ? m[k] : m[k + step], step);
                m[k] = upper ? other : m[k];
                m[k + step] = upper ? m[k + step] : other;
            }
        }
    }
}

// The keys of all pairs of a node; those of the header are the meta and the high. With TILE 4, four lanes read their
// four nodes together, one after another, because a lane that reads a node alone takes three times as long. Collective.
void load_firsts(SlabPool pool, uint slab, out K first[NODE_PAIRS]) {
    if (TILE == 4u) {
        uvec2 lower[4], upper[4];
        [[unroll]] for (uint k = 0u; k < 4u; k++) {
            uvec2 node = slab_address(pool, tile_shuffle(slab, k));
            lower[k] = plain_load4(address_add(node, tile_lane() * 16u)).VKDS_QUAD_KEYS;
            upper[k] = plain_load4(address_add(node, tile_lane() * 16u + 64u)).VKDS_QUAD_KEYS;
        }
        turn_over(lower);
        turn_over(upper);
        [[unroll]] for (uint k = 0u; k < 4u; k++) {
#if VKDS_WIDE
            first[k] = lower[k];
            first[k + 4u] = upper[k];
#else
            first[2u * k] = lower[k].x;
            first[2u * k + 1u] = lower[k].y;
            first[2u * k + 8u] = upper[k].x;
            first[2u * k + 9u] = upper[k].y;
#endif
        }
    } else {
        uvec2 node = slab_address(pool, slab);
        [[unroll]] for (uint q = 0u; q < 8u; q++) {
            uvec4 v = plain_load4(address_add(node, q * 16u));
#if VKDS_WIDE
            first[q] = v.VKDS_KEY;
#else
            first[2u * q] = v.x;
            first[2u * q + 1u] = v.z;
#endif
        }
    }
}

// Does this workgroup's group of the batch, whose leaves are known. `emptied` tells whether the leaf of the segment
// that begins at this lane's position is now empty. Collective over the workgroup.
void group_apply(BTree tree, Work w, Batch b, uvec2 leaves, uint group, out bool emptied) {
    uint lane = workgroup_lane(), i = group * BATCH_GROUP + lane;
    uint leaf = SLAB_NULL, before = SLAB_NULL;
    if (i < b.count) leaf = plain_load_near(leaves, i);
    if (i < b.count && i != 0u) before = plain_load_near(leaves, i - 1u);
    bool first = leaf != SLAB_NULL && leaf != before;
    group_leaf[lane] = leaf;
    barrier();
    K words[NODE_PAIRS];
    load_firsts(tree.pool, first ? leaf : 0u, words);   // every pool has slab 0
    emptied = false;
    Record r = Record(0u, 0u, 0u, 0u, 0u);
    bool records = false;
    if (first) {
        uint end = lane + 1u;
        while (end < BATCH_GROUP && group_leaf[min(end, BATCH_GROUP - 1u)] == leaf) end++;
        end += group * BATCH_GROUP;
        if (end == (group + 1u) * BATCH_GROUP) end = segment_end(b, leaves, end, leaf);
        Leaf l;
        l.slab = leaf;
        l.node = slab_address(tree.pool, leaf);
        l.empty_key = btree_empty_key(words[NODE_PAIRS - 1u]);
        l.slots = 0u;
        [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
            l.key[s] = words[s];
            l.slots |= words[s] != l.empty_key ? 1u << s : 0u;
        }
        records = segment_apply(b, l, i, end, r, emptied);
        if (records && record_long(r)) {
            uvec2 former = batch_former(w, i);
            [[dont_unroll]] for (uint q = 0u; q < 8u; q++)
                plain_store4(address_add(former, q * 16u), plain_load4(address_add(l.node, q * 16u)));
        }
        // The last leaf, whose range is only the key ~0, stays.
        emptied = emptied && words[NODE_PAIRS - 1u] != K(~0u);
    }
    group_record(tree, w, b, group, records, r);
}

#endif
