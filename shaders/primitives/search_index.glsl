// Search index: samples of a sorted array, by which a search loads one sector a level instead of bisecting.
//
// Level l has every 8^l-th key, the last of each 8^l, so that eight neighbours of level l-1 end with one key of level
// l. Levels go on up to the first with at most SEARCH_TOP keys, the top, which a workgroup keeps in shared memory; an
// array so short has none. Level 1 comes first in memory; each is followed by one to eight words of ~0, which no key is
// above, up to a multiple of eight.
#ifndef VKDS_SEARCH_INDEX_GLSL
#define VKDS_SEARCH_INDEX_GLSL

#include "search.glsl"

layout(constant_id = 17) const uint SEARCH_TOP = 512;

// The number of levels over n keys.
uint index_levels(uint n) {
    uint level = 0u;
    while ((n >> (3u * level)) > SEARCH_TOP) level++;
    return level;
}

// Words that a level takes.
uint index_size(uint n, uint level) { return ((n >> (3u * level)) | 7u) + 1u; }

// Words before a level.
uint index_start(uint n, uint level) {
    uint at = 0u;
    for (uint l = 1u; l < level; l++) at += index_size(n, l);
    return at;
}

// Key i of a level, from the array itself; i + 1 is at most n >> 3 * level.
uint index_sample(uvec2 keys, uint level, uint i) {
    return plain_load(address_at(keys, ((i + 1u) << (3u * level)) - 1u, 2u));
}

#endif
