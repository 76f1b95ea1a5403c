// A leaf of a B-link-tree as a tile sees it during updates, and what one lane does to one of its slots.
//
// A leaf with room is changed without its latch. What makes that right, though a tile's loads of the slots and of the
// header are of no one moment, and in no order:
//
//   - A slot goes from empty to a pair, whose value may change, to erased, and no further until somebody cleans or
//     splits the leaf under its latch. Insertions take the first empty slot from the key's own one on (leaf_first). So
//     two of one key meet in one slot, and those of different keys hardly ever.
//   - Cleaning and splitting happen only where no slot is empty. They give the slots that become empty a new version,
//     one slot after the other, and then unlatch the leaf with that version in its meta. An insertion's
//     compare-and-swap expects the version, so it fails if the leaf was cleaned or split since it was read.
//   - Two of one key meet only if each has seen every slot as it is since the version began. One view suffices for an
//     empty slot of version 0: that is one of a leaf that was not cleaned or split since it was made, or since a
//     read-only phase, and there is no older state. For any other version it takes two views, with an acquire_fence
//     between: the first one shows the meta unlatched, with the version of the slot that the second one finds. (That
//     both show the slot's version is not enough: the cleaner may be at work yet, on slots that the key looks at
//     first.)
//   - Who splits a leaf first takes the pairs that move away out of it (they become erased), then writes the new leaf,
//     publishes it by high and link, and unlatches last, with a new version. So a key that is found is there. A key is
//     absent if neither of two views has it, with an acquire_fence between, and both show one meta, unlatched, and the
//     leaf as the one for the key. Had a split taken the key away before the first view read its slot, then the second
//     one's meta would show that split's latch or its end; it shows what the first one's did, so that was its end, and
//     the second view, behind it, has the high that sends the key to the right. That meta and high are read at one
//     moment is not needed. The second meta alone would not do: it may be read behind the unlatching, and the high
//     before it was published.
//
// A leaf that a side link leads to may be a fresh one, and is read behind an acquire_fence. Down from the root order by
// address (memory.glsl) does that.
#ifndef VKDS_BTREE_LEAF_GLSL
#define VKDS_BTREE_LEAF_GLSL

#include "constants.glsl"
#include "btree_node.glsl"
#include "operation.glsl"

// Whether two words of a pair may be read by one load as of different age (1), as CPU drivers do. Then a leaf's pairs
// are read by an atomic each: the old key and the new value of a slot that is being filled would look like an erased
// slot.
layout(constant_id = VKDS_ID_BTREE_TORN) const uint BTREE_TORN = 1;

// Reads a leaf, whose pairs others may change concurrently.
Node leaf_load(uvec2 leaf, bool enabled) {
#if VKDS_LEAF_ATOMICS
    if (BTREE_TORN != 0u) {
        Node n;
        for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
            n.pair[m] = uvec2(0u);
            if (enabled) n.pair[m] = atomic_load2(btree_slot(leaf, node_pair_index(m)));
        }
        return n;
    }
#endif
    return node_load_coherent(leaf, enabled);
}

// Around leaf_load: where no atomic takes a pair, updates are made under the latch, each with a new version, and what
// was read is whole if the meta in front of it and behind it is one, unlatched. Else every pair is. Collective.
uint leaf_begin(uvec2 leaf, bool enabled) {
    uint meta = 0u;
#if !VKDS_LEAF_ATOMICS
    if (enabled) meta = atomic_load(address_add(leaf, BTREE_META_AT));
    if (tile_ballot(btree_latched(meta)) != 0u) meta |= 1u;   // no lane reads on before all have this
    acquire_fence();
#endif
    return meta;
}
bool leaf_end(uvec2 leaf, bool enabled, uint began) {
#if VKDS_LEAF_ATOMICS
    return true;
#else
    uint meta = 0u;
    acquire_fence();
    if (enabled) meta = atomic_load(address_add(leaf, BTREE_META_AT));
    return meta == began && !btree_latched(began);
#endif
}

// What a leaf has for a key, the same for all lanes of the tile.
struct LeafView {
    uint slot;      // that holds the key; NODE_NONE if none does
    V value;        // in it
    uint room;      // the first empty slot for it; NODE_NONE if there is none
    uint version;   // the value in it
};

// The slot from which on a key looks for an empty one; behind the last slot comes the first. 14 and 15 are no slots.
#if VKDS_WIDE
uint leaf_first(K key) { return 0u; }   // under the latch, any one does
#else
uint leaf_first(uint key) { return (key * 0x9e3779b1u) >> 28; }
#endif

// Looks for a key, and where `fills` for the first empty slot for it. Collective over the subgroup; `fills` is the same
// for all of its lanes.
LeafView leaf_view(Node n, K key, K empty_key, bool fills) {
    uint hits = 0u;   // a bit a quad of the node, in node order
    uint hit = 0u;   // this lane's first
    V hit_value = V(0u);
    uint from = leaf_first(key), away = NODE_PAIRS, room_version = 0u;   // how far this lane's nearest empty slot is
    [[unroll]] for (uint i = 0u; i < NODE_QUADS; i++) {
        uint j = NODE_QUADS - 1u - i;
        bool any_hit = false;
        [[unroll]] for (uint r = 0u; r < NODE_LANE_PAIRS / NODE_QUADS; r++) {
            uint m = (j + 1u) * (NODE_LANE_PAIRS / NODE_QUADS) - 1u - r;
            P pair = n.pair[m];
            bool slot = btree_lane_has(m);
            if (slot && pair.VKDS_KEY == key) {
                any_hit = true;
                hit = m;
                hit_value = pair.VKDS_VALUE;
            }
            uint steps = (node_pair_index(m) - from) & (NODE_PAIRS - 1u);
            if (slot && pair.VKDS_KEY == empty_key && (VKDS_REFERENCE(pair.VKDS_VALUE) & 1u) == 0u && steps < away) {
                away = steps;
                room_version = VKDS_REFERENCE(pair.VKDS_VALUE);
            }
        }
        hits |= tile_ballot(any_hit) << (j * TILE & 31u);
    }
    LeafView v = LeafView(NODE_NONE, V(0u), NODE_NONE, 0u);
    uint lane = uint(findLSB(hits)) & (TILE - 1u);
    uint slot = tile_shuffle(node_pair_index(hit), lane);
    v.value = tile_shuffle(hit_value, lane);
    if (hits != 0u) v.slot = slot;
    if (fills) {
        for (uint step = 1u; step < TILE; step <<= 1) {
            uint other = tile_shuffle(away, tile_lane() ^ step);
            uint version = tile_shuffle(room_version, tile_lane() ^ step);
            room_version = other < away ? version : room_version;
            away = min(away, other);
        }
        v.version = room_version;
        if (away != NODE_PAIRS) v.room = (from + away) & (NODE_PAIRS - 1u);
    }
    return v;
}

// Whether a leaf is the one for a key, the same for all lanes of the tile.
struct LeafPlace {
    bool astray;   // it is no leaf, or one for greater keys, or a split of which only the high is seen
    bool right;    // the key is above its high
    uint meta;     // the leaf's
    uint link;
};

// Collective over the subgroup.
LeafPlace leaf_place(Node n, K key) {
#if VKDS_WIDE
    NodeHeader h = btree_header(n);
    bool right = number_below(h.high, key);
    bool astray = number_below(key, h.low) || btree_level(h.meta) != 0u || (right && h.link == SLAB_NULL);
    return LeafPlace(astray, right, h.meta & ~6u, h.link);
#else
    uvec2 first = n.pair[NODE_LANE_PAIRS - 2u], second = n.pair[NODE_LANE_PAIRS - 1u];
    // The lane that has the header judges, and says it in one word: in place of the level, which is 0 where it matters.
    bool right = key > second.x;
    bool astray = key < first.y || btree_level(first.x) != 0u || (right && second.y == SLAB_NULL);
    uint verdict = tile_shuffle((first.x & ~6u) | (astray ? 2u : 0u) | (right ? 4u : 0u), TILE - 1u);
    return LeafPlace((verdict & 2u) != 0u, (verdict & 4u) != 0u, verdict & ~6u, tile_shuffle(second.y, TILE - 1u));
#endif
}

#if VKDS_LEAF_ATOMICS

// The functions below are one lane's own. False: the slot is another's by now, look at the leaf again.

bool leaf_insert(uvec2 slot, uint key, uint value, uint empty_key, uint version) {
    return atomic_cas2(slot, uvec2(empty_key, version), uvec2(key, value)) == uvec2(empty_key, version);
}

// Does what an operation does to the pair of a key that was seen in a slot: OP_DELETE, OP_INSERT, or an update in
// place. The value seen may be older than the key, and so the first attempt may fail. `overtaken`: an assignment failed
// behind it, since others changed the value.
bool leaf_change(uvec2 slot, uint kind, uint key, uint seen, uint value, uint empty_key, out bool overtaken) {
    uvec2 expected = uvec2(key, seen);
    bool done = false;
    overtaken = false;
    for (uint attempt = 0u; attempt < 3u && !done && !overtaken && expected.x == key; attempt++) {
        uvec2 desired =
            kind == OP_DELETE ? uvec2(empty_key, BTREE_ERASED) : uvec2(key, op_value(kind, expected.y, value));
        uvec2 before = atomic_cas2(slot, expected, desired);
        done = before == expected;
        overtaken = kind == OP_INSERT && !done && attempt != 0u && before.x == key;
        expected = before;
    }
    return done;
}

// Says that values are updated in place from here on (leaf_assigned), before the first one is. Collective.
void leaf_announce(uvec2 state, bool updates) {
    if (subgroupAny(updates)) {
        uvec2 at = address_add(state, BTREE_IN_PLACE_AT);
        if (atomic_load(at) == 0u) atomic_store(at, 1u);
        release_fence();
    }
}

// Whether an assignment that was overtaken counts as done, right before what overtook it. It does if that was another
// assignment. It doesn't if that made a new value of an old one: what it came to is not what it makes of this one's. In
// a tree where nothing has ever done so it was an assignment.
bool leaf_assigned(uvec2 state) {
    acquire_fence();
    return atomic_load(address_add(state, BTREE_IN_PLACE_AT)) == 0u;
}

#endif

#endif
