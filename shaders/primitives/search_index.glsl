// Search index: samples of a sorted array, by which a search loads one sector a level instead of bisecting.
//
// Of the s = 2^NODE_SHIFT keys of a sector: level l has every s^l-th key, the last of each s^l, so that s neighbours of
// level l-1 end with one key of level l. Levels go on up to the first with at most SEARCH_TOP keys, the top, which a
// workgroup keeps in shared memory; an array so short has none. Level 1 comes first in memory; each is followed by 1 to
// s times KEY_MOST, which no key is above, up to a multiple of s.
#ifndef VKDS_SEARCH_INDEX_GLSL
#define VKDS_SEARCH_INDEX_GLSL

#include "key.glsl"
#include "search.glsl"

layout(constant_id = 17) const uint SEARCH_TOP = 512;

const uint NODE_SHIFT = 5u - KEY_SHIFT;   // log2 of the keys of a sector, 32 bytes
const uint NODE_KEYS = 1u << NODE_SHIFT;

uint level_shift(uint level) { return NODE_SHIFT * level; }   // log2 of the keys between two of a level

// The number of levels over n keys.
uint index_levels(uint n) {
    uint level = 0u;
    while ((n >> level_shift(level)) > SEARCH_TOP) level++;
    return level;
}

// Keys that a level has room for.
uint index_size(uint n, uint level) { return ((n >> level_shift(level)) | (NODE_KEYS - 1u)) + 1u; }

// Keys before a level.
uint index_start(uint n, uint level) {
    uint at = 0u;
    for (uint l = 1u; l < level; l++) at += index_size(n, l);
    return at;
}

// Key i of a level, from the array itself; i + 1 is at most n >> level_shift(level).
K index_sample(uvec2 keys, uint level, uint i) {
    return key_load_at(keys, ((i + 1u) << level_shift(level)) - 1u);
}

#endif
