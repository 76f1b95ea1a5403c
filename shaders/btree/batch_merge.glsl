// B-link-tree, batched updates: merges a node's pairs and a segment of a batch into one sequence in key order. Any part
// of the sequence can be written alone.
#ifndef VKDS_BTREE_BATCH_MERGE_GLSL
#define VKDS_BTREE_BATCH_MERGE_GLSL

#include "batch.glsl"
#if BATCH_LEAVES
#include "batch_marks.glsl"
#endif

#if !BATCH_LEAVES
uint marks_before(Batch b, uint i) { return i; }
uint marks_next(Batch b, uint i, uint end) { return i; }
#endif

const uint SLOT_NONE = ~0u;

// The slot of a leaf with a key, or SLOT_NONE.
uint leaf_slot(Node n, K key) {
    uint slot = SLOT_NONE;
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) slot = n.pair[s].VKDS_KEY == key ? s : slot;
    return slot;
}

// The mask of a node's slots in use.
uint node_slots(Node n, K high) {
    uint slots = 0u;
#if BATCH_LEAVES
    K empty_key = btree_empty_key(high);
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) slots |= n.pair[s].VKDS_KEY != empty_key ? 1u << s : 0u;
#else
    slots = 1u;
    [[unroll]] for (uint s = 1u; s < BTREE_SLOTS; s++)
        slots |= n.pair[s].VKDS_KEY != n.pair[s - 1u].VKDS_KEY ? 1u << s : 0u;
#endif
    return slots;
}

// The number of these slots with a key below the given one.
uint slots_below(Node n, uint slots, K key) {
    uint below = 0u;
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++)
        below += VKDS_BELOW(n.pair[s].VKDS_KEY, key) ? slots >> s & 1u : 0u;
    return below;
}

// The one of these slots with the least key. There must be at least one.
uint slots_least(Node n, uint slots, out P pair) {
    uint slot = 0u;
    pair = P(K(~0u), V(0u));
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        bool less = (slots >> s & 1u) != 0u && VKDS_UP_TO(n.pair[s].VKDS_KEY, pair.VKDS_KEY);
        pair = less ? n.pair[s] : pair;
        slot = less ? s : slot;
    }
    return slot;
}

// A node and its segment. `slots` are the node's slots whose keys are not in the segment.
struct Merge {
    Node node;
    uint slots;
    uint begin, end;   // of the segment
};

// Writes the pairs first … first+length-1 of the sequence into a node; length is at most BTREE_SLOTS. Returns whether
// there is a pair after them, and in `next` its key. `low` is the key of the first pair.
bool merge_write(Batch b, Merge m, uint first, uint length, uvec2 target, K empty_key, out K low, out K next) {
    // Where that part begins in the segment: at the first position whose key has at least `first` pairs below it.
    uint begun = marks_before(b, m.begin);
    uint at = m.begin, high = m.end;
    if (first == 0u) high = at;
    while (at < high) {
        uint middle = at + ((high - at) >> 1);
        uint below = marks_before(b, middle) - begun + slots_below(m.node, m.slots, batch_key(b, middle));
        if (below < first) at = middle + 1u;
        else high = middle;
    }
    uint passed = first - (marks_before(b, at) - begun);   // the number of slots whose pairs come before
    uint slots = m.slots;
    P pair;
    [[dont_unroll]] for (uint i = 0u; i < min(passed, BTREE_SLOTS); i++)
        slots &= ~(1u << slots_least(m.node, slots, pair));

    at = marks_next(b, at, m.end);
    K key = K(0u);
    if (at < m.end) key = batch_key(b, at);
    P held = P(0u);
    bool more = false;
    low = next = K(0u);
    P last = P(empty_key, V(0u));
    [[dont_unroll]] for (uint i = 0u; i <= BTREE_SLOTS; i++) {
        uint slot = slots_least(m.node, slots, pair);
        bool old = slots != 0u && (at >= m.end || VKDS_BELOW(pair.VKDS_KEY, key));
        bool any = slots != 0u || at < m.end;
        bool writes = i < length;
        if (any && !old) pair.VKDS_KEY = key;
        if (i == 0u) low = pair.VKDS_KEY;
        if (i == length) {
            more = any;
            next = pair.VKDS_KEY;
        }
        if (writes && old) slots &= ~(1u << slot);
        if (writes && !old) {
#if BATCH_LEAVES
            Landing l = batch_landing(b, at);
            pair.VKDS_VALUE = l.value;
            if (l.keeps) {
                [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++)
                    pair.VKDS_VALUE = m.node.pair[s].VKDS_KEY == key ? m.node.pair[s].VKDS_VALUE : pair.VKDS_VALUE;
            }
#else
            pair.VKDS_VALUE = VKDS_VALUE_OF(work_load(b.payload, at));
#endif
            at = marks_next(b, at + 1u, m.end);
            if (at < m.end) key = batch_key(b, at);
        }
        if (!writes) pair = last;
#if !BATCH_LEAVES
        last = pair;
#endif
#if VKDS_WIDE
        if (i < BTREE_SLOTS) plain_store4(btree_slot(target, i), pair);
#else
        if ((i & 1u) == 0u) held = pair;
        else plain_store4(address_add(target, (i - 1u) * 8u), uvec4(held, pair));
#endif
    }
    return more;
}

#endif
