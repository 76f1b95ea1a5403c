// What is done to a node of a B-link-tree under its latch: splits, the cleaning of leaves, and separators that come
// into inner nodes (Awad et al. 2019, sections 3.3 to 3.5; Lehman and Yao's order of a split).
//
// An operation holds one latch at a time, and nobody waits for one: who finds it taken comes back later. A split that
// is done goes on as the insertion of a separator one level up, after its latch was released.
//
// A split writes the new node, publishes it by the old one's high and link, and only then changes the old node's
// slots. In an inner node any mixture of old and new slots leads to the right child or to one left of it, and from
// there side links lead on.
#ifndef VKDS_BTREE_LATCH_GLSL
#define VKDS_BTREE_LATCH_GLSL

#include "operation.glsl"
#include "results.glsl"
#include "btree_leaf.glsl"

// Loops over slots are unrolled, which keeps them in registers. Compilers of CPU devices take minutes for what that
// gives: there, define VKDS_ROLLED.
#ifdef VKDS_ROLLED
#define VKDS_OVER_SLOTS [[dont_unroll]]
#else
#define VKDS_OVER_SLOTS [[unroll]]
#endif

// A leaf without an empty slot is cleaned of its erased ones if it has no more pairs than this, else it is split.
const uint LEAF_CLEAN_PAIRS = 10u;

// Of the 15 children of an inner node that splits so many stay.
const uint INNER_KEEPS = 8u;

// What became of an operation that had a node's latch.
const uint LATCHED_ELSEWHERE = 0u;   // the node is not, or no longer, the one for the key: look again
const uint LATCHED_IN_TIME = 1u;     // a leaf needs no latch for it by now: look again
const uint LATCHED_NO_SLAB = 2u;     // the pool had no slab for a split
const uint LATCHED_DONE = 3u;
const uint LATCHED_SPLIT = 4u;       // done, and the new node's separator is to be inserted one level up

// Everything here is one lane's own: each lane changes a node of its own, all of them at the same time.

// Tries to take a node's latch.
bool node_latch(uvec2 node) { return (atomic_or(address_add(node, BTREE_META_AT), 1u) & 1u) == 0u; }

// The version after another one: never 0 again.
uint node_next_version(uint meta) {
    uint version = (btree_version(meta) + 1u) & 0x7ffffffu;
    return version == 0u ? 1u : version;
}

// What an operation brings to a node that it has latched.
struct LatchedTask {
    uint kind;     // of the operation, where the node is a leaf
    uint key;      // its key, or a separator
    uint value;    // its value, or the separator's child
    uint node;
    uint fresh;    // slabs for new nodes, or SLAB_NULL; the second one for the root only
    uint fresh2;
};

struct LatchedOutcome {
    uint what;        // LATCHED_…
    uint status;      // of an operation on a leaf
    uint separator;   // of the new node
    uint meta;        // the node's, unlatched
};

struct Slots {
    uvec2 pair[14];
};

Slots node_slots(uvec2 node) {
    Slots slots;
    VKDS_OVER_SLOTS for (uint i = 0u; i < BTREE_SLOTS; i += 2u) {
        uvec4 quad = coherent_load4(btree_slot(node, i));
        slots.pair[i] = quad.xy;
        slots.pair[i + 1u] = quad.zw;
    }
    return slots;
}

// The slots of a leaf, which others may still fill, erase or give other values.
Slots leaf_slots(uvec2 node) {
#if VKDS_INT64_ATOMICS
    if (BTREE_TORN != 0u) {
        Slots slots;
        VKDS_OVER_SLOTS for (uint i = 0u; i < BTREE_SLOTS; i++) slots.pair[i] = atomic_load2(btree_slot(node, i));
        return slots;
    }
#endif
    return node_slots(node);
}

void node_publish(uvec2 node, uint high, uint link) {
#if VKDS_INT64_ATOMICS
    atomic_store2(address_add(node, BTREE_HIGH_AT), uvec2(high, link));
#else
    coherent_store2(address_add(node, BTREE_HIGH_AT), uvec2(high, link));
#endif
}

void leaf_put(uvec2 slot, uvec2 pair) {
#if VKDS_INT64_ATOMICS
    atomic_store2(slot, pair);
#else
    coherent_store2(slot, pair);
#endif
}

// Takes a pair out of a latched leaf's slot; others may still erase it or change its value at the same time.
uvec2 leaf_take(uvec2 slot, uvec2 seen, uint empty_key) {
#if VKDS_INT64_ATOMICS
    return atomic_exchange2(slot, uvec2(empty_key, BTREE_ERASED));
#else
    return seen;
#endif
}

// Splits a latched leaf that has no empty slot, or (SLAB_NULL in t.fresh) cleans it, and inserts the pair.
LatchedOutcome leaf_make_room(BTree tree, LatchedTask t, uvec2 node, uvec4 header, Slots slots, uint pairs) {
    uint empty_key = btree_empty_key(header.z), separator = 0u;
    bool splits = t.fresh != SLAB_NULL;
    uvec2 sibling = slab_address(tree.pool, t.fresh);
    if (splits) {
        // The separator: the key with half of the others below it.
        VKDS_OVER_SLOTS for (uint i = 0u; i < BTREE_SLOTS; i++) {
            uint key = slots.pair[i].x, below = 0u;
            VKDS_OVER_SLOTS for (uint j = 0u; j < BTREE_SLOTS; j++)
                below += slots.pair[j].x < key && slots.pair[j].x != empty_key ? 1u : 0u;
            if (key != empty_key && below == pairs / 2u) separator = key;
        }
    }
    bool left = !splits || t.key < separator;

    // The pairs that move, and the slot that the new one gets if it stays: the first that becomes free.
    uint kept = 0u, freed = 0u, own = NODE_NONE;   // freed: a bit a slot
    VKDS_OVER_SLOTS for (uint i = 0u; i < BTREE_SLOTS; i++) {
        uvec2 pair = slots.pair[i];
        bool live = pair.x != empty_key, moves = splits && live && pair.x >= separator;
        if (moves) {
            pair = leaf_take(btree_slot(node, i), pair, empty_key);
            if (pair.x != empty_key) coherent_store2(btree_slot(sibling, kept), pair);
            kept += pair.x != empty_key ? 1u : 0u;
        }
        if (!live || moves) {
            own = own == NODE_NONE ? i : own;
            freed |= 1u << i;
        }
    }
    if (splits) {
        uvec2 last = left ? uvec2(empty_key, 0u) : uvec2(t.key, t.value);
        [[dont_unroll]] for (uint i = kept; i < BTREE_SLOTS; i++) {
            coherent_store2(btree_slot(sibling, i), last);
            last = uvec2(empty_key, 0u);
        }
        coherent_store4(address_add(sibling, BTREE_META_AT), uvec4(btree_meta(0u, 0u), separator, header.z, header.w));
    }
    release_fence();
    if (splits) node_publish(node, separator - 1u, t.fresh);
    if (left) leaf_put(btree_slot(node, own), uvec2(t.key, t.value));
    // Who sees a slot empty that becomes so now sees what was done before.
    release_fence();
    uint version = node_next_version(header.x);
    [[dont_unroll]] for (uint i = left ? own + 1u : own; i < BTREE_SLOTS; i++)
        if (((freed >> i) & 1u) != 0u) leaf_put(btree_slot(node, i), uvec2(empty_key, version << 1));
    return LatchedOutcome(splits ? LATCHED_SPLIT : LATCHED_DONE, STATUS_INSERTED, separator, btree_meta(0u, version));
}

// Does an operation on a latched leaf: an insertion that found no room, or, without 64-bit atomics, any update.
LatchedOutcome leaf_update(BTree tree, LatchedTask t, uvec2 node, uvec4 header) {
    uint empty_key = btree_empty_key(header.z), pairs = 0u;
    uint hit = NODE_NONE, held = 0u, room = NODE_NONE;
    Slots slots = leaf_slots(node);
    VKDS_OVER_SLOTS for (uint i = 0u; i < BTREE_SLOTS; i++) {
        uvec2 pair = slots.pair[i];
        if (pair.x == t.key) {
            hit = i;
            held = pair.y;
        }
        if (pair.x == empty_key && (pair.y & 1u) == 0u) room = min(room, i);
        pairs += pair.x != empty_key ? 1u : 0u;
    }
    LatchedOutcome o = LatchedOutcome(LATCHED_IN_TIME, STATUS_PENDING, 0u, header.x & ~1u);
    bool there = hit != NODE_NONE;
    bool inserts = !there && room == NODE_NONE && t.kind != OP_DELETE;
#if !VKDS_INT64_ATOMICS
    if (!inserts) {
        // Readers see by the version that something was changed.
        o.what = LATCHED_DONE;
        o.status = there ? (t.kind == OP_DELETE ? STATUS_DELETED
                            : t.kind == OP_INSERT_UNIQUE ? STATUS_FOUND : STATUS_ASSIGNED)
                         : (t.kind == OP_DELETE ? STATUS_ABSENT : STATUS_INSERTED);
        if (there ? t.kind != OP_INSERT_UNIQUE : t.kind != OP_DELETE) {
            uint value = there ? op_value(t.kind, held, t.value) : t.value;
            uvec2 pair = t.kind == OP_DELETE ? uvec2(empty_key, 0u) : uvec2(t.key, value);
            coherent_store2(btree_slot(node, there ? hit : room), pair);
            o.meta = btree_meta(0u, node_next_version(header.x));
        }
    }
#endif
    if (inserts) {
        bool splits = pairs > LEAF_CLEAN_PAIRS;
        bool can = !splits || t.fresh != SLAB_NULL;
        if (!splits) t.fresh = SLAB_NULL;
        o.what = LATCHED_NO_SLAB;
        if (can) o = leaf_make_room(tree, t, node, header, slots, pairs);
    }
    return o;
}

// Brings a separator with its child into a latched inner node.
LatchedOutcome inner_update(BTree tree, LatchedTask t, uvec2 node, uvec4 header) {
    uint level = btree_level(header.x);
    Slots slots = node_slots(node);
    uvec2 last = slots.pair[BTREE_SLOTS - 1u], fresh = uvec2(t.key, t.value);
    uint used = 1u, place = 0u;
    bool there = false;
    VKDS_OVER_SLOTS for (uint i = 0u; i < BTREE_SLOTS; i++) {
        uint separator = slots.pair[i].x;
        used += separator != last.x ? 1u : 0u;
        place += separator <= t.key ? 1u : 0u;
        there = there || separator == t.key;
    }
    place = min(place, used);
    bool splits = used == BTREE_SLOTS, root = t.node == tree.root;
    LatchedOutcome o = LatchedOutcome(LATCHED_DONE, STATUS_PENDING, 0u, header.x & ~1u);
    bool lacks = splits && (t.fresh == SLAB_NULL || (root && t.fresh2 == SLAB_NULL));
    if (lacks && !there) o.what = LATCHED_NO_SLAB;
    if (!lacks && !there) {
        // Of a node that splits: the last child that stays, the separator, and what drops out at the end. The new node
        // is to the right; of a root that splits there is one to the left, too.
        Slots next;   // what the first of the two nodes' slots, and one more, are with the new one in its place
        uvec2 before = fresh;
        VKDS_OVER_SLOTS for (uint i = 0u; i < BTREE_SLOTS; i++) {
            uvec2 own = slots.pair[i];
            next.pair[i] = i < place ? own : i == place || place == used ? fresh : before;
            before = own;
        }
        uvec2 end = next.pair[INNER_KEEPS - 1u];
        uint separator = next.pair[INNER_KEEPS].x;
        uvec2 dropped = place == BTREE_SLOTS ? fresh : last;
        uvec2 lower = slab_address(tree.pool, t.fresh), upper = slab_address(tree.pool, root ? t.fresh2 : t.fresh);
        if (splits) {
            VKDS_OVER_SLOTS for (uint i = 0u; i < BTREE_SLOTS; i++) {
                uvec2 pair = next.pair[i];
                if (i >= INNER_KEEPS) coherent_store2(btree_slot(upper, i - INNER_KEEPS), pair);
                if (i >= BTREE_SLOTS - INNER_KEEPS) coherent_store2(btree_slot(upper, i), dropped);
                if (root) coherent_store2(btree_slot(lower, i), i < INNER_KEEPS ? pair : end);
            }
            uint meta = btree_meta(level, 0u);
            coherent_store4(address_add(upper, BTREE_META_AT), uvec4(meta, separator, header.z, header.w));
            if (root)
                coherent_store4(address_add(lower, BTREE_META_AT), uvec4(meta, header.y, separator - 1u, t.fresh2));
        }
        release_fence();
        if (splits && !root) node_publish(node, separator - 1u, t.fresh);
        release_fence();
        VKDS_OVER_SLOTS for (uint i = 0u; i < BTREE_SLOTS; i++) {
            uvec2 pair = next.pair[i];
            if (splits && i >= INNER_KEEPS) pair = end;
            if (splits && root) pair = i == 0u ? uvec2(header.y, t.fresh) : uvec2(separator, t.fresh2);
            if (splits || i >= place) coherent_store2(btree_slot(node, i), pair);
        }
        o = LatchedOutcome(splits && !root ? LATCHED_SPLIT : LATCHED_DONE, STATUS_PENDING, separator,
                           btree_meta(splits && root ? level + 1u : level, node_next_version(header.x)));
    }
    return o;
}

// Does what an operation has to do at a node of a level that it has latched, and releases the latch. `link` is the
// node's right neighbour, if the key lies to the right on that level, else the root.
LatchedOutcome latched_update(BTree tree, LatchedTask t, uint level, out uint link) {
    uvec2 node = slab_address(tree.pool, t.node);
    uvec4 header = coherent_load4(address_add(node, BTREE_META_AT));
    bool there = btree_level(header.x) == level;
    link = there && t.key > header.z ? header.w : tree.root;
    LatchedOutcome o = LatchedOutcome(LATCHED_ELSEWHERE, STATUS_PENDING, 0u, header.x & ~1u);
    if (there && t.key >= header.y && t.key <= header.z) {
        if (level == 0u) o = leaf_update(tree, t, node, header);
        else o = inner_update(tree, t, node, header);
    }
    release_fence();
    atomic_store(address_add(node, BTREE_META_AT), o.meta);
    return o;
}

#endif
