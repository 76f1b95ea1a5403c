// Partition: the part of a key. Parts are in the order of their keys.
//
// Each part is a range of 2^shift keys; the first range begins at `low`. Keys outside of all ranges belong to the first
// or the last part.
#ifndef VKDS_PARTITION_GLSL
#define VKDS_PARTITION_GLSL

#include "width.glsl"

const uint PARTITION_MOST = 256u;   // parts; each has a counter in shared memory

struct Partition {
    K low;
    uint shift;
    uint last;   // the number of the last part
};

// Key i of an array whose keys are 2^shift bytes apart.
K partition_key(uvec2 keys, uint i, uint shift) { return VKDS_LOAD(address_at(keys, i, shift)); }

#if VKDS_WIDE
// Loads what partition_range has written to an address, for 2^bits parts.
Partition partition_load(uvec2 address, uint bits) {
    uvec4 range = plain_load4(address);
    return Partition(range.xy, range.z, (1u << bits) - 1u);
}
void partition_store(uvec2 address, Partition p) { plain_store4(address, uvec4(p.low, p.shift, 0u)); }

uint partition_of(Partition p, K key) {
    return min(number_from(number_subtract(number_max(key, p.low), p.low), p.shift), p.last);
}

// A number that is stored like a key; and macros for keys that are followed by a second number.
#define PARTITION_NUMBER(key) key.x
#define PARTITION_PAIR_SHIFT 4u
#define PARTITION_PAIR(key, other) uvec4(key, other)
#define PARTITION_STORE_PAIR plain_store4
#else
Partition partition_load(uvec2 address, uint bits) {
    uvec2 range = plain_load2(address);
    return Partition(range.x, range.y, (1u << bits) - 1u);
}
void partition_store(uvec2 address, Partition p) { plain_store2(address, uvec2(p.low, p.shift)); }

uint partition_of(Partition p, uint key) { return min((max(key, p.low) - p.low) >> p.shift, p.last); }

#define PARTITION_NUMBER(key) key
#define PARTITION_PAIR_SHIFT 3u
#define PARTITION_PAIR(key, other) uvec2(key, other)
#define PARTITION_STORE_PAIR plain_store2
#endif

#endif
