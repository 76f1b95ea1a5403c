// Chooses the parts of a partition: so wide that they reach from the least to the greatest of some keys. One workgroup.
// Also clears the parts' counters.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "partition.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 range;      // two words, out: low and shift
    uvec2 counters;   // 2^bits words
    uint bits;
    uint key_shift;
    Length length;
};

const uint SAMPLES = 16u;   // of a lane, at most

shared uint least;
shared uint greatest;

void main() {
    uint self = workgroup_lane(), n = length_of(length);
    if (self == 0u) {
        least = ~0u;
        greatest = 0u;
    }
    for (uint i = self; i < 1u << bits; i += WORKGROUP) plain_store_at(counters, i, 0u);
    barrier();
    uint low = ~0u, high = 0u;
    if (n != 0u) {
        // Spread over all of the array: it may be in some order.
        uint step = (n - 1u) / (WORKGROUP * SAMPLES) + 1u;
        [[unroll]] for (uint j = 0u; j < SAMPLES; j++) {
            uint key = partition_key(keys, min((j * WORKGROUP + self) * step, n - 1u), key_shift);
            low = min(low, key);
            high = max(high, key);
        }
    }
    low = subgroupMin(low);
    high = subgroupMax(high);
    if (subgroupElect()) {
        atomicMin(least, low);
        atomicMax(greatest, high);
    }
    barrier();
    if (self == 0u) {
        uint width = uint(findMSB(greatest - least) + 1);   // of the difference: 0 for none
        plain_store2(range, uvec2(least, n != 0u && width > bits ? width - bits : 0u));
    }
}
