// Search in a B-link-tree in a read-only phase: down to a leaf, by tiles of any width.
//
// Each lane of the tile looks at the slots that it holds, and the lane that has the
// greatest rank among them says where to go: so a visit costs two shuffles and a comparison a level of the tile's tree,
// whether it goes down, right or arrives. Where NODE_PARTS is 2, the node's second half is read only if the first one
// doesn't answer: then half of what is read of nodes that are half full is saved.
#ifndef VKDS_BTREE_SEARCH_GLSL
#define VKDS_BTREE_SEARCH_GLSL

#include "constants.glsl"
#include "btree_node.glsl"
#include "btree_prefix_index.glsl"
#include "btree_version.glsl"

layout(constant_id = VKDS_ID_NODE_PARTS) const uint NODE_PARTS = 1;   // 1 or 2; with tiles of 8 lanes or more, it is 1

BTreePlace btree_root(BTree tree) {
    uvec2 root = slab_address(tree.pool, tree.root);
    return BTreePlace(tree.root, btree_level(plain_load(address_add(root, BTREE_META_AT))));
}

// Where the search for a key begins.
BTreePlace btree_start(BTree tree, BTreePrefixIndex index, K key) {
    if (index.bits == 0u) return btree_root(tree);
    return btree_prefix_start(index, key);
}

// The greatest rank that a lane of the tile has, and that lane's value, for all lanes. Collective.
void tile_best(inout uint rank, inout V word) {
    [[unroll]] for (uint step = 1u; step < TILE; step <<= 1) {
        uint other = subgroupShuffle(rank, gl_SubgroupInvocationID ^ step);
        V its = subgroupShuffle(word, gl_SubgroupInvocationID ^ step);
        word = other > rank ? its : word;
        rank = max(other, rank);
    }
}

const uint BTREE_PARTS = TILE >= 8u ? 1u : NODE_PARTS;
const uint BTREE_PART_QUADS = NODE_QUADS / BTREE_PARTS;   // of a lane
const uint BTREE_PART_SLOTS = NODE_PAIRS / BTREE_PARTS;
const uint BTREE_RIGHT = BTREE_SLOTS + 1u;   // a rank: the key is above the node's high, and the word is the link

// Takes a slot into account, with its rank: whether what it holds lies in least … least + span.
void btree_look(P slot, K least, K span, bool is_slot, uint slot_rank, inout uint rank, inout V word) {
    bool fits = VKDS_UP_TO(VKDS_MINUS(slot.VKDS_KEY, least), span) && is_slot;
    rank = fits ? slot_rank : rank;
    word = fits ? slot.VKDS_VALUE : word;
}

// The last slot of a part of the node that holds a key from least to key, its number and 1 more as the rank, 0 where
// there is none; or BTREE_RIGHT, which only the last part knows of, where the node is `linked`. word is the slot's
// value, or the link. Collective.
void btree_visit(uvec2 address, uint part, bool linked, K least, K key, out uint rank, out V word) {
    uint lane = tile_lane();
    K span = VKDS_MINUS(key, least);
    rank = 0u;
    word = V(0u);
    uvec4 quad[8];
    uint first = part * BTREE_PART_QUADS * TILE + lane;
    [[unroll]] for (uint j = 0u; j < BTREE_PART_QUADS; j++)
        quad[j] = plain_load4(address_add(address, (first + j * TILE) * 16u));
    bool has_header = lane == TILE - 1u && part == BTREE_PARTS - 1u;
    uint local = 0u;   // the rank, as if this were the first lane and the first part
    [[unroll]] for (uint j = 0u; j < BTREE_PART_QUADS; j++) {
#if VKDS_WIDE
        btree_look(quad[j], least, span, first + j * TILE < BTREE_SLOTS, j * TILE + 1u, local, word);
#else
        bool is_slot = j + 1u < BTREE_PART_QUADS || !has_header;
        btree_look(quad[j].xy, least, span, is_slot, 2u * j * TILE + 1u, local, word);
        // The last slot of a half that only repeats the one before it says nothing of the other half.
        bool more = is_slot && (BTREE_PARTS == 1u || j + 1u < BTREE_PART_QUADS || quad[j].x != quad[j].z);
        btree_look(quad[j].zw, least, span, more, 2u * j * TILE + 2u, local, word);
#endif
    }
    rank = local == 0u ? 0u : local + VKDS_QUAD_SLOTS * lane + part * BTREE_PART_SLOTS;
    bool right = has_header && linked && VKDS_ABOVE(key, quad[BTREE_PART_QUADS - 1u].VKDS_LAST_HIGH);
    rank = right ? BTREE_RIGHT : rank;
    word = right ? VKDS_VALUE_OF(quad[BTREE_PART_QUADS - 1u].VKDS_LAST_LINK) : word;
    tile_best(rank, word);
}

// A tile's search: for one of its lanes after the other. The same for all lanes of the tile.
struct BTreeSearch {
    uint open;    // a bit a lane whose search is not ended
    K key;
    uint node;    // where the search stands
    uint level;
    uint part;    // of the node, that is read next
    uint rank;    // of what the first part brought
    V word;
};

// The lane that the tile searches for.
uint btree_source(BTreeSearch s) { return tile_first(s.open); }

// Turns to the next lane's search, where `next`. Collective.
void btree_turn(inout BTreeSearch s, K key, BTreePlace start, bool next) {
    uint source = btree_source(s);
    K its_key = tile_shuffle(key, source);
    uvec2 its_start = tile_shuffle(uvec2(start.node, start.level), source);
    s.key = next ? its_key : s.key;
    s.node = next ? its_start.x : s.node;
    s.level = next ? its_start.y : s.level;
}

// Searches for the keys of the lanes that are enabled. Collective.
BTreeSearch btree_search(K key, BTreePlace start, bool enabled) {
    BTreeSearch s = BTreeSearch(tile_ballot(enabled), key, start.node, start.level, 0u, 0u, V(0u));
    btree_turn(s, key, start, true);
    return s;
}

// A visit of an inner node or a leaf. True: it is a leaf, and the right one; then rank is not 0 if it has the key, and
// word is the value. Else the search stands where it goes on. Collective.
bool btree_go_on(BTree tree, inout BTreeSearch s, out uint rank, out V word) {
#ifdef VKDS_SNAPSHOT
    // Of a leaf that was changed since, the version is read in its place.
    BTreeVersions then = BTreeVersions(tree.state);
    bool first = s.level == 0u && s.part == 0u && then.now != ~0u, kept = s.level == BTREE_VERSION_LEVEL;
    bool leaf = s.level == 0u || kept, passed = false;
    uint version = s.node;
    uvec2 address = slab_address(tree.pool, s.node);
    BTreeLead lead = BTreeLead(BTreeStamp(0u, SLAB_NULL), ~0u, 0u);
    if (first && btree_was_changed(then, pool_number(s.node))) {
        lead = btree_lead(then, tree.pool, s.node);
        version = lead.stamp.older;
        kept = lead.stamp.time > then.now && version < then.count;
    }
    BTreeStamp its = BTreeStamp(0u, SLAB_NULL);
    uint beside = SLAB_NULL;   // the leaf's neighbor
    if (kept) {
        uvec2 leaf_address = address;
        address = btree_version_at(then, version);
        if (lead.since > then.now && s.part == 0u) its = btree_version_stamp(then, version);
        passed = first && btree_version_passed(lead, address, s.key);
        if (passed) beside = plain_load(address_add(leaf_address, BTREE_LINK_AT));
        passed = passed && beside != SLAB_NULL;   // but for broken memory
        s.node = version;
        s.level = BTREE_VERSION_LEVEL;
    }
#else
    const bool kept = false;
    bool leaf = s.level == 0u;
    uvec2 address = slab_address(tree.pool, s.node);
#endif
    btree_visit(address, s.part, !kept, leaf ? s.key : K(0u), s.key, rank, word);
    bool whole = true;
    if (BTREE_PARTS == 2u) {
        // The first half answers if it has the key, of a leaf; or, of an inner node, a separator above it or the last
        // child, which may be left of where the key is: then that child leads to the right. The key ~0 may be the empty
        // one, in a leaf that the search is to leave for the last one.
        whole = s.part == 1u || (leaf ? rank != 0u && s.key != K(~0u) : rank != BTREE_PART_SLOTS);
        word = rank == 0u ? s.word : word;
        rank = rank == 0u ? s.rank : rank;
        s.part = whole ? 0u : 1u;
        s.rank = whole ? 0u : rank;
        s.word = whole ? V(0u) : word;
    }
    bool right = rank == BTREE_RIGHT;
    bool arrived = whole && leaf && !right;
    s.node = whole && !arrived ? VKDS_REFERENCE(word) : s.node;
    s.level -= whole && !leaf && !right ? 1u : 0u;
#ifdef VKDS_SNAPSHOT
    bool newer = its.time > then.now && its.older < then.count;
    if (kept && (passed || newer)) {   // to the right, or on to what was there before
        s.node = passed ? beside : its.older;
        s.level = passed ? 0u : BTREE_VERSION_LEVEL;
        s.part = 0u;
        s.rank = 0u;
        s.word = V(0u);
        arrived = false;
    }
#endif
    return arrived;
}

// Whether the tree has a key, and its value, else 0, of each lane that is enabled. Collective.
bool btree_find(BTree tree, BTreePrefixIndex index, K key, bool enabled, out V value) {
    BTreePlace start = btree_start(tree, index, key);
    BTreeSearch s = btree_search(key, start, enabled);
    bool there = false;
    value = V(0u);
    uint visits = node_visits(tree.pool.blocks);
#ifdef VKDS_SNAPSHOT
    visits += min(BTreeVersions(tree.state).count, 1u << 24) * TILE;
#endif
    for (; subgroupAny(s.open != 0u && visits != 0u); visits--) {
        uint rank;
        V word;
        bool arrived = btree_go_on(tree, s, rank, word) && s.open != 0u;
        bool mine = arrived && btree_source(s) == tile_lane();
        there = mine ? rank != 0u : there;
        value = mine && rank != 0u ? word : value;
        s.open &= arrived ? s.open - 1u : ~0u;
        if (TILE > 1u) btree_turn(s, key, start, arrived);
    }
    return there;
}

// The leaf that a key belongs to, or one to the left of it where nodes are in no parent yet, and the node above that
// led there, SLAB_NULL where the prefix index did: of each lane that is enabled, of the others any. The leaf itself is
// not read. Collective.
uint btree_seek(BTree tree, BTreePrefixIndex index, K key, bool enabled, out uint above) {
    BTreePlace start = btree_start(tree, index, key);
    BTreeSearch s = btree_search(key, start, enabled && start.level != 0u);
    uint leaf = start.node;
    above = SLAB_NULL;
    for (uint visits = node_visits(tree.pool.blocks); subgroupAny(s.open != 0u && visits != 0u); visits--) {
        uint rank, from = s.node;
        V word;
        btree_go_on(tree, s, rank, word);
        bool arrived = s.level == 0u && s.open != 0u;
        bool mine = arrived && btree_source(s) == tile_lane();
        leaf = mine ? s.node : leaf;
        above = mine ? from : above;
        s.open &= arrived ? s.open - 1u : ~0u;
        if (TILE > 1u) btree_turn(s, key, start, arrived);
    }
    return leaf;
}

#endif
