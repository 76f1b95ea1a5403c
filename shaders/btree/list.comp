// Lists the nodes of some levels, in no order, while nobody changes the tree: the least key that each is for, and its
// slab.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_node.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 lows;       // out
    uvec2 slabs;      // out
    uvec2 listed;     // out: how many there are; 0 before
    uint levels;      // a bit a level
    uint capacity;    // that there is room for: more are only counted
    uint first;       // number of the first slab
    uint count;
};

// An invocation has a slab. The root is not listed.
void main() {
    uint i = invocation_index();
    uint slab = pool_slab(first + i);
    bool there = i < count && first + i != BTREE_ROOT && pool_holds(tree.pool, slab);
    uvec2 header = uvec2(0u);   // meta, low
    if (there) header = plain_load2(address_add(slab_address(tree.pool, slab), BTREE_META_AT));
    uvec4 wanted = subgroupBallot(there && (levels >> btree_level(header.x) & 1u) != 0u);
    uint at = 0u;
    if (subgroupElect()) at = atomic_add(listed, subgroupBallotBitCount(wanted));
    at = subgroupBroadcastFirst(at) + subgroupBallotExclusiveBitCount(wanted);
    if (subgroupInverseBallot(wanted) && at < capacity) {
        plain_store_at(lows, at, header.y);
        plain_store_at(slabs, at, slab);
    }
}
