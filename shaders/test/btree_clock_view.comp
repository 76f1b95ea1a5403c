// For test/shader: btree_view_at of btree_clock.glsl, where a leaf changes between two steps of reading it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

uvec2 changing = uvec2(0u);
uint becomes = 0u;
uint fences = 0u;   // how many it takes until the word changes; 0: it stays

// An acquire fence, with the change before it.
void late_fence() {
    subgroupBarrier();
    if (fences == 1u) atomic_store(changing, becomes);
    fences -= min(fences, 1u);
    full_fence();
    subgroupBarrier();
}

#define acquire_fence late_fence
#include "btree_clock.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 changes;   // a quad a tile, whose leaf is the slab of the tile's number: the byte offset of a word, what it
                     // becomes, before which fence, and the snapshot's time
    uvec2 answers;   // a word an invocation: whether it was right
    uint count;
};

void main() {
    uint i = invocation_index(), slab = i / TILE, visits = 0u;
    bool busy = i < count;
    uvec4 change = uvec4(0u);
    if (busy) change = plain_load4(address_at(changes, slab, 4u));
    if (busy) changing = address_add(slab_address(tree.pool, slab), change.x);
    becomes = change.y;
    fences = change.z;
    Node n;
    NodeHeader header;
    bool right = btree_view_at(tree, slab, change.w, busy, 1u, visits, n, header);
    if (busy) plain_store(address_at(answers, i, 2u), right ? 1u : 0u);
}
