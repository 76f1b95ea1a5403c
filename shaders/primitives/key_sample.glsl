// Key sample: estimates the least and the greatest key of an array from a sample.
#ifndef VKDS_KEY_SAMPLE_GLSL
#define VKDS_KEY_SAMPLE_GLSL

#include "number_subgroup.glsl"
#include "width.glsl"
#include "workgroup.glsl"

const uint SAMPLES = 16u;   // per lane, at most

shared K least[WORKGROUP / 4u];   // one per subgroup; no subgroup has fewer than 4 lanes
shared K greatest[WORKGROUP / 4u];

// The least and the greatest key of a sample of n keys, which are 2^shift bytes apart. If n is 0, `low` is ~0 and
// `high` is 0. The sample is spread over the array, because the array may be in some order. Collective over the
// workgroup.
void key_sample(uvec2 keys, uint n, uint shift, out K low, out K high) {
    low = K(~0u);
    high = K(0u);
    if (n != 0u) {
        uint step = (n - 1u) / (WORKGROUP * SAMPLES) + 1u;
        [[unroll]] for (uint j = 0u; j < SAMPLES; j++) {
            K key = VKDS_LOAD(address_at(keys, min((j * WORKGROUP + workgroup_lane()) * step, n - 1u), shift));
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
    for (uint i = 0u; i < gl_NumSubgroups; i++) {
        low = VKDS_LESSER(low, least[i]);
        high = VKDS_GREATER(high, greatest[i]);
    }
}

// The number of bits by which the difference of a key and the least one must be shifted to be below 2^bits.
uint key_sample_shift(K low, K high, uint bits) {
#if VKDS_WIDE
    K difference = number_subtract(high, low);
    uint width = difference.y != 0u ? uint(findMSB(difference.y)) + 33u : uint(findMSB(difference.x) + 1);
#else
    uint width = uint(findMSB(high - low) + 1);
#endif
    return width > bits ? width - bits : 0u;
}

#endif
