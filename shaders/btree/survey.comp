// Counts the nodes and slots of a tree, level by level, in a read-only phase.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "listed.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    Listed listed;
    uvec2 rows;   // output, 0 before
};

// There are several rows, so that subgroups don't contend for one. The host adds them up.
const uint ROWS = 64u;
const uint ROW_SHIFT = 8u;     // 256 bytes per row. It begins with two words per level: nodes, and slots in use
const uint ERASED_AT = 128u;   // erased slots of leaves
const uint BEYOND_AT = 160u;   // one word per level: slots in use or erased in the second halves of nodes (leastShare)
const uint SHARE = BTREE_SLOTS / 2u;

// Adds up listed node i of each lane, if it is there. Collective over the subgroup.
void survey(uint i, bool there, uint inner) {
    uint slab = tree.root;
    if (there) slab = listed_slab(listed, inner, i);
    uvec2 node = slab_address(tree.pool, slab);
    VKDS_HEADER header = VKDS_NO_HEADER;
    if (there) header = VKDS_HEADER_LOAD(plain_load4, node);
    uint level = btree_level(header.VKDS_META), used = 0u, erased = 0u;
    P before = P(0u);
    [[dont_unroll]] for (uint q = 0u; q < BTREE_SLOTS / VKDS_QUAD_SLOTS; q++) {
        uvec4 v = uvec4(0u);
        if (there) v = plain_load4(address_add(node, q * 16u));
#if VKDS_WIDE
        if (level == 0u ? btree_live(v.VKDS_KEY, header.high) : q == 0u || v != before) used++;
        before = v;
#else
        if (level == 0u) {
            bool a = btree_live(v.x, header.z), b = btree_live(v.z, header.z);
            used += (a ? 1u : 0u) + (b ? 1u : 0u);
            erased += (!a && v.y == BTREE_ERASED ? 1u : 0u) + (!b && v.w == BTREE_ERASED ? 1u : 0u);
        } else {
            used += (q == 0u || v.xy != before ? 1u : 0u) + (v.zw != v.xy ? 1u : 0u);
            before = v.zw;
        }
#endif
    }
    bool leaf = there && level == 0u;
    uint leaves = subgroupAdd(leaf ? 1u : 0u), pairs = subgroupAdd(leaf ? used : 0u);
    uint all_erased = subgroupAdd(leaf ? erased : 0u), beyond = max(used + erased, SHARE) - SHARE;
    uint all_beyond = subgroupAdd(leaf ? beyond : 0u);
    uvec2 row = address_at(rows, hash_mix(i / gl_SubgroupSize) & (ROWS - 1u), ROW_SHIFT);
    if (leaves != 0u && subgroupElect()) {
        atomic_add(row, leaves);
        atomic_add(address_add(row, 4u), pairs);
        if (all_erased != 0u) atomic_add(address_add(row, ERASED_AT), all_erased);
        atomic_add(address_add(row, BEYOND_AT), all_beyond);
    }
    if (there && level != 0u) {
        atomic_add(address_add(row, 8u * level), 1u);
        atomic_add(address_add(row, 8u * level + 4u), used);
        atomic_add(address_add(row, BEYOND_AT + 4u * level), beyond);
    }
}

// Each invocation counts nodes, one after another.
void main() {
    uint inner = listed_inner(listed), nodes = inner + listed_leaves(listed);
    uint all = gl_NumWorkGroups.x * gl_NumWorkGroups.y * WORKGROUP;
    for (uint i = invocation_index(); subgroupAny(i < nodes); i += all) survey(i, i < nodes, inner);
}
