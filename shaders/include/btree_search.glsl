// B-link-tree search: searches keys from the root down to a leaf, in a read-only phase, by tiles of any width.
//
// Each lane of the tile gives a rank to the slots that it holds, and the slot with the greatest rank tells where to go
// on. So a visit costs two shuffles and a comparison for each of the log2(TILE) steps of the reduction, whether it goes
// down, goes right or arrives. If NODE_PARTS is 2, the second half of a node is read only if the first half doesn't
// decide: that saves half of the reads of nodes that are half full.
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

// The node where the search for a key starts: from the prefix index if there is one, else the root.
BTreePlace btree_start(BTree tree, BTreePrefixIndex index, K key) {
    if (index.bits == 0u) return btree_root(tree);
    return btree_prefix_start(index, key);
}

// Reads a quad of a node. Others change the tree only beside a glance (btree/glance.glsl).
#ifdef VKDS_SEARCH_OLD
#define VKDS_SEARCH_LOAD4 VKDS_OLD_LOAD4
#else
#define VKDS_SEARCH_LOAD4 plain_load4
#endif

// Sets rank to the greatest one in the tile, and word to that lane's word, in all lanes. Collective.
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

// Sets rank and word to those of a slot if its key is in least … least + span.
void btree_look(P slot, K least, K span, bool is_slot, uint slot_rank, inout uint rank, inout V word) {
    bool fits = VKDS_UP_TO(VKDS_MINUS(slot.VKDS_KEY, least), span) && is_slot;
    rank = fits ? slot_rank : rank;
    word = fits ? slot.VKDS_VALUE : word;
}

// Searches a part of a node for the last slot with a key in least … key. rank becomes that slot's number plus 1, or 0
// if there is none, and word its value. If the key is above the node's high and the node is `linked`, rank becomes
// BTREE_RIGHT and word the link; only the node's last part, which has the header, shows that. Collective.
void btree_visit(uvec2 address, uint part, bool linked, K least, K key, out uint rank, out V word) {
    uint lane = tile_lane();
    K span = VKDS_MINUS(key, least);
    rank = 0u;
    word = V(0u);
    uvec4 quad[8];
    uint first = part * BTREE_PART_QUADS * TILE + lane;
    [[unroll]] for (uint j = 0u; j < BTREE_PART_QUADS; j++)
        quad[j] = VKDS_SEARCH_LOAD4(address_add(address, (first + j * TILE) * 16u));
    bool has_header = lane == TILE - 1u && part == BTREE_PARTS - 1u;
    uint local = 0u;   // the rank, as if this were the first lane and the first part
    [[unroll]] for (uint j = 0u; j < BTREE_PART_QUADS; j++) {
#if VKDS_WIDE
        btree_look(quad[j], least, span, first + j * TILE < BTREE_SLOTS, j * TILE + 1u, local, word);
#else
        bool is_slot = j + 1u < BTREE_PART_QUADS || !has_header;
        btree_look(quad[j].xy, least, span, is_slot, 2u * j * TILE + 1u, local, word);
        // If the last slot of a half only repeats the slot before it, it doesn't count: the other half must be read.
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

// A tile's search, for one of its lanes after the other. The same for all lanes of the tile.
struct BTreeSearch {
    uint open;    // a bit for each lane whose search has not ended
    K key;
    uint node;    // the node to visit next
    uint level;
    uint part;    // the part of the node to read next
    uint rank;    // the result of the node's first part
    V word;
};

// The lane that the tile searches for.
uint btree_source(BTreeSearch s) { return tile_first(s.open); }

// Starts the search of the next lane, if `next`. Collective.
void btree_turn(inout BTreeSearch s, K key, BTreePlace start, bool next) {
    uint source = btree_source(s);
    K its_key = tile_shuffle(key, source);
    uvec2 its_start = tile_shuffle(uvec2(start.node, start.level), source);
    s.key = next ? its_key : s.key;
    s.node = next ? its_start.x : s.node;
    s.level = next ? its_start.y : s.level;
}

// Starts a search for the keys of the enabled lanes; btree_go_on does its steps. Collective.
BTreeSearch btree_search(K key, BTreePlace start, bool enabled) {
    BTreeSearch s = BTreeSearch(tile_ballot(enabled), key, start.node, start.level, 0u, 0u, V(0u));
    btree_turn(s, key, start, true);
    return s;
}

// Visits the next inner node or leaf. Returns true if it is the leaf that the key belongs to: rank is then not 0 if the
// leaf has the key, and word is the value. Otherwise the search moves to the next node. Collective.
bool btree_go_on(BTree tree, inout BTreeSearch s, out uint rank, out V word) {
#ifdef VKDS_SNAPSHOT
    // If the leaf was changed after the snapshot, its version is read in its place.
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
        passed = passed && beside != SLAB_NULL;   // SLAB_NULL only if memory is damaged
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
        // The first half of a leaf decides if it has the key. That of an inner node decides if it has a separator above
        // the key, or ends with the last child; if the key is right of this child, the child's link leads there. The
        // key ~0 may be the empty key, in a leaf that is not the last one and that the search must pass.
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
    if (kept && (passed || newer)) {   // to the right, or on to the older version
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

// Finds each enabled lane's key: returns whether the tree has it, and sets value to its value or 0. Collective.
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

// Returns the leaf that each enabled lane's key belongs to, or one left of it if some nodes have no parent yet; other
// lanes get any node. `above` becomes the inner node that led there, or SLAB_NULL if `start` is the leaf. The leaf
// itself is not read. Collective.
uint btree_seek(BTree tree, BTreePlace start, K key, bool enabled, out uint above) {
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

// The same from a prefix index, or the root.
uint btree_seek(BTree tree, BTreePrefixIndex index, K key, bool enabled, out uint above) {
    return btree_seek(tree, btree_start(tree, index, key), key, enabled, above);
}

#endif
