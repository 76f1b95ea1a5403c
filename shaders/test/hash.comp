// For test/shader: hash.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 inputs;    // one quad per invocation: a word to mix, a hash, the number to reduce it to, a bucket
    uvec2 ratios;    // one quad per invocation: the ratio of two tables' numbers of buckets, rounded down and up
    uvec2 outputs;   // one quad per invocation: mix, reduction, the bucket's first and last one in the other table
    uvec2 mixes;     // output: one word per invocation, the mix of its first two inputs
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec4 q = plain_load4(address_at(inputs, i, 4u));
    uvec4 ratio = plain_load4(address_at(ratios, i, 4u));
    uvec2 others = uvec2(hash_first_bucket(q.w, ratio.xy), hash_last_bucket(q.w, ratio.zw));
    plain_store4(address_at(outputs, i, 4u), uvec4(hash_mix(q.x), hash_reduce(q.y, q.z), others));
    plain_store_at(mixes, i, hash_mix(q.xy));
}
