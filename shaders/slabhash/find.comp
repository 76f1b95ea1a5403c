// Finds keys while nobody changes the table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 keys;     // uint32 a query
    uvec2 values;   // uint32 a query, out: 0 where the key is absent
    uvec2 found;    // a byte a query, out: 0 or 1
    Length count;
};

void main() {
    uint i = invocation_index(), n = length_of(count);
    bool enabled = i < n;
    uint key = 0u;
    if (enabled) key = plain_load(address_at(keys, i, 2u));
    uint value;
    bool there = slab_hash_find(hash, key, enabled, value);
#ifndef VKDS_SLAB_KEYS
    if (enabled) plain_store(address_at(values, i, 2u), value);
#endif
    byte_store(found, i, n, there ? 1u : 0u);
}
