// A leaf of a B-link-tree as a tile sees it beside updates, and what one lane does to one of its slots.
//
// A leaf with room is changed without its latch. What makes that right, though a tile's loads of the slots are of no
// one moment:
//
//   - A slot goes from empty to a pair, whose value may change, to erased, and no further until somebody cleans or
//     splits the leaf under its latch. Insertions take the first empty slot. So two of one key meet in one slot.
//   - Cleaning and splitting happen only where no slot is empty, and give the slots that become empty a new stamp. An
//     insertion's compare-and-swap expects the stamp, so it fails if the leaf was cleaned or split since it was read.
//   - That the other slots were read no earlier than the stamp began, and so show no older state, is certain if the
//     stamp is 0, which no cleaning and no split gives; else the leaf is read again, behind an acquire_fence, and has
//     to have that stamp still.
//   - Who splits a leaf first takes the pairs that move away out of it (they become erased), then writes the new leaf,
//     publishes it by high and link, and unlatches last. So a key that is found is there; a key that isn't found is
//     absent if the leaf, read again behind an acquire_fence, is unlatched and still for that key.
#ifndef VKDS_BTREE_LEAF_GLSL
#define VKDS_BTREE_LEAF_GLSL

#include "btree_node.glsl"
#include "operation.glsl"

// What a leaf has for a key, the same for all lanes of the tile.
struct LeafView {
    uint slot;    // that holds the key; NODE_NONE if none does
    uint value;   // in it
    uint room;    // the first empty slot; NODE_NONE if there is none
    uint stamp;   // the value in it
};

// Collective over the subgroup.
LeafView leaf_view(Node n, uint key, uint vacancy) {
    uint hits = 0u, rooms = 0u;   // a bit a quad of the node (of 16 lanes and more, a pair), in node order
    uint hit = 0u, hit_value = 0u, room = 0u, room_stamp = 0u;   // this lane's first
    [[unroll]] for (uint i = 0u; i < NODE_QUADS; i++) {
        uint j = NODE_QUADS - 1u - i;
        bool any_hit = false, any_room = false;
        [[unroll]] for (uint r = 0u; r < NODE_LANE_PAIRS / NODE_QUADS; r++) {
            uint m = (j + 1u) * (NODE_LANE_PAIRS / NODE_QUADS) - 1u - r;
            uvec2 pair = n.pair[m];
            bool slot = btree_lane_has(m);
            if (slot && pair.x == key) {
                any_hit = true;
                hit = m;
                hit_value = pair.y;
            }
            if (slot && pair.x == vacancy && (pair.y & 1u) == 0u) {
                any_room = true;
                room = m;
                room_stamp = pair.y;
            }
        }
        hits |= tile_ballot(any_hit) << (j * TILE & 31u);
        rooms |= tile_ballot(any_room) << (j * TILE & 31u);
    }
    uint hit_lane = uint(findLSB(hits)) & (TILE - 1u), room_lane = uint(findLSB(rooms)) & (TILE - 1u);
    LeafView v;
    v.slot = tile_shuffle(node_pair_index(hit), hit_lane);
    v.value = tile_shuffle(hit_value, hit_lane);
    v.room = tile_shuffle(node_pair_index(room), room_lane);
    v.stamp = tile_shuffle(room_stamp, room_lane);
    if (hits == 0u) v.slot = NODE_NONE;
    if (rooms == 0u) v.room = NODE_NONE;
    return v;
}

// What an operation makes of the value that a key has.
uint leaf_merge(uint kind, uint seen, uint value) {
    return kind == OP_ADD ? seen + value : kind == OP_MIN ? min(seen, value) : kind == OP_MAX ? max(seen, value) : value;
}

#if VKDS_INT64_ATOMICS

// The functions below are one lane's own. False: the slot is another's by now, look at the leaf again.

bool leaf_insert(uvec2 slot, uint key, uint value, uint vacancy, uint stamp) {
    return atomic_cas2(slot, uvec2(vacancy, stamp), uvec2(key, value)) == uvec2(vacancy, stamp);
}

// Changes or erases the pair of a key that was seen in a slot. The value seen may be older than the key, and so the
// first attempt may fail; one that fails behind it was overtaken.
bool leaf_change(uvec2 slot, uint kind, uint key, uint seen, uint value, uint vacancy) {
    uvec2 expected = uvec2(key, seen);
    bool done = false;
    for (uint attempt = 0u; attempt < 3u && !done && expected.x == key; attempt++) {
        uvec2 pair = kind == OP_DELETE ? uvec2(vacancy, BTREE_ERASED) : uvec2(key, leaf_merge(kind, expected.y, value));
        uvec2 before = atomic_cas2(slot, expected, pair);
        // An assignment that meets another one's value counts as done right before that.
        done = before == expected || (kind == OP_INSERT && attempt != 0u && before.x == key);
        expected = before;
    }
    return done;
}

#endif

#endif
