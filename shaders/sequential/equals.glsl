// Equals: the groups of a chunk's operations with equal keys. Each operation has its group's number, which is the index
// of one of the operations with its key. The group has the indices of its first and last operations.
#ifndef VKDS_EQUALS_GLSL
#define VKDS_EQUALS_GLSL

#include "state.glsl"

const uint EQUALS_NONE = ~0u;

// Arrays of words, one an operation. Lay it into your push constants.
struct Equals {
    uvec2 groups;   // of an operation,
    uvec2 firsts;   // of a group; but for OP_INSERT the first that is done, EQUALS_NONE if none is
    uvec2 lasts;
};

// The first and the last operation that have the key of operation i.
struct Equal {
    uint first, last;
};

Equal equals_of(Equals e, uint i, uint count) {
    uint group = plain_load_at(e.groups, i);
    if (group >= count) return Equal(i, i);
    return Equal(plain_load_at(e.firsts, group), plain_load_at(e.lasts, group));
}

#endif
