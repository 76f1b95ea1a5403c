// Chooses the parts of a partition: so wide that they reach from the least to the greatest of some keys. One workgroup.
// Also clears the parts' counters.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "number_subgroup.glsl"
#include "partition.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 range;      // out: what partition_load reads
    uvec2 counters;   // 2^bits words
    uint bits;
    uint key_shift;
    Length length;
};

const uint SAMPLES = 16u;   // of a lane, at most

shared K least[WORKGROUP / 4u];   // of each subgroup; none has fewer than 4 lanes
shared K greatest[WORKGROUP / 4u];

void main() {
    uint self = workgroup_lane(), n = length_of(length);
    for (uint i = self; i < 1u << bits; i += WORKGROUP) plain_store_at(counters, i, 0u);
    K low = K(~0u), high = K(0u);
    if (n != 0u) {
        // Spread over all of the array: it may be in some order.
        uint step = (n - 1u) / (WORKGROUP * SAMPLES) + 1u;
        [[unroll]] for (uint j = 0u; j < SAMPLES; j++) {
            K key = partition_key(keys, min((j * WORKGROUP + self) * step, n - 1u), key_shift);
            low = VKDS_LESSER(low, key);
            high = VKDS_GREATER(high, key);
        }
    }
    low = number_subgroup_min(low);
    high = number_subgroup_max(high);
    if (subgroupElect()) {
        least[gl_SubgroupID] = low;
        greatest[gl_SubgroupID] = high;
    }
    barrier();
    if (self == 0u) {
        for (uint i = 1u; i < gl_NumSubgroups; i++) {
            low = VKDS_LESSER(low, least[i]);
            high = VKDS_GREATER(high, greatest[i]);
        }
        uint width = partition_width(low, high);   // of the difference: 0 for none
        partition_store(range, Partition(low, n != 0u && width > bits ? width - bits : 0u, 0u));
    }
}
