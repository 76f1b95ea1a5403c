// Finds keys, in a read-only phase of the table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 keys;     // one per query
    uvec2 values;   // output: one per query, 0 if the key is absent
    uvec2 found;    // output: one byte per query, 0 or 1
    Length count;
};

void main() {
    uint i = invocation_index(), n = length_of(count);
    bool enabled = i < n;
    K key = K(0u);
    if (enabled) key = VKDS_LOAD(address_at(keys, i, VKDS_SHIFT));
    V value;
    bool there = slab_hash_find(hash, key, enabled, value);
#ifndef VKDS_SLAB_KEYS
    if (enabled) VKDS_STORE(address_at(values, i, VKDS_SHIFT), value);
#endif
    byte_store(found, i, n, there ? 1u : 0u);
}
