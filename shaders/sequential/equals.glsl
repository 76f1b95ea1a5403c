// Equals: the operations of a chunk in the order of their keys, those of equal keys in the chunk's order.
#ifndef VKDS_EQUALS_GLSL
#define VKDS_EQUALS_GLSL

#include "state.glsl"
#include "search.glsl"
#include "width.glsl"

struct Equals {
    uvec2 keys;     // ascending
    uvec2 sources;  // of each its index in the chunk
    uint count;
};

// An operation among those with its key.
struct Equal {
    uint place;
    bool first, last;
};

Equal equal_at(Equals e, uint i) {
    K key = VKDS_LOAD_AT(e.keys, i);
    bool first = true, last = true;
    if (i != 0u) first = VKDS_LOAD_AT(e.keys, i - 1u) != key;
    if (i + 1u != e.count) last = VKDS_LOAD_AT(e.keys, i + 1u) != key;
    return Equal(plain_load_at(e.sources, i), first, last);
}

// The indices of the first and of the last operation that have the i-th one's key.
uint first_place(Equals e, uint i) {
    return plain_load_at(e.sources, lower_bound(e.keys, 0u, i, VKDS_LOAD_AT(e.keys, i)));
}
uint last_place(Equals e, uint i) {
    return plain_load_at(e.sources, upper_bound(e.keys, i + 1u, e.count, VKDS_LOAD_AT(e.keys, i)) - 1u);
}

#endif
