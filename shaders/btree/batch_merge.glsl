// B-link-tree, batched updates: a node's pairs and a segment of a batch, as one sequence in key order, of which any
// part can be written by itself.
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

// The slot of a leaf that has a key; SLOT_NONE if none has.
uint leaf_slot(Node n, uint key) {
    uint slot = SLOT_NONE;
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) slot = n.pair[s].x == key ? s : slot;
    return slot;
}

// The slots of a node that are in use, a bit each.
uint node_slots(Node n, uint high) {
    uint slots = 0u;
#if BATCH_LEAVES
    uint empty_key = btree_empty_key(high);
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) slots |= n.pair[s].x != empty_key ? 1u << s : 0u;
#else
    slots = 1u;
    [[unroll]] for (uint s = 1u; s < BTREE_SLOTS; s++) slots |= n.pair[s].x != n.pair[s - 1u].x ? 1u << s : 0u;
#endif
    return slots;
}

// How many of these slots have a key below one.
uint slots_below(Node n, uint slots, uint key) {
    uint below = 0u;
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) below += n.pair[s].x < key ? slots >> s & 1u : 0u;
    return below;
}

// The one of these slots, at least one, that has the least key.
uint slots_least(Node n, uint slots, out uvec2 pair) {
    uint slot = 0u;
    pair = uvec2(~0u, 0u);
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        bool less = (slots >> s & 1u) != 0u && n.pair[s].x <= pair.x;
        pair = less ? n.pair[s] : pair;
        slot = less ? s : slot;
    }
    return slot;
}

// A segment and the node that it goes to. Its slots are those whose keys the segment doesn't bring too.
struct Merge {
    Node node;
    uint slots;
    uint begin, end;   // of the segment
};

// Writes the pairs first … first+length-1 of the sequence into a node, up to as many as it has slots. Returns whether
// there is one behind them; next is its key then, and low the first one's key.
bool merge_write(Batch b, Merge m, uint first, uint length, uvec2 target, uint empty_key, out uint low, out uint next) {
    // Where in the segment that part begins: at the first position whose key has enough pairs below it.
    uint begun = marks_before(b, m.begin);
    uint at = m.begin, high = m.end;
    if (first == 0u) high = at;
    while (at < high) {
        uint middle = at + ((high - at) >> 1);
        uint below = marks_before(b, middle) - begun + slots_below(m.node, m.slots, batch_key(b, middle));
        if (below < first) at = middle + 1u;
        else high = middle;
    }
    uint passed = first - (marks_before(b, at) - begun);   // slots whose pairs come before
    uint slots = m.slots;
    uvec2 pair;
    [[dont_unroll]] for (uint i = 0u; i < min(passed, BTREE_SLOTS); i++)
        slots &= ~(1u << slots_least(m.node, slots, pair));

    at = marks_next(b, at, m.end);
    uint key = 0u;
    if (at < m.end) key = batch_key(b, at);
    uvec2 held = uvec2(0u);
    bool more = false;
    low = next = 0u;
    uvec2 last = uvec2(empty_key, 0u);
    [[dont_unroll]] for (uint i = 0u; i <= BTREE_SLOTS; i++) {
        uint slot = slots_least(m.node, slots, pair);
        bool old = slots != 0u && (at >= m.end || pair.x < key);
        bool any = slots != 0u || at < m.end;
        bool writes = i < length;
        if (any && !old) pair.x = key;
        if (i == 0u) low = pair.x;
        if (i == length) {
            more = any;
            next = pair.x;
        }
        if (writes && old) slots &= ~(1u << slot);
        if (writes && !old) {
#if BATCH_LEAVES
            Landing l = batch_landing(b, at);
            pair.y = l.value;
            if (l.keeps) {
                [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++)
                    pair.y = m.node.pair[s].x == key ? m.node.pair[s].y : pair.y;
            }
#else
            pair.y = work_load(b.payload, at);
#endif
            at = marks_next(b, at + 1u, m.end);
            if (at < m.end) key = batch_key(b, at);
        }
        if (!writes) pair = last;
#if !BATCH_LEAVES
        last = pair;
#endif
        if ((i & 1u) == 0u) held = pair;
        else plain_store4(address_add(target, (i - 1u) * 8u), uvec4(held, pair));
    }
    return more;
}

#endif
