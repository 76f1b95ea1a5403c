// Runs before a batch whose number of operations only the device knows. It marks the operations from that number on as
// done and the others as pending. The batch is then dispatched like a retry, which does pending operations only.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "operation.glsl"
#include "results.glsl"
#include "width.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 statuses;   // output: one byte per operation, padded to whole words
    uvec2 kinds;      // one byte per operation, if kind is OP_MIXED
    uvec2 values;     // one per operation: set to 0 for OP_DELETE_ALL, because a retry adds to it
    Length count;
    uint kind;
};

// Each lane handles four operations.
void main() {
    uint first = 4u * invocation_index(), n = length_of(count);
    if (first >= count.n) return;
    uint four = 0u;
    [[unroll]] for (uint j = 0u; j < 4u; j++) {
        uint i = first + j, own = kind;
        if (i >= n) {
            four |= STATUS_ABSENT << (8u * j);
        } else {
            if (kind == OP_MIXED) own = byte_load(kinds, i);
            if (own == OP_DELETE_ALL) VKDS_STORE(address_at(values, i, VKDS_SHIFT), V(0u));
        }
    }
    plain_store(address_add(statuses, first), four);
}
