// State: words in memory by which the dispatches over a chunk pass data to each other and to those over the next chunk
// (internal/engine/sequential in Go).
#ifndef VKDS_STATE_GLSL
#define VKDS_STATE_GLSL

#include "results.glsl"
#include "operation.glsl"

// Offsets in bytes.
const uint STATE_CLOSED = 0u;        // not 0: a chunk has operations pending, so none behind it may begin
const uint STATE_APPLY_ARGS = 4u;    // workgroups of the chunk's operations,
const uint STATE_GROUP_ARGS = 16u;   // of what looks for equal keys: none where each key was a new one,
const uint STATE_ORDER_ARGS = 28u;   // and of what puts them into their order: none where no two are equal

void args_store(uvec2 args, uint groups) {
    plain_store(args, groups);
    plain_store(address_add(args, 4u), 1u);
    plain_store(address_add(args, 8u), 1u);
}

// A byte of an array that others change meanwhile.
uint byte_load_beside(uvec2 bytes, uint i) {
    return (atomic_load(address_add(bytes, i & ~3u)) >> (8u * (i & 3u))) & 0xffu;
}

// Changes it by an exclusive or, so that two who change the same one may come in any order.
void byte_flip(uvec2 bytes, uint i, uint by) {
    VKDS_DELAY
    atomicXor(VkdsCoherentWord(address_add(bytes, i & ~3u)).v, by << (8u * (i & 3u)), VKDS_RELAXED);
}

#endif
