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
#include "unroll.glsl"
#ifdef VKDS_CLOCK
#include "btree_clock.glsl"
#elif defined(VKDS_VERSIONS)
#include "btree_version.glsl"
#endif

// A leaf without an empty slot is cleaned of its erased ones if it has no more pairs than this, else it is split.
const uint LEAF_CLEAN_PAIRS = VKDS_WIDE != 0 ? 4u : 10u;

// Of the children of an inner node that splits, one more than its slots, so many stay.
const uint INNER_KEEPS = VKDS_WIDE != 0 ? 4u : 8u;

// What became of an operation that had a node's latch.
const uint LATCHED_ELSEWHERE = 0u;   // the node is not, or no longer, the one for the key: look again
const uint LATCHED_IN_TIME = 1u;     // a leaf needs no latch for it by now: look again
const uint LATCHED_NO_SLAB = 2u;     // the pool had no slab for a split, or there was no version for what was held
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
    K key;         // its key, or a separator
    V value;       // its value, or the separator's child
    uint node;
    uint fresh;    // slabs for new nodes, or SLAB_NULL; the second one for the root only
    uint fresh2;
#ifdef VKDS_CLOCK
    BTreeKeep keep;   // of a leaf
#endif
};

struct LatchedOutcome {
    uint what;        // LATCHED_…
    uint status;      // of an operation on a leaf
    K separator;      // of the new node
    uint meta;        // the node's, unlatched
};

#ifdef VKDS_CLOCK
// Whether a latched leaf was changed.
bool btree_changed(LatchedOutcome o) {
    return o.status == STATUS_INSERTED || o.status == STATUS_ASSIGNED || o.status == STATUS_DELETED;
}
#endif

struct Slots {
    P pair[BTREE_SLOTS];
};

Slots node_slots(uvec2 node) {
    Slots slots;
#if VKDS_WIDE
    VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) slots.pair[i] = coherent_load4(btree_slot(node, i));
#else
    VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i += 2u) {
        uvec4 quad = coherent_load4(btree_slot(node, i));
        slots.pair[i] = quad.xy;
        slots.pair[i + 1u] = quad.zw;
    }
#endif
    return slots;
}

// The slots of a leaf, which others may still fill, erase or give other values.
Slots leaf_slots(uvec2 node) {
#if VKDS_LEAF_ATOMICS
    if (BTREE_TORN != 0u) {
        Slots slots;
        VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) slots.pair[i] = atomic_load2(btree_slot(node, i));
        return slots;
    }
#endif
    return node_slots(node);
}

void node_publish(uvec2 node, K high, uint link) {
#if VKDS_WIDE
    coherent_store4(address_add(node, BTREE_HIGH_AT), uvec4(high, link, 0u));
#elif VKDS_LEAF_ATOMICS
    atomic_store2(address_add(node, BTREE_HIGH_AT), uvec2(high, link));
#else
    coherent_store2(address_add(node, BTREE_HIGH_AT), uvec2(high, link));
#endif
}

void leaf_put(uvec2 slot, P pair) {
#if VKDS_LEAF_ATOMICS
    atomic_store2(slot, pair);
#else
    VKDS_COHERENT_STORE(slot, pair);
#endif
}

// Takes a pair out of a latched leaf's slot; others may still erase it or change its value at the same time.
P leaf_take(uvec2 slot, P seen, K empty_key) {
#if VKDS_LEAF_ATOMICS
    return atomic_exchange2(slot, uvec2(empty_key, BTREE_ERASED));
#else
    return seen;
#endif
}

// The value of a slot that becomes empty in a version, and whether a free slot's value says that it is to be filled.
#ifdef VKDS_CLOCK
#define VKDS_EMPTIED(VERSION) V(0u)
#define VKDS_ROOM(VALUE) true
#else
#define VKDS_EMPTIED(VERSION) VKDS_VERSION(VERSION)
#define VKDS_ROOM(VALUE) (VKDS_REFERENCE(VALUE) & 1u) == 0u
#endif

#ifdef VKDS_CLOCK
// Keeps what a latched leaf holds that is going to be changed, if a snapshot needs it. False: no version was free.
bool leaf_keep(BTree tree, LatchedTask t, Slots slots, K high) {
    if (!t.keep.wanted) return true;
    if (t.keep.version == SLAB_NULL) return false;
    uvec2 to = btree_version_at(btree_versions(tree), t.keep.version);
    VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i += VKDS_QUAD_SLOTS) {
#if VKDS_WIDE
        coherent_store4(btree_slot(to, i), slots.pair[i]);
#else
        coherent_store4(btree_slot(to, i), uvec4(slots.pair[i], slots.pair[i + 1u]));
#endif
    }
    VKDS_UNROLL for (uint quad = BTREE_SLOT_QUADS; quad < 8u; quad++) {
        uvec4 v = btree_version_quad(quad, uvec4(0u), t.keep.stamp, t.keep.now, high);
        coherent_store4(address_add(to, quad * 16u), v);
    }
    btree_keep_stamp(tree, t.node, t.keep, high);
    return true;
}

// Makes free slots of a leaf ones of version 0, as they have to be where its version moves on and they don't.
void leaf_renew(uvec2 node, Slots slots, K empty_key, uint but) {
#if !VKDS_WIDE
    VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) {
        if (slots.pair[i].x == empty_key && slots.pair[i].y != 0u && i != but)
            leaf_put(btree_slot(node, i), P(empty_key, 0u));
    }
#endif
}
#endif

// Splits a latched leaf that has no empty slot, or (SLAB_NULL in t.fresh) cleans it, and inserts the pair.
LatchedOutcome leaf_make_room(BTree tree, LatchedTask t, uvec2 node, VKDS_HEADER header, Slots slots, uint pairs) {
    K empty_key = btree_empty_key(header.VKDS_HIGH), separator = K(0u);
    bool splits = t.fresh != SLAB_NULL;
    uvec2 sibling = slab_address(tree.pool, t.fresh);
    if (splits) {
        // The separator: the key with half of the others below it.
        VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) {
            K key = slots.pair[i].VKDS_KEY;
            uint below = 0u;
            VKDS_UNROLL for (uint j = 0u; j < BTREE_SLOTS; j++)
                below += VKDS_BELOW(slots.pair[j].VKDS_KEY, key) && slots.pair[j].VKDS_KEY != empty_key ? 1u : 0u;
            if (key != empty_key && below == pairs / 2u) separator = key;
        }
    }
    bool left = !splits || VKDS_BELOW(t.key, separator);

    // The pairs that move, and the slot that the new one gets if it stays: the first that becomes free.
    uint kept = 0u, freed = 0u, own = NODE_NONE;   // freed: a bit a slot
    VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) {
        P pair = slots.pair[i];
        bool live = pair.VKDS_KEY != empty_key, moves = splits && live && VKDS_FROM(pair.VKDS_KEY, separator);
        if (moves) {
            pair = leaf_take(btree_slot(node, i), pair, empty_key);
            if (pair.VKDS_KEY != empty_key) VKDS_COHERENT_STORE(btree_slot(sibling, kept), pair);
            kept += pair.VKDS_KEY != empty_key ? 1u : 0u;
        }
        if (!live || moves) {
            own = own == NODE_NONE ? i : own;
            freed |= 1u << i;
        }
    }
    if (splits) {
        P last = left ? P(empty_key, V(0u)) : P(t.key, t.value);
        [[dont_unroll]] for (uint i = kept; i < BTREE_SLOTS; i++) {
            VKDS_COHERENT_STORE(btree_slot(sibling, i), last);
            last = P(empty_key, V(0u));
        }
        VKDS_HEADER_STORE(coherent_store4, sibling, btree_meta(0u, 0u), separator, header.VKDS_HIGH,
                          header.VKDS_LINK);
#if defined(VKDS_VERSIONS) || defined(VKDS_CLOCK)
        btree_inherit(tree, t.node, t.fresh);
#endif
    }
    release_fence();
    if (splits) node_publish(node, VKDS_BEFORE(separator), t.fresh);
    if (left) leaf_put(btree_slot(node, own), P(t.key, t.value));
    // Who sees a slot empty that becomes so now sees what was done before.
    release_fence();
    uint version = node_next_version(header.VKDS_META);
    [[dont_unroll]] for (uint i = left ? own + 1u : own; i < BTREE_SLOTS; i++)
        if (((freed >> i) & 1u) != 0u) leaf_put(btree_slot(node, i), P(empty_key, VKDS_EMPTIED(version)));
    return LatchedOutcome(splits ? LATCHED_SPLIT : LATCHED_DONE, STATUS_INSERTED, separator, btree_meta(0u, version));
}

// Does an operation on a latched leaf: an insertion that found no room, or, without 64-bit atomics, any update.
LatchedOutcome leaf_update(BTree tree, LatchedTask t, uvec2 node, VKDS_HEADER header) {
    K empty_key = btree_empty_key(header.VKDS_HIGH);
    uint pairs = 0u, hit = NODE_NONE;
    V held = V(0u);
    uint room = NODE_NONE;
    Slots slots = leaf_slots(node);
    VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) {
        P pair = slots.pair[i];
        if (pair.VKDS_KEY == t.key) {
            hit = i;
            held = pair.VKDS_VALUE;
        }
        if (pair.VKDS_KEY == empty_key && VKDS_ROOM(pair.VKDS_VALUE)) room = min(room, i);
        pairs += pair.VKDS_KEY != empty_key ? 1u : 0u;
    }
    LatchedOutcome o = LatchedOutcome(LATCHED_IN_TIME, STATUS_PENDING, K(0u), header.VKDS_META & ~1u);
    bool there = hit != NODE_NONE;
    bool inserts = !there && room == NODE_NONE && t.kind != OP_DELETE;
#ifdef VKDS_CLOCK
    bool changes = there ? t.kind != OP_INSERT_UNIQUE : t.kind != OP_DELETE, can_keep = true;
    if (changes && !(inserts && t.fresh == SLAB_NULL))
        can_keep = leaf_keep(tree, t, slots, header.VKDS_HIGH);
    if (!can_keep) {
        o.what = LATCHED_NO_SLAB;
        return o;
    }
#endif
#if !VKDS_LEAF_ATOMICS
    if (!inserts) {
        // Readers see by the version that something was changed.
        o.what = LATCHED_DONE;
        o.status = there ? (t.kind == OP_DELETE ? STATUS_DELETED
                            : t.kind == OP_INSERT_UNIQUE ? STATUS_FOUND : STATUS_ASSIGNED)
                         : (t.kind == OP_DELETE ? STATUS_ABSENT : STATUS_INSERTED);
        if (there ? t.kind != OP_INSERT_UNIQUE : t.kind != OP_DELETE) {
            V value = there ? op_value(t.kind, held, t.value) : t.value;
            P pair = t.kind == OP_DELETE ? P(empty_key, V(0u)) : P(t.key, value);
            VKDS_COHERENT_STORE(btree_slot(node, there ? hit : room), pair);
#ifdef VKDS_CLOCK
            leaf_renew(node, slots, empty_key, there ? hit : room);
#endif
            o.meta = btree_meta(0u, node_next_version(header.VKDS_META));
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
LatchedOutcome inner_update(BTree tree, LatchedTask t, uvec2 node, VKDS_HEADER header) {
    uint level = btree_level(header.VKDS_META);
    Slots slots = node_slots(node);
    P last = slots.pair[BTREE_SLOTS - 1u], fresh = P(t.key, t.value);
    uint used = 1u, place = 0u;
    bool there = false;
    VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) {
        K separator = slots.pair[i].VKDS_KEY;
        used += separator != last.VKDS_KEY ? 1u : 0u;
        place += VKDS_UP_TO(separator, t.key) ? 1u : 0u;
        there = there || separator == t.key;
    }
    place = min(place, used);
    bool splits = used == BTREE_SLOTS, root = t.node == tree.root;
    LatchedOutcome o = LatchedOutcome(LATCHED_DONE, STATUS_PENDING, K(0u), header.VKDS_META & ~1u);
    bool lacks = splits && (t.fresh == SLAB_NULL || (root && t.fresh2 == SLAB_NULL));
#if VKDS_WIDE
    // Nodes of few slots, all of them split where half of it is never filled, may come to more levels than a meta says:
    // the host makes the inner nodes anew, which then have more children.
    lacks = lacks || (splits && root && level == BTREE_LEVEL_MOST);
#endif
    if (lacks && !there) o.what = LATCHED_NO_SLAB;
    if (!lacks && !there) {
        // Of a node that splits: the last child that stays, the separator, and what drops out at the end. The new node
        // is to the right; of a root that splits there is one to the left, too.
        Slots next;   // what the first of the two nodes' slots, and one more, are with the new one in its place
        P before = fresh;
        VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) {
            P own = slots.pair[i];
            next.pair[i] = i < place ? own : i == place || place == used ? fresh : before;
            before = own;
        }
        P end = next.pair[INNER_KEEPS - 1u];
        K separator = next.pair[INNER_KEEPS].VKDS_KEY;
        P dropped = place == BTREE_SLOTS ? fresh : last;
        uvec2 lower = slab_address(tree.pool, t.fresh), upper = slab_address(tree.pool, root ? t.fresh2 : t.fresh);
        if (splits) {
            VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) {
                P pair = next.pair[i];
                if (i >= INNER_KEEPS) VKDS_COHERENT_STORE(btree_slot(upper, i - INNER_KEEPS), pair);
                if (i >= BTREE_SLOTS - INNER_KEEPS) VKDS_COHERENT_STORE(btree_slot(upper, i), dropped);
                if (root) VKDS_COHERENT_STORE(btree_slot(lower, i), i < INNER_KEEPS ? pair : end);
            }
            uint meta = btree_meta(level, 0u);
            VKDS_HEADER_STORE(coherent_store4, upper, meta, separator, header.VKDS_HIGH, header.VKDS_LINK);
            if (root) {
                VKDS_HEADER_STORE(coherent_store4, lower, meta, header.VKDS_LOW, VKDS_BEFORE(separator), t.fresh2);
            }
        }
        release_fence();
        if (splits && !root) node_publish(node, VKDS_BEFORE(separator), t.fresh);
        release_fence();
        VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) {
            P pair = next.pair[i];
            if (splits && i >= INNER_KEEPS) pair = end;
            if (splits && root) pair = i == 0u ? VKDS_BRANCH(header.VKDS_LOW,
                t.fresh) : VKDS_BRANCH(separator, t.fresh2);
            if (splits || i >= place) VKDS_COHERENT_STORE(btree_slot(node, i), pair);
        }
        o = LatchedOutcome(splits && !root ? LATCHED_SPLIT : LATCHED_DONE, STATUS_PENDING, separator,
                           btree_meta(splits && root ? level + 1u : level, node_next_version(header.VKDS_META)));
    }
    return o;
}

// Does what an operation has to do at a node of a level that it has latched, and releases the latch. `link` is the
// node's right neighbour, if the key lies to the right on that level, else the root.
LatchedOutcome latched_update(BTree tree, LatchedTask t, uint level, out uint link) {
    uvec2 node = slab_address(tree.pool, t.node);
    VKDS_HEADER header = VKDS_HEADER_LOAD(coherent_load4, node);
    bool there = btree_level(header.VKDS_META) == level;
    link = there && VKDS_ABOVE(t.key, header.VKDS_HIGH) ? header.VKDS_LINK : tree.root;
    LatchedOutcome o = LatchedOutcome(LATCHED_ELSEWHERE, STATUS_PENDING, K(0u), header.VKDS_META & ~1u);
    if (there && VKDS_FROM(t.key, header.VKDS_LOW) && VKDS_UP_TO(t.key, header.VKDS_HIGH)) {
        if (level == 0u) o = leaf_update(tree, t, node, header);
        else o = inner_update(tree, t, node, header);
    }
    release_fence();
    atomic_store(address_add(node, BTREE_META_AT), o.meta);
    return o;
}

#endif
