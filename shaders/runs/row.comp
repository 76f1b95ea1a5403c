// Writes a row of a stack.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "invocation.glsl"
#include "trace.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 rows;
    uvec2 keys, values, tombstones, index;
    uint row;
};

void main() {
    if (invocation_index() != 0u) return;
    uvec2 at = address_at(rows, row, 5u);
    plain_store4(at, uvec4(keys, values));
    plain_store4(address_add(at, 16u), uvec4(tombstones, index));
    VKDS_EVENT(true, TRACE_ROW, trace_line(keys), row)
}
