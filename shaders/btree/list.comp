// Lists the nodes of a tree, in a read-only phase, from its root on. Each dispatch does a depth: it lists the children
// of the nodes of the last depth, and, along the side links, the nodes to their right that have no parent yet.
//
// A child is listed if it is what its parent says: one level down, and for the keys from its separator on. A right
// neighbour is listed if it begins right after the end of the node to its left. So ranges follow one another, and no
// cycle of links is followed forever. A node that is not as it should be is left out and counted.
//
// With ANY, nodes are listed whatever they contain, each of them once, and leaves are among the others.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "listed.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint ANY = 0;

layout(push_constant, std430) uniform Push {
    BTree tree;
    Listed listed;
    uvec2 marks;   // with ANY: one word per slab of the pool, bit 31 is set if it is listed
    uint depth;    // the depth of the nodes to list
};

const uint LANES = 16u;   // per node
const uint MARK = 1u << 31;

// A child of a node, and the range of keys for which the node has it.
struct Branch {
    uint child;
    K low;
    K high;
};

// Branch number `slot` of a node. Returns false if there is none. If no valid tree can have the branch, it is counted,
// too.
bool branch_of(uint slab, uint slot, uint level, out Branch b) {
    uvec2 node = slab_address(tree.pool, slab);
    NodeHeader header = node_header(tree.pool, slab);
    P before = VKDS_SLOT_LOAD(btree_slot(node, max(slot, 1u) - 1u));
    P own = VKDS_SLOT_LOAD(btree_slot(node, slot));
    P behind = VKDS_SLOT_LOAD(btree_slot(node, min(slot + 1u, BTREE_SLOTS - 1u)));
    b = Branch(own.VKDS_CHILD, own.VKDS_KEY, behind == own ? header.high : VKDS_BEFORE(behind.VKDS_KEY));
    if (ANY != 0u ? btree_level(header.meta) == 0u : false) return false;
    if (slot != 0u && own == before) return false;
    bool right = slot == 0u ? b.low == header.low : VKDS_ABOVE(b.low, header.low);
    right = right && VKDS_UP_TO(b.low, b.high) && VKDS_UP_TO(b.high, header.high)
        && (behind == own || behind.VKDS_KEY != K(0u));
    if (ANY != 0u || right) return true;
    atomic_add(address_at(listed.counts, LISTED_BROKEN, 2u), 1u);
    return false;
}

// Whether a node is the next one of a branch, and should be listed.
bool is_next(uint slab, NodeHeader header, Branch b, uint level) {
    if (ANY != 0u) return (atomic_or(address_at(marks, pool_number(slab), 2u), MARK) & MARK) == 0u;
    return btree_level(header.meta) == level && header.low == b.low && VKDS_UP_TO(header.low, header.high)
        && VKDS_UP_TO(header.high, b.high);
}

// Lists each lane's node, if it `has` one. Collective over the subgroup.
void list_nodes(uint slab, K low, bool has, uint first, bool leaves) {
    uvec4 all = subgroupBallot(has);
    uint at = 0u;
    if (subgroupElect()) {
        uint counter = leaves ? LISTED_LEAVES : depth;
        at = atomic_add(address_at(listed.counts, counter, 2u), subgroupBallotBitCount(all));
    }
    at = subgroupBroadcastFirst(at) + subgroupBallotExclusiveBitCount(all);
    if (has && leaves && at < listed.leaves_most) {
        VKDS_STORE_AT(listed.lows, at, low);
        plain_store_at(listed.leaves, at, slab);
    }
    if (has && !leaves && at < listed.inner_most - min(first, listed.inner_most))
        plain_store_at(listed.inner, first + at, slab);
}

void list_root() {
    if (invocation_index() != 0u || !pool_holds(tree.pool, tree.root)) return;
    NodeHeader header = node_header(tree.pool, tree.root);
    uint level = btree_level(header.meta);
    bool root = level != 0u && is_next(tree.root, header, Branch(tree.root, K(0u), K(~0u)), level)
        && header.high == K(~0u);
    if (ANY == 0u && !root) return;
    plain_store_at(listed.counts, LISTED_HEIGHT, level);
    plain_store_at(listed.counts, 0u, 1u);
    if (listed.inner_most != 0u) plain_store_at(listed.inner, 0u, tree.root);
}

void main() {
    if (depth == 0u) {
        list_root();
        return;
    }
    uint before = listed_before(listed, depth - 1u), parents = plain_load_near(listed.counts, depth - 1u);
    uint first = before + parents;   // the index of the first node of this depth
    uint level = plain_load_near(listed.counts, LISTED_HEIGHT) - depth;
    parents = min(parents, listed.inner_most - min(before, listed.inner_most));
    bool leaves = ANY == 0u && level == 0u;
    uint all = gl_NumWorkGroups.x * gl_NumWorkGroups.y * WORKGROUP;
    for (uint i = invocation_index(); subgroupAny(i < parents * LANES); i += all) {
        Branch b = Branch(0u, K(0u), K(0u));
        uint slot = i & (LANES - 1u);
        bool busy = i < parents * LANES && slot < BTREE_SLOTS;
        if (busy) busy = branch_of(plain_load_at(listed.inner, before + i / LANES), slot, level, b);
        for (uint steps = tree.pool.blocks << 10; subgroupAny(busy) && steps != 0u; steps--) {
            NodeHeader header = NodeHeader(0u, K(0u), K(0u), 0u);
            bool has = busy && (ANY != 0u ? pool_holds(tree.pool, b.child) : pool_has(tree.pool, b.child));
            if (has) header = node_header(tree.pool, b.child);
            if (has) has = is_next(b.child, header, b, level);
            list_nodes(b.child, header.low, has, first, leaves);
            if (ANY == 0u && busy && !has) atomic_add(address_at(listed.counts, LISTED_BROKEN, 2u), 1u);
            busy = has && header.high != b.high;
            b = Branch(header.link, VKDS_NEXT(header.high), b.high);
        }
    }
}
