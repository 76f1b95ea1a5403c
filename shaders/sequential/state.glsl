// State: the words by which the dispatches over a chunk pass data to one another and to those over the next chunk
// (internal/engine/sequential in Go).
#ifndef VKDS_STATE_GLSL
#define VKDS_STATE_GLSL

#include "results.glsl"
#include "operation.glsl"

// Byte offsets. The last three are arguments of indirect dispatches.
const uint STATE_CLOSED = 0u;        // not 0: a chunk has pending operations, so no later chunk may begin
const uint STATE_APPLY_ARGS = 4u;    // for the chunk's operations
const uint STATE_GROUP_ARGS = 16u;   // for the search for equal keys; no workgroups if all keys were new
const uint STATE_ORDER_ARGS = 28u;   // for ordering operations with equal keys; no workgroups if there are none

void args_store(uvec2 args, uint groups) {
    plain_store(args, groups);
    plain_store(address_add(args, 4u), 1u);
    plain_store(address_add(args, 8u), 1u);
}

// Byte i of an array that other invocations change at the same time.
uint byte_load_beside(uvec2 bytes, uint i) {
    return (atomic_load(address_add(bytes, i & ~3u)) >> (8u * (i & 3u))) & 0xffu;
}

// Changes a byte by an exclusive or, so that two invocations may change the same byte in either order.
void byte_flip(uvec2 bytes, uint i, uint by) {
    VKDS_DELAY
    atomicXor(VkdsCoherentWord(address_add(bytes, i & ~3u)).v, by << (8u * (i & 3u)), VKDS_RELAXED);
}

#endif
