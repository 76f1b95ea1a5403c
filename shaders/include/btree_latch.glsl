// B-link-tree latch: changes of a node under its latch. They split nodes, clean leaves, and insert separators into
// inner nodes (Awad et al. 2019, sections 3.3 to 3.5; Lehman and Yao's order of a split).
//
// An operation holds one latch at a time, and none waits for a latch: if it is taken, the operation tries again later.
// After a split has released its latch, the operation inserts the separator one level up.
//
// A split writes the new node, publishes it by the old node's high and link, and only then changes the old node's
// slots. In an inner node any mixture of old and new slots leads to the correct child or to one left of it, from where
// side links lead to the correct one.
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

// A leaf without an empty slot is cleaned (its erased slots become empty) if it has at most so many pairs. Otherwise it
// is split.
const uint LEAF_CLEAN_PAIRS = VKDS_WIDE != 0 ? 4u : 10u;

// The number of children that stay in an inner node that splits, of one more than it has slots.
const uint INNER_KEEPS = VKDS_WIDE != 0 ? 4u : 8u;

// The outcomes of an operation that held a node's latch.
const uint LATCHED_ELSEWHERE = 0u;   // the node is not, or no longer, the one for the key: search again
const uint LATCHED_IN_TIME = 1u;     // the operation needs no latch by now: read the leaf again
const uint LATCHED_NO_SLAB = 2u;     // the pool had no slab for a split, or no version was free for the old contents
const uint LATCHED_DONE = 3u;
const uint LATCHED_SPLIT = 4u;       // done, and the new node's separator is to be inserted one level up

// All functions here are for one lane. The lanes of a subgroup change different nodes at the same time.

// Tries to take a node's latch, and returns whether it did.
bool node_latch(uvec2 node) { return (atomic_or(address_add(node, BTREE_META_AT), 1u) & 1u) == 0u; }

// The version after that of a meta. It is never 0.
uint node_next_version(uint meta) {
    uint version = (btree_version(meta) + 1u) & 0x7ffffffu;
    return version == 0u ? 1u : version;
}

// The change to make to a latched node.
struct LatchedTask {
    uint kind;     // the kind of the operation, if the node is a leaf
    K key;         // the operation's key, or a separator
    V value;       // the operation's value, or the separator's child
    uint node;
    uint fresh;    // slabs for new nodes, or SLAB_NULL; the second one for the root only
    uint fresh2;
#ifdef VKDS_CLOCK
    BTreeKeep keep;   // how to keep the leaf's old contents
#endif
};

struct LatchedOutcome {
    uint what;        // LATCHED_…
    uint status;      // STATUS_… of an operation on a leaf
    K separator;      // the new node's separator
    uint meta;        // the node's new meta, unlatched
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

// Reads the slots of a leaf. Others may still fill and erase them and change their values.
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

// Takes a pair out of a latched leaf's slot and returns it. Others may erase it or change its value at the same time.
P leaf_take(uvec2 slot, P seen, K empty_key) {
#if VKDS_LEAF_ATOMICS
    return atomic_exchange2(slot, uvec2(empty_key, BTREE_ERASED));
#else
    return seen;
#endif
}

// VKDS_EMPTIED: the value of a slot that becomes empty in a version. VKDS_ROOM: whether a free slot with such a value
// is empty, not erased.
#ifdef VKDS_CLOCK
#define VKDS_EMPTIED(VERSION) V(0u)
#define VKDS_ROOM(VALUE) true
#else
#define VKDS_EMPTIED(VERSION) VKDS_VERSION(VERSION)
#define VKDS_ROOM(VALUE) (VKDS_REFERENCE(VALUE) & 1u) == 0u
#endif

#ifdef VKDS_CLOCK
// Copies the contents of a latched leaf to a version before the leaf is changed, if a snapshot needs them. Returns
// false if no version was free.
bool leaf_keep(BTree tree, LatchedTask t, Slots slots, K high) {
    if (!t.keep.wanted) return true;
    if (t.keep.version == SLAB_NULL) return false;
    VKDS_EVENT(true, TRACE_KEEP, t.node, t.keep.version)
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

// Sets the versions of a leaf's free slots to 0, except that of slot `but`. This is needed when the leaf gets a new
// version.
void leaf_renew(uvec2 node, Slots slots, K empty_key, uint but) {
#if !VKDS_WIDE
    VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) {
        if (slots.pair[i].x == empty_key && slots.pair[i].y != 0u && i != but)
            leaf_put(btree_slot(node, i), P(empty_key, 0u));
    }
#endif
}
#endif

// Splits a latched leaf that has no empty slot, or cleans it if t.fresh is SLAB_NULL, and inserts the pair.
LatchedOutcome leaf_make_room(BTree tree, LatchedTask t, uvec2 node, VKDS_HEADER header, Slots slots, uint pairs) {
    K empty_key = btree_empty_key(header.VKDS_HIGH), separator = K(0u);
    bool splits = t.fresh != SLAB_NULL;
    uvec2 sibling = slab_address(tree.pool, t.fresh);
    if (splits) {
        // The separator is the key that half of the others are below.
        VKDS_UNROLL for (uint i = 0u; i < BTREE_SLOTS; i++) {
            K key = slots.pair[i].VKDS_KEY;
            uint below = 0u;
            VKDS_UNROLL for (uint j = 0u; j < BTREE_SLOTS; j++)
                below += VKDS_BELOW(slots.pair[j].VKDS_KEY, key) && slots.pair[j].VKDS_KEY != empty_key ? 1u : 0u;
            if (key != empty_key && below == pairs / 2u) separator = key;
        }
    }
    bool left = !splits || VKDS_BELOW(t.key, separator);

    // Moves pairs to the new leaf. The new pair, if it belongs to the old leaf, gets the first slot that becomes free.
    uint kept = 0u, freed = 0u, own = NODE_NONE;   // freed: one bit per slot
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
    VKDS_EVENT_PAIR(splits, TRACE_SPLIT, t.node, t.fresh, separator, uvec2(0u))
    VKDS_EVENT(!splits, TRACE_CLEAN, t.node, freed)
    VKDS_EVENT_PAIR(true, TRACE_WRITE, left ? t.node : t.fresh, left ? own : kept, t.key, t.value)
    release_fence();
    if (splits) node_publish(node, VKDS_BEFORE(separator), t.fresh);
    if (left) leaf_put(btree_slot(node, own), P(t.key, t.value));
    // Invocations that see a slot become empty after this also see all writes before this.
    release_fence();
    uint version = node_next_version(header.VKDS_META);
    [[dont_unroll]] for (uint i = left ? own + 1u : own; i < BTREE_SLOTS; i++)
        if (((freed >> i) & 1u) != 0u) leaf_put(btree_slot(node, i), P(empty_key, VKDS_EMPTIED(version)));
    return LatchedOutcome(splits ? LATCHED_SPLIT : LATCHED_DONE, STATUS_INSERTED, separator, btree_meta(0u, version));
}

// Does an operation on a latched leaf: an insertion that found no room or, if leaves aren't changed by atomics, any
// update.
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
        // The new version tells readers that the leaf was changed.
        o.what = LATCHED_DONE;
        o.status = there ? (t.kind == OP_DELETE ? STATUS_DELETED
                            : t.kind == OP_INSERT_UNIQUE ? STATUS_FOUND : STATUS_ASSIGNED)
                         : (t.kind == OP_DELETE ? STATUS_ABSENT : STATUS_INSERTED);
        if (there ? t.kind != OP_INSERT_UNIQUE : t.kind != OP_DELETE) {
            V value = there ? op_value(t.kind, held, t.value) : t.value;
            P pair = t.kind == OP_DELETE ? P(empty_key, V(0u)) : P(t.key, value);
            VKDS_COHERENT_STORE(btree_slot(node, there ? hit : room), pair);
            VKDS_EVENT_PAIR(true, t.kind == OP_DELETE ? TRACE_ERASE : there ? TRACE_CHANGE : TRACE_WRITE, t.node,
                            there ? hit : room, t.key, t.kind == OP_DELETE ? held : t.value)
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

// Inserts a separator with its child into a latched inner node, and splits the node if it is full.
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
    // Nodes have few slots, and if all splits leave halves that are never filled again, the tree may need more levels
    // than a meta has. The host then builds the inner nodes anew, with more children each.
    lacks = lacks || (splits && root && level == BTREE_LEVEL_MOST);
#endif
    if (lacks && !there) o.what = LATCHED_NO_SLAB;
    if (!lacks && !there) {
        // If the node splits: `end` is the last child that stays, and `dropped` the slot that no longer fits into
        // `next`. The new node is on the right. A root that splits gets a new node on the left, too.
        Slots next;   // the node's first slots after the insertion, as many as fit
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
        VKDS_EVENT_PAIR(true, TRACE_SEPARATOR, t.node, fresh.VKDS_CHILD, t.key, uvec2(level, 0u))
        VKDS_EVENT_PAIR(splits && root, TRACE_GROW, t.node, t.fresh, separator, uvec2(t.fresh2, 0u))
        VKDS_EVENT_PAIR(splits && !root, TRACE_SPLIT, t.node, t.fresh, separator, uvec2(level, 0u))
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

// Does an operation on a node of `level` that it has latched, and releases the latch. `link` becomes the node's right
// neighbour, if the node has this level and the key is above its high, else the root.
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
    VKDS_EVENT(true, TRACE_RELEASE, t.node, o.what)
    release_fence();
    atomic_store(address_add(node, BTREE_META_AT), o.meta);
    return o;
}

#endif
