// Counts the digits of all passes of a sort in one reading of the keys. The workgroup that ends last turns the counts
// into each digit's first place in the output. Also clears what the first pass publishes into.
#version 460
#extension GL_GOOGLE_include_directive : require
#define RADIX_ELEMENTS_ONLY
#include "radix.glsl"
#include "length.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 counts;      // RADIX words a pass, zero; then the first places
    uvec2 ended;       // a word, zero: the workgroups that have ended
    uvec2 published;   // of the first pass: the first places, then so many words to clear
    uint publishes;
    uint first;        // bit
    uint bits;
    Length length;
};

const uint PASSES = 4u;   // at most
const uint STEP = ITEMS % 4u == 0u ? 4u : 2u;   // items of a lane that are loaded at a time

shared uint histogram[PASSES * RADIX];
shared uint sums[SUBGROUPS];
shared bool last;

void main() {
    uint self = workgroup_lane();
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint group = workgroup_index();
    uint passes = (bits + 7u) / 8u;
    for (uint i = self; i < PASSES * RADIX; i += WORKGROUP) histogram[i] = 0u;
    for (uint i = group * WORKGROUP + self; i < publishes; i += groups * WORKGROUP)
        plain_store_near(published, RADIX + i, 0u);
    barrier();

    uint n = length_of(length);
    uint tiles = n / RADIX_TILE + (n % RADIX_TILE != 0u ? 1u : 0u);
    for (uint tile = group; tile < tiles; tile += groups) {
        uint first_key = tile * RADIX_TILE, count = n - first_key;
        [[dont_unroll]] for (uint j = 0u; j < ITEMS; j += STEP) {
            uint key[STEP];
            [[unroll]] for (uint k = 0u; k < STEP; k++)
                key[k] = radix_load(keys, first_key, self + (j + k) * WORKGROUP, count);
            [[unroll]] for (uint k = 0u; k < STEP; k++) {
                if (self + (j + k) * WORKGROUP >= count) continue;
                for (uint p = 0u; p < passes; p++) {
                    uint width = min(8u, bits - 8u * p);
                    atomicAdd(histogram[p * RADIX + radix_digit(key[k], first + 8u * p, (1u << width) - 1u)], 1u);
                }
            }
        }
    }
    barrier();
    for (uint i = self; i < passes * RADIX; i += WORKGROUP) {
        if (histogram[i] != 0u) atomic_add(address_at(counts, i, 2u), histogram[i]);
    }
    release_fence();
    barrier();
    if (self == 0u) last = atomic_add(ended, 1u) == groups - 1u;
    barrier();
    if (!last) return;
    acquire_fence();
    // A lane sums WORKGROUP-th parts of a pass's digits.
    for (uint p = 0u; p < passes; p++) {
        uint each = max(RADIX / WORKGROUP, 1u);
        bool cares = self * each < RADIX;
        uint own = 0u;
        for (uint k = 0u; k < each; k++) {
            if (cares) own += atomic_load(address_at(counts, p * RADIX + self * each + k, 2u));
        }
        uint before = subgroupExclusiveAdd(own);
        if (gl_SubgroupInvocationID == gl_SubgroupSize - 1u) sums[gl_SubgroupID] = before + own;
        barrier();
        for (uint i = 0u; i < SUBGROUPS; i++) before += i < gl_SubgroupID ? sums[i] : 0u;
        for (uint k = 0u; k < each; k++) {
            if (!cares) continue;
            uvec2 at = address_at(counts, p * RADIX + self * each + k, 2u);
            uint count = atomic_load(at);
            atomic_store(at, before);
            if (p == 0u) plain_store_near(published, self * each + k, 0x80000000u | before);
            before += count;
        }
        barrier();
    }
}
