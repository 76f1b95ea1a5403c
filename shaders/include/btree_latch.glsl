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

#include "btree_leaf.glsl"

// Loops over a lane's slots are unrolled, which keeps nodes in registers. Compilers of CPU devices take minutes for what
// that gives: there, define ROLLED.
#ifdef ROLLED
#define LATCH_LOOP [[dont_unroll]]
#else
#define LATCH_LOOP [[unroll]]
#endif

// A leaf without an empty slot is cleaned of its erased ones if it has no more pairs than this, else it is split.
const uint LEAF_CLEAN_PAIRS = 10u;

// Of 15 slots' worth of an inner node so many stay when it is split.
const uint INNER_KEEPS = 8u;

// What became of an operation that had a node's latch.
const uint LATCHED_ELSEWHERE = 0u;   // the node is not, or no longer, the one for the key: look again
const uint LATCHED_IN_TIME = 1u;     // a leaf needs no latch for it by now: look again
const uint LATCHED_NO_SLAB = 2u;     // the pool had no slab for a split
const uint LATCHED_DONE = 3u;
const uint LATCHED_SPLIT = 4u;       // done, and the new node's separator is to be inserted one level up

// Tries to take a node's latch.
bool node_latch(uvec2 node) { return (atomic_or(address_add(node, BTREE_META_AT), 1u) & 1u) == 0u; }

// The stamp after another one: never 0 again.
uint node_next_stamp(uint meta) {
    uint stamp = (btree_stamp(meta) + 1u) & 0x7ffffffu;
    return stamp == 0u ? 1u : stamp;
}

// What was written before, by any lane of the subgroup, is seen by those who see what is written after, on the condition
// that is returned: whether any lane says yes. The vote holds the lanes together; a subgroupBarrier is one of the whole
// workgroup to lavapipe (Mesa 25.0), and not to be had in loops.
bool node_release(bool yes) {
    release_fence();
    return subgroupAny(yes);
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

// Takes a pair out of a latched leaf's slot; beside it others may still erase it or change its value.
uvec2 leaf_take(uvec2 slot, uvec2 seen, uint vacancy) {
#if VKDS_INT64_ATOMICS
    return atomic_exchange2(slot, uvec2(vacancy, BTREE_ERASED));
#else
    return seen;
#endif
}

// A task under a latch, the same for all lanes of a tile.
struct LatchedTask {
    uint kind;     // of the operation, on the leaf level
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

// Which lanes of the tile, and how many before this one of step m, say yes; `count` goes up by all of them.
uint tile_rank(bool yes, inout uint count) {
    uint bits = tile_ballot(yes);
    uint rank = count + uint(bitCount(bits & ((1u << tile_lane()) - 1u)));
    count += uint(bitCount(bits));
    return rank;
}

// Brings a pair into a latched leaf that had no room for it (without 64-bit atomics: does any update). Collective over
// the subgroup; does something where the tile is `enabled`.
LatchedOutcome leaf_update(BTree tree, LatchedTask t, Node n, Fence f, bool enabled) {
    uvec2 node = slab_address(tree.pool, t.node);
    uvec2 sibling = slab_address(tree.pool, t.fresh);
    uint vacancy = btree_vacancy(f.high);
    LeafView view = leaf_view(n, t.key, vacancy, true);
    LatchedOutcome o = LatchedOutcome(LATCHED_IN_TIME, STATUS_PENDING, 0u, f.meta & ~1u);
    bool acts = enabled && view.slot == NODE_NONE && view.room == NODE_NONE;
#if !VKDS_INT64_ATOMICS
    // Readers see by the stamp that something was changed.
    bool there = view.slot != NODE_NONE;
    bool changes = enabled && (there ? t.kind != OP_INSERT_UNIQUE : t.kind != OP_DELETE && view.room != NODE_NONE);
    acts = acts && t.kind != OP_DELETE;
    if (enabled && !acts) {
        o.what = LATCHED_DONE;
        o.status = there ? (t.kind == OP_DELETE ? STATUS_DELETED : t.kind == OP_INSERT_UNIQUE ? STATUS_FOUND : STATUS_ASSIGNED)
                         : (t.kind == OP_DELETE ? STATUS_ABSENT : STATUS_INSERTED);
    }
    if (changes) {
        o.meta = btree_meta(0u, node_next_stamp(f.meta));
        uvec2 pair = !there ? uvec2(t.key, t.value) : t.kind == OP_DELETE ? uvec2(vacancy, 0u) : uvec2(t.key, leaf_merge(t.kind, view.value, t.value));
        if (tile_lane() == 0u) coherent_store2(btree_slot(node, there ? view.slot : view.room), pair);
    }
#endif

    uint pairs = 0u;
    LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
        pairs += uint(bitCount(tile_ballot(btree_lane_has(m) && n.pair[m].x != vacancy)));
    bool splits = acts && pairs > LEAF_CLEAN_PAIRS;
    if (splits && t.fresh == SLAB_NULL) {
        o.what = LATCHED_NO_SLAB;
        acts = false;
        splits = false;
    }
    if (!subgroupAny(acts)) return o;

    // The separator: the key with half of the others below it.
    uint below[16];
    LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++) below[m] = 0u;
    LATCH_LOOP for (uint s = 0u; s < BTREE_SLOTS; s++) {
        uint other = tile_shuffle(n.pair[node_pair_number(s)].x, node_pair_lane(s));
        LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
            below[m] += other != vacancy && other < n.pair[m].x ? 1u : 0u;
    }
    uint middle = 0u;
    uint middle_lane = 0u;
    LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        bool is_middle = btree_lane_has(m) && n.pair[m].x != vacancy && below[m] == pairs / 2u;
        uint bits = tile_ballot(is_middle);
        if (is_middle) middle = n.pair[m].x;
        if (bits != 0u) middle_lane = uint(findLSB(bits));
    }
    uint separator = tile_shuffle(middle, middle_lane);
    bool left = !splits || t.key < separator;

    // The pairs that move, and where the key goes if it stays: into the first slot that becomes free.
    uint kept = 0u, freed = 0u, own_slot = NODE_NONE;
    LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        uint slot = node_pair_index(m);
        uvec2 pair = n.pair[m];
        bool has = btree_lane_has(m);
        bool moves = splits && has && pair.x != vacancy && pair.x >= separator;
        if (moves) pair = leaf_take(btree_slot(node, slot), pair, vacancy);
        bool keeps = moves && pair.x != vacancy;
        uint place = tile_rank(keeps, kept);
        if (keeps) coherent_store2(btree_slot(sibling, place), pair);
        bool frees = acts && has && (moves || n.pair[m].x == vacancy);
        uint number = tile_rank(frees, freed);
        if (frees && number == 0u && left) own_slot = slot;
    }
    bool first = tile_lane() == 0u;
    if (splits) {
        if (first && !left) coherent_store2(btree_slot(sibling, kept), uvec2(t.key, t.value));
        uint filled = kept + (left ? 0u : 1u);
        LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
            uint slot = node_pair_index(m);
            if (btree_lane_has(m) && slot >= filled) coherent_store2(btree_slot(sibling, slot), uvec2(vacancy, 0u));
        }
        if (first) coherent_store4(address_add(sibling, BTREE_META_AT), uvec4(btree_meta(0u, 0u), separator, f.high, f.link));
    }
    splits = node_release(acts) && splits;
    if (splits && first) node_publish(node, separator - 1u, t.fresh);
    if (acts && own_slot != NODE_NONE) leaf_put(btree_slot(node, own_slot), uvec2(t.key, t.value));
    // Who sees a slot empty that becomes so now sees what was done before.
    acts = node_release(acts) && acts;
    uint stamp = node_next_stamp(f.meta);
    LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        uint slot = node_pair_index(m);
        bool moved = splits && n.pair[m].x != vacancy && n.pair[m].x >= separator;
        bool frees = acts && btree_lane_has(m) && (moved || n.pair[m].x == vacancy);
        if (frees && slot != own_slot) leaf_put(btree_slot(node, slot), uvec2(vacancy, stamp << 1));
    }
    if (acts) o = LatchedOutcome(splits ? LATCHED_SPLIT : LATCHED_DONE, STATUS_INSERTED, separator, btree_meta(0u, stamp));
    return o;
}

// Brings a separator with its child into a latched inner node. Collective over the subgroup; does something where the
// tile is `enabled`.
LatchedOutcome inner_update(BTree tree, LatchedTask t, Node n, Fence f, bool enabled) {
    uvec2 node = slab_address(tree.pool, t.node);
    uint level = btree_level(f.meta);
    LatchedOutcome o = LatchedOutcome(LATCHED_DONE, STATUS_PENDING, 0u, f.meta & ~1u);
    uvec2 last = tile_shuffle(n.pair[node_pair_number(BTREE_SLOTS - 1u)], node_pair_lane(BTREE_SLOTS - 1u));
    uint used = 1u, place = 0u, equal = 0u;
    LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        bool has = btree_lane_has(m);
        used += uint(bitCount(tile_ballot(has && n.pair[m].x != last.x)));
        place += uint(bitCount(tile_ballot(has && n.pair[m].x <= t.key)));
        equal |= tile_ballot(has && n.pair[m].x == t.key);
    }
    place = min(place, used);
    bool full = used == BTREE_SLOTS;
    bool root = t.node == BTREE_ROOT;
    bool acts = enabled && equal == 0u;
    if (acts && full && (t.fresh == SLAB_NULL || (root && t.fresh2 == SLAB_NULL))) {
        o.what = LATCHED_NO_SLAB;
        acts = false;
    }
    if (!subgroupAny(acts)) return o;

    // The slots with the new one in its place; the last one of a full node drops out.
    Node next;
    LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++) next.pair[m] = uvec2(t.key, t.value);
    LATCH_LOOP for (uint s = 0u; s < BTREE_SLOTS; s++) {
        uvec2 pair = tile_shuffle(n.pair[node_pair_number(s)], node_pair_lane(s));
        LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
            uint slot = node_pair_index(m);
            bool stays = slot == s && slot < place;
            bool shifts = slot == s + 1u && slot > place && place < used;
            if (stays || shifts) next.pair[m] = pair;
        }
    }
    bool splits = acts && full;
    uvec2 dropped = place == BTREE_SLOTS ? uvec2(t.key, t.value) : last;
    uvec2 end = tile_shuffle(next.pair[node_pair_number(INNER_KEEPS - 1u)], node_pair_lane(INNER_KEEPS - 1u));
    uint separator = tile_shuffle(next.pair[node_pair_number(INNER_KEEPS)].x, node_pair_lane(INNER_KEEPS));

    // The new node to the right, and of a root that splits also the one to the left.
    bool first = tile_lane() == 0u;
    uvec2 lower = slab_address(tree.pool, t.fresh), upper = slab_address(tree.pool, root ? t.fresh2 : t.fresh);
    if (splits) {
        LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
            uint slot = node_pair_index(m);
            bool has = btree_lane_has(m);
            if (has && slot >= INNER_KEEPS) coherent_store2(btree_slot(upper, slot - INNER_KEEPS), next.pair[m]);
            if (has && slot >= BTREE_SLOTS - INNER_KEEPS) coherent_store2(btree_slot(upper, slot), dropped);
            if (has && root) coherent_store2(btree_slot(lower, slot), slot < INNER_KEEPS ? next.pair[m] : end);
        }
        uint new_meta = btree_meta(level, 0u);
        if (first) coherent_store4(address_add(upper, BTREE_META_AT), uvec4(new_meta, separator, f.high, f.link));
        if (first && root) coherent_store4(address_add(lower, BTREE_META_AT), uvec4(new_meta, f.low, separator - 1u, t.fresh2));
    }
    splits = node_release(acts) && splits;
    if (splits && !root && first) node_publish(node, separator - 1u, t.fresh);
    acts = node_release(acts) && acts;
    LATCH_LOOP for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        uint slot = node_pair_index(m);
        uvec2 pair = next.pair[m];
        if (splits && slot >= INNER_KEEPS) pair = end;
        if (splits && root) pair = slot == 0u ? uvec2(f.low, t.fresh) : uvec2(separator, t.fresh2);
        if (acts && btree_lane_has(m)) coherent_store2(btree_slot(node, slot), pair);
    }
    if (acts) {
        o.what = splits && !root ? LATCHED_SPLIT : LATCHED_DONE;
        o.separator = separator;
        o.meta = btree_meta(splits && root ? level + 1u : level, node_next_stamp(f.meta));
    }
    return o;
}

#endif
