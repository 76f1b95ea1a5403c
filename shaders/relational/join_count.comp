// Counts the results of each left row of a join: from the bounds of its key among the sorted right keys.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "length.glsl"
#include "invocation.glsl"

// The kinds of joins (relational.JoinKind).
const uint INNER = 0u;
const uint LEFT = 1u;
const uint SEMI = 2u;
const uint ANTI = 3u;

layout(push_constant, std430) uniform Push {
    uvec2 lower;
    uvec2 upper;
    uvec2 counts;   // output
    Length length;  // left rows
    uint kind;
};

void main() {
    uint i = invocation_index();
    if (i >= length_of(length)) return;
    uint count = plain_load_at(upper, i) - plain_load_at(lower, i);
    if (kind == LEFT) count = max(count, 1u);
    if (kind == SEMI) count = min(count, 1u);
    if (kind == ANTI) count = count == 0u ? 1u : 0u;
    plain_store_at(counts, i, count);
}
