// Equals: groups the operations of a chunk by their keys. The number of a group is the index of one of its operations.
// A group stores the indices of its first and its last operation.
#ifndef VKDS_EQUALS_GLSL
#define VKDS_EQUALS_GLSL

#include "state.glsl"

const uint EQUALS_NONE = ~0u;

// Addresses of arrays with one word per operation. Put it into your push constants.
struct Equals {
    uvec2 groups;   // the group of each operation
    uvec2 firsts;   // the first operation of each group; except for OP_INSERT the first done one, or EQUALS_NONE
    uvec2 lasts;
};

// The first and the last operation with the key of operation i.
struct Equal {
    uint first, last;
};

Equal equals_of(Equals e, uint i, uint count) {
    uint group = plain_load_at(e.groups, i);
    if (group >= count) return Equal(i, i);
    return Equal(plain_load_at(e.firsts, group), plain_load_at(e.lasts, group));
}

#endif
