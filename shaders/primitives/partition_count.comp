// Counts the keys of each part of a partition.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "partition.glsl"
#include "workgroup.glsl"

layout(constant_id = 16) const uint ITEMS = 8;   // keys that a lane loads at a time

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 range;
    uvec2 counters;   // 2^bits words, 0 before
    uint bits;
    uint key_shift;
    Length length;
};

shared uint counts[PARTITION_MOST];

void main() {
    uint self = workgroup_lane(), n = length_of(length);
    Partition parts = partition_load(range, bits);
    for (uint i = self; i <= parts.last; i += WORKGROUP) counts[i] = 0u;
    barrier();
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    const uint each = WORKGROUP * ITEMS;
    uint tiles = n / each + (n % each != 0u ? 1u : 0u);
    for (uint tile = workgroup_index(); tile < tiles; tile += groups) {
        uint first = tile * each, left = n - first;
        K key[ITEMS];
        [[unroll]] for (uint j = 0u; j < ITEMS; j++)
            key[j] = partition_key(keys, first + min(j * WORKGROUP + self, left - 1u), key_shift);
        [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
            if (j * WORKGROUP + self < left) atomicAdd(counts[partition_of(parts, key[j])], 1u);
        }
    }
    barrier();
    for (uint i = self; i <= parts.last; i += WORKGROUP) {
        if (counts[i] != 0u) atomic_add(address_at(counters, i, 2u), counts[i]);
    }
}
