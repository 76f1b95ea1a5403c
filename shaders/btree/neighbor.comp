// Finds the pair whose key is next to a query's: above it or below it, the key itself included or not.
//
// Down to a leaf as every search. There the nearest key is taken, of all that lie on the right side. If there is none,
// the search goes on in the next leaf: to the right by the link, to the left from the root with the key below the
// leaf's range. What is not done after so many nodes stays pending and keeps its place in out_keys.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"

// 1: the least key that is large enough; 0: the largest that is small enough
layout(constant_id = 17) const uint UPWARD = 1;

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    uvec2 keys;         // K a query
    uvec2 out_keys;     // K a query, out: 0 where there is none; of a pending query: the key to go on from
    uvec2 out_values;   // V a query, out: 0 where there is none
    uvec2 statuses;     // a byte a query, out: PENDING, FOUND or ABSENT; with `resume` also in
    uvec2 left;         // a word that the number of pending queries is added to
    Length count;
    uint strict;        // 1: the query's own key doesn't do
    uint resume;        // 1: go on with what is pending
    uint visits;        // of nodes, at which a query that has found nothing gives up for this time
};

// The key beside one, in the direction of the search. False: there is none.
#if VKDS_WIDE
bool step_on(inout K key) {
    bool end = key == K(UPWARD != 0u ? ~0u : 0u);
    if (!end) key = UPWARD != 0u ? VKDS_NEXT(key) : VKDS_BEFORE(key);
    return !end;
}
#else
bool step_on(inout uint key) {
    bool end = key == (UPWARD != 0u ? ~0u : 0u);
    key += end ? 0u : UPWARD != 0u ? 1u : ~0u;
    return !end;
}
#endif

const uint NONE = ~0u;

// What a lane's slot says: how far its key is from where the search is, and its other word, if that is nearer than what
// the lane has. Down the tree and downward, a slot is looked for up to the key; upward in a leaf, from the key on: flip
// is ~0 and 0. Distances from `nearest` on don't count: those beyond the end of the keys, and empty ones.
void look(P slot, K key, uint flip, bool is_slot, inout K nearest, inout V word) {
    K distance = VKDS_MINUS((slot.VKDS_KEY ^ flip), (key ^ flip));
    bool nearer = VKDS_BELOW(distance, nearest) && is_slot;
    nearest = nearer ? distance : nearest;
    word = nearer ? slot.VKDS_VALUE : word;
}

// Visits a node. nearest: the distance of the nearest slot, at least `none` where there is no slot on the right side.
// right: the key is above the node's high. Collective.
void visit(uint slab, K key, uint flip, K none, out K nearest, out V word, out bool right,
           out NodeHeader header) {
    Node n = VKDS_BTREE_NODE(tree, slab, true);
    header = btree_header(n);
    right = VKDS_ABOVE(key, header.high);
    nearest = none;
    word = V(0u);
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) look(n.pair[m], key, flip, btree_lane_has(m), nearest, word);
    [[unroll]] for (uint step = 1u; step < TILE; step <<= 1) {
        K other = subgroupShuffle(nearest, gl_SubgroupInvocationID ^ step);
        V its = subgroupShuffle(word, gl_SubgroupInvocationID ^ step);
        word = VKDS_BELOW(other, nearest) ? its : word;
        nearest = VKDS_LESSER(other, nearest);
    }
}

// The distance from which on none counts. Upward, an empty key ~0 is as far as a key can be, and one of 0, in the last
// leaf, is beyond that. Downward the only one met is that of the last leaf, 0, as far as a key can be from ~0.
K none_from(K key, uint flip) {
    if (flip == 0u) return key == K(~0u) ? VKDS_ONE : ~key;
    return VKDS_NEXT(VKDS_LESSER(key, VKDS_LAST_BUT_ONE));
}

void main() {
    uint n = invocation_index(), end = length_of(count);
    uint status = STATUS_PENDING;
    bool open = n < end;
    if (resume != 0u && open) {
        status = byte_load(statuses, n);
        open = status == STATUS_PENDING;
    }
    bool asked = open;
    K own_key = K(0u);
    if (open) own_key = VKDS_LOAD_AT(resume != 0u ? out_keys : keys, n);
    if (open && resume == 0u && strict != 0u && !step_on(own_key)) {
        open = false;
        status = STATUS_ABSENT;
    }
    BTreePlace start = btree_start(tree, index, own_key);
    BTreeSearch s = btree_search(own_key, start, open);
    K out_key = own_key;
    V value = V(0u);
    uint tried = 0u;
    while (subgroupAny(s.open != 0u)) {
        bool leaf = s.level == 0u;
        uint flip = UPWARD != 0u && leaf ? 0u : ~0u;
        // Only the last leaf has a distance of ~0 to tell apart; above it the key ~0 is taken for the one before.
        K key = leaf ? s.key : VKDS_LESSER(s.key, VKDS_LAST_BUT_ONE);
        K none = none_from(key, flip);
        K nearest;
        V word;
        bool right;
        NodeHeader header;
        visit(s.node, key, flip, none, nearest, word, right, header);
        bool hit = leaf && !right && VKDS_BELOW(nearest, none);
        bool miss = leaf && !right && !hit;
        // Where a leaf has nothing, the search goes on with the key beside its range.
        K on = UPWARD != 0u ? header.high : header.low;
        bool more = step_on(on);
        tried++;
        bool pending = !hit && (!miss || more) && tried >= visits;
        bool ends = (hit || miss && !more || pending) && s.open != 0u;
        bool mine = ends && btree_source(s) == tile_lane();
        if (mine) {
            status = hit ? STATUS_FOUND : pending ? STATUS_PENDING : STATUS_ABSENT;
            out_key = hit ? (UPWARD != 0u ? VKDS_PLUS(s.key, nearest) : VKDS_MINUS(s.key, nearest)) : miss ? on : s.key;
            value = word;
        }
        s.key = miss ? on : s.key;
        bool again = miss && UPWARD == 0u;
        bool side = right || miss && UPWARD != 0u;
        s.level -= !leaf && !right ? 1u : 0u;
        s.node = side && header.link != SLAB_NULL ? header.link : leaf ? s.node : right ? s.node : VKDS_REFERENCE(word);
        if (subgroupAny(again)) {
            BTreePlace root = btree_start(tree, index, on);
            s.node = again ? root.node : s.node;
            s.level = again ? root.level : s.level;
        }
        s.open &= ends ? s.open - 1u : ~0u;
        tried = ends ? 0u : tried;
        btree_turn(s, own_key, start, ends);
    }
    if (asked) {
        VKDS_STORE_AT(out_keys, n, status == STATUS_ABSENT ? K(0u) : out_key);
        VKDS_STORE_AT(out_values, n, status == STATUS_FOUND ? value : V(0u));
    }
    byte_store(statuses, n, end, status);
    uint pending = subgroupAdd(asked && status == STATUS_PENDING ? 1u : 0u);
    if (pending != 0u && gl_SubgroupInvocationID == 0u) atomic_add(left, pending);
}
