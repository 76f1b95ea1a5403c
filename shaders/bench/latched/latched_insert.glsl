// Insertion into the latched tree (Awad et al. 2019, algorithm 2), and what its papers' variants differ in:
//
//   LINKS   1: a B-link-tree. Ways down pass latched nodes, and who comes too far to the left goes on by side links.
//           0: Duong's B+tree. Who meets a latched node, or one that is no longer for the key, begins again at the root
//   WAIT    what an operation does that doesn't get a latch. WAIT_RESTART: it goes back to its last parent, without
//           side links to the root. WAIT_SPIN: it looks at the node again and tries again in the next round.
//           WAIT_BACKOFF: the same after a pause of its tile, of 2 rounds at first and twice as many each time
//
// In both trees who splits a node holds its latch and its parent's. Nothing waits within a round: latches are tried,
// and those that were got are released in the same round.
#ifndef VKDS_LATCHED_INSERT_GLSL
#define VKDS_LATCHED_INSERT_GLSL

#include "latched_node.glsl"
#include "results.glsl"

layout(constant_id = 17) const uint LINKS = 1;
layout(constant_id = 18) const uint WAIT = 0;

const uint WAIT_RESTART = 0u;
const uint WAIT_BACKOFF = 1u;
const uint WAIT_SPIN = 2u;
const uint LONGEST_BACKOFF = 8u;   // log2 of rounds

bool try_latch(LatchedTree tree, uint node) { return (atomic_or(meta_address(tree, node), 1u) & 1u) == 0u; }
void unlatch(LatchedTree tree, uint node) { atomic_and(meta_address(tree, node), ~1u); }

void store_slot(LatchedTree tree, uint node, uint slot, uvec2 pair) {
    coherent_store2(slot_address(tree, node, slot), pair);
}

// Puts a pair at a place in a latched node that has room, which moves those behind it. By all lanes of a tile.
void node_put(LatchedTree tree, uint node, View v, uint place, uvec2 pair) {
    [[unroll]] for (uint j = 0u; j < STEPS; j++) {
        uint slot = 2u * quad_index(j);
        bool slots = slot < SLOTS;
        if (slots && slot >= place && v.quad[j].x != NONE) store_slot(tree, node, slot + 1u, v.quad[j].xy);
        if (slots && slot + 1u >= place && v.quad[j].z != NONE) store_slot(tree, node, slot + 2u, v.quad[j].zw);
    }
    if (tile_lane() == 0u) store_slot(tree, node, place, pair);
}

// How a full node is split.
struct Split {
    uint keeps;       // slots of the left node
    uint separator;
    uint left;        // the node itself, or of the root a new one
    uint right;
    uint place;       // of a leaf: where the new pair comes among the others; of an inner node: behind all of them
};

// Where slot `slot` of the node goes.
void split_slot(LatchedTree tree, uint node, Split s, uint slot, uvec2 pair) {
    uint to = slot + (slot >= s.place ? 1u : 0u);
    if (to >= s.keeps) store_slot(tree, s.right, to - s.keeps, pair);
    else if (s.left != node || to != slot) store_slot(tree, s.left, to, pair);
    if (s.left != node ? slot > 1u : slot >= s.keeps) store_slot(tree, node, slot, uvec2(NONE));
}

// Writes all of a split but what makes the new nodes known. They are latched. By all lanes of a tile.
void node_split(LatchedTree tree, uint node, View v, Fence f, Split s, uvec2 pair) {
    [[unroll]] for (uint j = 0u; j < STEPS; j++) {
        uint slot = 2u * quad_index(j);
        if (slot < SLOTS) {
            split_slot(tree, node, s, slot, v.quad[j].xy);
            split_slot(tree, node, s, slot + 1u, v.quad[j].zw);
        }
    }
    if (tile_lane() == 0u) {
        if (s.place < s.keeps) store_slot(tree, node, s.place, pair);
        else if (s.place <= SLOTS) store_slot(tree, s.right, s.place - s.keeps, pair);
        coherent_store4(meta_address(tree, s.right), uvec4(f.meta | 1u, s.separator, f.high, f.link));
        uvec4 fence = uvec4(f.meta | 1u, f.low, s.separator - 1u, LINKS != 0u ? s.right : NONE);
        if (s.left != node) coherent_store4(meta_address(tree, s.left), fence);
    }
}

// Inserts (key, value), or assigns the value to a key that is there. Returns STATUS_INSERTED or STATUS_ASSIGNED;
// STATUS_PENDING where so many rounds (visits of nodes by the tile) did not do or the nodes are used up. Collective
// over the subgroup.
uint latched_insert(LatchedTree tree, uint key, uint value, bool enabled, uint rounds) {
    uint status = STATUS_PENDING;
    bool busy = enabled;
    uint node = ROOT, above = NONE;        // where the operation is, and the node that led there
    uint failures = 0u, wake = 0u;
    for (uint round = 0u; subgroupAny(busy) && round < rounds; round++) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        bool pauses = tile_shuffle(wake, source) > round;
        uint k = tile_shuffle(key, source), val = tile_shuffle(value, source);
        uint at = tile_shuffle(node, source), from = tile_shuffle(above, source);
        bool standing = false, splitting = false;   // before the latch of `at`, and of its parent, too
        bool refused = false;

        // Down to a leaf, or to a node that is full.
        bool walking = queue != 0u && !pauses;
        for (; subgroupAny(walking) && round < rounds; round++) {
            View v = view_beside(tree, at, walking);
            Fence f = view_fence(v);
            uint place = view_below(v, k + 1u);
            uvec2 last = view_slot(v, max(place, 1u) - 1u);
            bool full = view_full(v), leaf = level_of(f.meta) == 0u;
            if (walking && LINKS == 0u && latched(f.meta)) {
                refused = true;
                walking = false;
            } else if (walking && (k < f.low || k > f.high)) {
                bool right = LINKS != 0u && k > f.high && f.link < tree.capacity;
                at = right ? f.link : ROOT;
                from = right ? from : NONE;
            } else if (walking && (leaf || full)) {
                standing = true;
                splitting = full && !(leaf && last.x == k);
                walking = false;
            } else if (walking) {
                bool down = place != 0u && last.y < tree.capacity;
                from = down ? at : NONE;
                at = down ? last.y : ROOT;
            }
        }

        bool root = at == ROOT, parent = standing && splitting && !root;
        if (parent && from == NONE) {   // the way from the root down will tell
            at = ROOT;
            standing = false;
            parent = false;
        }
        if (subgroupAny(standing)) {
            bool got = false;
            if (standing && tile_lane() == 0u) {
                got = try_latch(tree, at);
                if (got && parent && !try_latch(tree, from)) {
                    unlatch(tree, at);
                    got = false;
                }
            }
            got = tile_ballot(got) != 0u;
            refused = refused || (standing && !got);
            acquire_fence();

            View v = view_beside(tree, at, got), p = view_beside(tree, from, got && parent);
            Fence f = view_fence(v), above_fence = view_fence(p);
            uint place = view_below(v, k);
            uvec2 there = view_slot(v, min(place, SLOTS - 1u));
            bool full = view_full(v), above_full = view_full(p), leaf = level_of(f.meta) == 0u;
            bool right_one = got && k >= f.low && k <= f.high;
            bool assigns = right_one && leaf && there.x == k;
            bool inserts = right_one && leaf && there.x != k && !full;
            bool true_parent = parent && f.low >= above_fence.low && f.low <= above_fence.high
                               && level_of(above_fence.meta) == level_of(f.meta) + 1u;   // the root's may have risen
            bool split = right_one && full && !assigns && (root || (true_parent && !above_full));

            uint fresh = NONE;
            if (split && tile_lane() == 0u) fresh = atomic_add(tree.used, root ? 2u : 1u);
            fresh = tile_shuffle(fresh, 0u);
            bool used_up = split && fresh >= tree.capacity - (root ? 1u : 0u);
            split = split && !used_up;

            Split s;
            s.keeps = leaf ? SLOTS / 2u + 1u : SLOTS / 2u;
            s.place = leaf ? place : SLOTS + 1u;
            uint middle = view_slot(v, s.keeps - (s.place < s.keeps ? 1u : 0u)).x;
            s.separator = s.place == s.keeps ? k : middle;
            s.left = root ? fresh : at;
            s.right = root ? fresh + 1u : fresh;
            uint above_place = view_below(p, s.separator);
            if (subgroupAny(split)) {
                if (split) node_split(tree, at, v, f, s, uvec2(k, val));
                release_fence();
                if (split && root && tile_lane() == 0u) {
                    store_slot(tree, at, 0u, uvec2(f.low, s.left));
                    store_slot(tree, at, 1u, uvec2(s.separator, s.right));
                } else if (split && !root) {
                    uvec2 high = uvec2(s.separator - 1u, LINKS != 0u ? s.right : NONE);   // and the link
                    if (tile_lane() == 0u) coherent_store2(address_add(node_address(tree, at), HIGH_AT), high);
                    node_put(tree, from, p, above_place, uvec2(s.separator, s.right));
                }
            }
            if (inserts) node_put(tree, at, v, place, uvec2(k, val));
            if (assigns && tile_lane() == 0u) store_slot(tree, at, place, uvec2(k, val));
            release_fence();
            got = tile_ballot(got) != 0u;   // no lane releases before all have written
            if (got && tile_lane() == 0u) {
                if (split && root) atomic_store(meta_address(tree, at), (f.meta & ~1u) + 2u);   // a level higher
                else unlatch(tree, at);
                if (parent) unlatch(tree, from);
                if (split) unlatch(tree, s.right);
                if (split && root) unlatch(tree, s.left);
            }

            bool done = assigns || inserts || (split && leaf);
            if (tile_lane() == source && done) status = assigns ? STATUS_ASSIGNED : STATUS_INSERTED;
            if (tile_lane() == source && (done || used_up)) busy = false;
            if (got) {   // where it goes on, if it isn't done
                if (!right_one) {
                    bool right = LINKS != 0u && k > f.high;
                    at = right ? f.link : ROOT;
                } else if (split) {
                    from = root ? ROOT : from;
                    at = k < s.separator ? s.left : s.right;
                } else if (parent && full) {
                    // A parent that is no longer this node's is left of the one that is; a full one needs its own.
                    at = LINKS != 0u && !true_parent ? from : ROOT;
                    from = NONE;
                }
            }
        }

        if (refused && WAIT == WAIT_RESTART) {
            at = LINKS != 0u && from != NONE ? from : ROOT;
            from = NONE;
        }
        if (queue != 0u && !pauses && tile_lane() == source) {
            node = at;
            above = from;
            failures = refused ? min(failures + 1u, LONGEST_BACKOFF) : 0u;
            wake = refused && WAIT == WAIT_BACKOFF ? round + (1u << failures) : 0u;
        }
    }
    return status;
}

#endif
