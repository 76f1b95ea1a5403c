// Runs before a batch whose number of operations only the device knows. It marks the operations after that number as
// done, so that the batch can be dispatched like one of which only some operations are pending.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "operation.glsl"
#include "results.glsl"
#include "width.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 statuses;   // a byte an operation, padded to whole words, out
    uvec2 kinds;      // a byte an operation, if kind is OP_MIXED
    uvec2 values;     // one an operation: 0 where it is OP_DELETE_ALL, which goes on counting from there
    Length count;
    uint kind;
};

// Four operations a lane.
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
