// For test/shader: bloom_filter.glsl, at both widths.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "bloom_filter.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BloomFilter bloom;
    uvec2 keys;     // one per invocation
    uvec2 hashes;   // output: one pair per invocation
    uvec2 found;    // output: one word per invocation, 0 or 1
    uint count;
    uint inserts;   // 1: the keys are inserted; 0: they are looked up
};

void main() {
    uint i = invocation_index();
    K key = K(0u);
    if (i < count) key = VKDS_LOAD(address_at(keys, i, VKDS_SHIFT));
    if (inserts != 0u) bloom_filter_insert(bloom, key, i < count);
    if (inserts != 0u || i >= count) return;
    plain_store2(address_at(hashes, i, 3u), bloom_filter_hash(key));
    plain_store(address_at(found, i, 2u), bloom_filter_contains(bloom, key) ? 1u : 0u);
}
