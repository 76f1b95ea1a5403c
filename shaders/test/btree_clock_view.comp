// For test/shader: btree_view_at of btree_clock.glsl, if a leaf changes between two steps of reading it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

uvec2 changing = uvec2(0u);
uint becomes = 0u;
uint fences = 0u;   // the number of fences until the word changes; 0: it doesn't change

// An acquire fence, after the change if that is due.
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
    uvec2 changes;   // one quad per tile, which reads the slab with its own number: the byte offset of a word, its new
                     // value, before which fence it changes, and the snapshot's time
    uvec2 answers;   // one word per invocation: whether the view was right
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
