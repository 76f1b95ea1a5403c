// Search index: samples of a sorted array. With them, a search loads one sector per level instead of bisecting.
//
// A sector has s = 2^NODE_SHIFT keys. Level l has every s^l-th key of the array, the last one of each s^l keys. So s
// consecutive keys of level l-1 end with one key of level l. The top is the first level with at most SEARCH_TOP keys. A
// workgroup keeps it in shared memory. An array with at most SEARCH_TOP keys has no levels. Level 1 comes first in
// memory. Each level is padded with KEY_MOST, which no key is above: with at least one, up to a multiple of s.
#ifndef VKDS_SEARCH_INDEX_GLSL
#define VKDS_SEARCH_INDEX_GLSL

#include "key.glsl"
#include "search.glsl"

layout(constant_id = 17) const uint SEARCH_TOP = 512;

const uint NODE_SHIFT = 5u - KEY_SHIFT;   // log2 of the keys in a sector, which has 32 bytes
const uint NODE_KEYS = 1u << NODE_SHIFT;

uint level_shift(uint level) { return NODE_SHIFT * level; }   // log2 of the distance of a level's keys in the array

// The number of levels for n keys.
uint index_levels(uint n) {
    uint level = 0u;
    while ((n >> level_shift(level)) > SEARCH_TOP) level++;
    return level;
}

// The number of keys of a level, with padding.
uint index_size(uint n, uint level) { return ((n >> level_shift(level)) | (NODE_KEYS - 1u)) + 1u; }

// The number of keys before a level, with padding.
uint index_start(uint n, uint level) {
    uint at = 0u;
    for (uint l = 1u; l < level; l++) at += index_size(n, l);
    return at;
}

// Key i of a level, from the array itself. i must be below n >> level_shift(level).
K index_sample(uvec2 keys, uint level, uint i) {
    return key_load_at(keys, ((i + 1u) << level_shift(level)) - 1u);
}

#endif
