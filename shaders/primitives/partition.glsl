// Partition: which part a key goes to, where keys are brought into parts that follow one another in the keys' order.
//
// Parts are equally wide stretches of the keys from `low` on, 2^shift keys each; what lies outside goes to the first
// part or the last one.
#ifndef VKDS_PARTITION_GLSL
#define VKDS_PARTITION_GLSL

#include "memory.glsl"

const uint PARTITION_MOST = 256u;   // parts: each has a counter in shared memory

struct Partition {
    uint low;
    uint shift;
    uint last;   // part
};

// What partition_range wrote to an address, for 2^bits parts.
Partition partition_load(uvec2 address, uint bits) {
    uvec2 range = plain_load2(address);
    return Partition(range.x, range.y, (1u << bits) - 1u);
}

// Key i of an array; 2^shift bytes are between one and the next.
uint partition_key(uvec2 keys, uint i, uint shift) { return plain_load(address_at(keys, i, shift)); }

uint partition_of(Partition p, uint key) { return min((max(key, p.low) - p.low) >> p.shift, p.last); }

#endif
