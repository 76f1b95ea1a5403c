// Finds the pair next to each query's key, above or below it. Without `strict` the key itself counts, too.
//
// The search goes down to a leaf like any other, and takes the nearest key there on the right side. If there is none,
// it goes on in the next leaf: to the right by the link, to the left from the root with the key before the leaf's
// range. If the visits are used up, a query stays pending, and out_keys has the key to continue from.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"

// 1: find the least key from the query on; 0: the greatest key up to it
layout(constant_id = 17) const uint UPWARD = 1;

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    uvec2 keys;         // K per query
    uvec2 out_keys;     // output: K per query, 0 if there is none; if pending, the key to continue from
    uvec2 out_values;   // output: V per query, 0 if there is none
    uvec2 statuses;     // output, with `resume` also input: one byte per query, PENDING, FOUND or ABSENT
    uvec2 left;         // counts the pending queries
    Length count;
    uint strict;        // 1: the query's own key does not count
    uint resume;        // 1: continue the pending queries
    uint visits;        // nodes that a query may visit without finding a pair
};

// Moves the key to the next one in the direction of the search. Returns false if there is none.
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

// Compares the distance of a slot's key from the search's key with the least one so far, and keeps the slot's value if
// it is less. In inner nodes, and in leaves if the search goes down, keys up to the search's key count, and flip is ~0.
// In leaves, if the search goes up, keys from it on count, and flip is 0. Keys on the wrong side and empty ones don't
// count, because their distances are not below the first value of `nearest` (see none_from).
void look(P slot, K key, uint flip, bool is_slot, inout K nearest, inout V word) {
    K distance = VKDS_MINUS((slot.VKDS_KEY ^ flip), (key ^ flip));
    bool nearer = VKDS_BELOW(distance, nearest) && is_slot;
    nearest = nearer ? distance : nearest;
    word = nearer ? slot.VKDS_VALUE : word;
}

// Visits a node. `nearest` becomes the distance of the nearest slot; it is not below `none` if no slot is on the right
// side. `right` tells whether the key is above the node's high. Collective.
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

// The distance from which on slots don't count. Upward, the empty key ~0 is at the greatest distance, and the empty key
// 0 of the last leaf beyond it. Downward, the empty key ~0 is on the wrong side, and the empty key 0 of the last leaf
// is at the greatest distance from ~0.
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
        // Only the last leaf must distinguish a distance of ~0. Above it, the key ~0 is searched as the one before.
        K key = leaf ? s.key : VKDS_LESSER(s.key, VKDS_LAST_BUT_ONE);
        K none = none_from(key, flip);
        K nearest;
        V word;
        bool right;
        NodeHeader header;
        visit(s.node, key, flip, none, nearest, word, right, header);
        bool hit = leaf && !right && VKDS_BELOW(nearest, none);
        bool miss = leaf && !right && !hit;
        // If a leaf has no such pair, the search goes on with the key next to its range.
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
