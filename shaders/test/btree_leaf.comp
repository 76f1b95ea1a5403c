// For test/shader: a leaf that changes while a tile reads it, and how an operation continues with what it has read.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_operation.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 leaves;    // one leaf per invocation: the lanes of a tile read different ones, as if at different times
    uvec2 metas;     // two words per invocation: its leaf's meta when the tile begins to read, and when it ends
    uvec2 meetings;  // three quads per invocation: kind, again, seen, whole; the view's slot, room, version and value;
                     // the place's meta, unused
    uvec2 answers;   // two quads per invocation: whether the leaf was whole, step, status, slot; seen, value, again, 0
    uint count;
};

// Writes the leaf's meta. Collective.
void turn(uvec2 leaf, uint meta, bool enabled) {
    if (enabled) atomic_store(address_add(leaf, BTREE_META_AT), meta);
    full_fence();
}

void main() {
    uint i = invocation_index();
    bool enabled = i < count;
    uvec2 leaf = address_at(leaves, i, NODE_SHIFT), meta = uvec2(0u);
    uvec4 task = uvec4(0u), seen = uvec4(0u);
    uint at = 0u;
    if (enabled) {
        meta = plain_load2(address_at(metas, i, 3u));
        task = plain_load4(address_at(meetings, 3u * i, 4u));
        seen = plain_load4(address_at(meetings, 3u * i + 1u, 4u));
        at = plain_load(address_at(meetings, 3u * i + 2u, 4u));
    }
    turn(leaf, meta.x, enabled);
    uint began = leaf_begin(leaf, enabled);
    turn(leaf, meta.y, enabled);
    bool whole = leaf_end(leaf, enabled, began);

    BTreeOperation o = btree_operation(task.x, K(0u), V(0u), enabled, BTreeHint(0u, 0u));
    o.again = task.y != 0u;
    o.seen = task.z;
    btree_meet_leaf(o, task.x, LeafPlace(false, false, at, SLAB_NULL),
                    LeafView(seen.x, VKDS_VALUE_OF(seen.w), seen.y, seen.z), task.w != 0u);
    if (enabled) {
        uvec2 answer = address_at(answers, i, 5u);
        plain_store4(answer, uvec4(whole ? 1u : 0u, o.step, o.status, o.slot));
        plain_store4(address_add(answer, 16u), uvec4(o.seen, VKDS_REFERENCE(o.value), o.again ? 1u : 0u, 0u));
    }
}
