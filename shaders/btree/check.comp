// Checks every node of a tree, in a read-only phase, by the rules of docs/design/btree.md.
//
// The nodes are those that list.comp finds from the root on. The first pass checks each node, and the nodes that it
// refers to: its children and its right neighbour. Each of these gets a mark. The second pass checks the marks. Lows
// only rise along links. So if all nodes of a level but the first have one left neighbour each, the level is one chain.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "listed.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint MARKS = 0;   // 1: the second pass

layout(push_constant, std430) uniform Push {
    BTree tree;
    Listed listed;   // all nodes are among its inner ones
    uvec2 report;
    uvec2 marks;     // one word per slab, 0 before except bit 31: the number of parents, and from bit 16 on the number
                     // of left neighbours
};

// The report: for each rule a word, how often it is broken; then for each rule a word, the least number of a slab that
// breaks it; and then:
const uint RULES = 16u;
const uint REPORT_STARTS_AT = 128u;   // one word per level: the number of nodes that begin at key 0
const uint REPORT_HEIGHT_AT = 192u;   // the root's level
const uint REPORT_ORPHANS_AT = 196u;  // the number of nodes without a parent

// Rules, in the order of btree.rules in Go.
const uint ROOT = 0u;
const uint LATCHED = 1u;
const uint RANGE = 2u;
const uint KEY_OUTSIDE = 3u;
const uint KEY_TWICE = 4u;
const uint FREE_SLOT = 5u;
const uint LAST_LEAF = 6u;
const uint SEPARATORS = 7u;
const uint CHILD_NONE = 8u;
const uint CHILD_LEVEL = 9u;
const uint CHILD_LOW = 10u;
const uint NEIGHBOR_NONE = 11u;
const uint NEIGHBOR_LEVEL = 12u;
const uint NEIGHBOR_LOW = 13u;
const uint NEIGHBORS = 14u;
const uint PARENTS = 15u;

uint number;   // the number of this invocation's slab

void check(uint rule, bool holds) {
    if (holds) return;
    atomic_add(address_at(report, rule, 2u), 1u);
    // The minimum is by compare-and-swap, because not every driver's atomic minimum is atomic. A swap fails only if
    // another invocation has lowered the word, so the loop ends.
    uvec2 least = address_at(report, RULES + rule, 2u);
    for (uint round = tree.pool.blocks << 10; round != 0u; round--) {
        uint now = atomic_load(least);
        if (now <= number || atomic_cas(least, now, number) == now) return;
    }
}

void check_leaf(P pair[BTREE_SLOTS], NodeHeader f) {
    check(LAST_LEAF, f.high != K(~0u) || f.low == K(~0u));
    [[dont_unroll]] for (uint i = 0u; i < BTREE_SLOTS; i++) {
        bool live = btree_live(pair[i].VKDS_KEY, f.high);
        check(KEY_OUTSIDE, !live || VKDS_FROM(pair[i].VKDS_KEY, f.low) && VKDS_UP_TO(pair[i].VKDS_KEY, f.high));
#if VKDS_WIDE
        check(FREE_SLOT, live || pair[i].VKDS_VALUE == V(0u));
#else
        check(FREE_SLOT, live || pair[i].y == BTREE_ERASED || (pair[i].y & 1u) == 0u);
#endif
        bool twice = false;
        [[dont_unroll]] for (uint j = 0u; j < i; j++) twice = twice || live && pair[j].VKDS_KEY == pair[i].VKDS_KEY;
        check(KEY_TWICE, !twice);
    }
}

void check_inner(P pair[BTREE_SLOTS], NodeHeader f) {
    bool ended = false, sorted = pair[0].VKDS_KEY == f.low;
    [[dont_unroll]] for (uint i = 0u; i < BTREE_SLOTS; i++) {
        bool repeats = i != 0u && pair[i] == pair[max(i, 1u) - 1u];
        if (i != 0u && !repeats) {
            sorted = sorted && !ended && VKDS_ABOVE(pair[i].VKDS_KEY, pair[max(i, 1u) - 1u].VKDS_KEY);
        }
        ended = ended || repeats;
        if (repeats) continue;
        bool there = pool_holds(tree.pool, pair[i].VKDS_CHILD);
        check(CHILD_NONE, there);
        if (!there) continue;
        NodeHeader child = node_header(tree.pool, pair[i].VKDS_CHILD);
        check(CHILD_LEVEL, btree_level(child.meta) + 1u == btree_level(f.meta));
        check(CHILD_LOW, child.low == pair[i].VKDS_KEY);
        atomic_add(address_at(marks, pool_number(pair[i].VKDS_CHILD), 2u), 1u);
    }
    check(SEPARATORS, sorted && VKDS_UP_TO(pair[BTREE_SLOTS - 1u].VKDS_KEY, f.high));
}

void check_node(uint slab) {
    uvec2 node = slab_address(tree.pool, slab);
    NodeHeader f = node_header(tree.pool, slab);
    P pair[BTREE_SLOTS];
    [[dont_unroll]] for (uint i = 0u; i < BTREE_SLOTS; i++) pair[i] = VKDS_SLOT_LOAD(btree_slot(node, i));
    check(LATCHED, !btree_latched(f.meta));
    check(RANGE, VKDS_UP_TO(f.low, f.high));
    if (slab == tree.root) {
        check(ROOT, btree_level(f.meta) != 0u && f.low == K(0u) && f.high == K(~0u) && f.link == SLAB_NULL);
        plain_store(address_add(report, REPORT_HEIGHT_AT), btree_level(f.meta));
    }
    if (btree_level(f.meta) == 0u) check_leaf(pair, f);
    else check_inner(pair, f);
    if (f.link == SLAB_NULL) {
        check(NEIGHBOR_NONE, f.high == K(~0u));
        return;
    }
    bool there = pool_holds(tree.pool, f.link);
    check(NEIGHBOR_NONE, there);
    if (!there) return;
    NodeHeader right = node_header(tree.pool, f.link);
    check(NEIGHBOR_LEVEL, btree_level(right.meta) == btree_level(f.meta));
    check(NEIGHBOR_LOW, f.high != K(~0u) && right.low == VKDS_NEXT(f.high));
    atomic_add(address_at(marks, pool_number(f.link), 2u), 1u << 16);
}

void check_marks(uint slab) {
    NodeHeader f = node_header(tree.pool, slab);
    uint mark = plain_load(address_at(marks, number, 2u));
    uint parents = mark & 0xffffu, left = mark >> 16 & 0x7fffu;
    check(NEIGHBORS, left == (f.low == K(0u) ? 0u : 1u));
    if (f.low == K(0u)) atomic_add(address_add(report, REPORT_STARTS_AT + 4u * btree_level(f.meta)), 1u);
    check(PARENTS, parents <= (slab == tree.root ? 0u : 1u));
    if (parents == 0u && slab != tree.root) atomic_add(address_add(report, REPORT_ORPHANS_AT), 1u);
}

// Each invocation checks nodes, one after another.
void main() {
    uint nodes = listed_inner(listed), all = gl_NumWorkGroups.x * gl_NumWorkGroups.y * WORKGROUP;
    number = pool_number(tree.root);
    if (MARKS == 0u && invocation_index() == 0u) check(ROOT, pool_holds(tree.pool, tree.root));
    for (uint i = invocation_index(); i < nodes; i += all) {
        uint slab = plain_load_at(listed.inner, i);
        if (!pool_has(tree.pool, slab)) continue;   // only damaged memory has a reference that is not valid
        number = pool_number(slab);
        if (MARKS == 0u) check_node(slab);
        else check_marks(slab);
    }
}
