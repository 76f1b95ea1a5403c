// Chooses the ranges of the parts, so that together they reach from the least to the greatest key of a sample. Also
// clears the counters of the parts. One workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "key_sample.glsl"
#include "partition.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 range;      // output, for partition_load
    uvec2 counters;   // 2^bits words
    uint bits;
    uint key_shift;
    Length length;
};

void main() {
    uint self = workgroup_lane(), n = length_of(length);
    for (uint i = self; i < 1u << bits; i += WORKGROUP) plain_store_at(counters, i, 0u);
    K low, high;
    key_sample(keys, n, key_shift, low, high);
    if (self == 0u) partition_store(range, Partition(low, n != 0u ? key_sample_shift(low, high, bits) : 0u, 0u));
}
