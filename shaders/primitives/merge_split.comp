// Finds where the tiles of a merge begin, one a lane, for merge.comp.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "merge_path.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 a, b;            // keys
    Length a_length, b_length;
    uvec2 splits;          // out
    uint mask;
    uint tile;             // outputs
};

void main() {
    MergePair p = MergePair(a, b, length_of(a_length), length_of(b_length), mask);
    uint total = p.a_count + p.b_count;
    uint i = invocation_index();
    if (i > total / tile + 1u) return;
    plain_store(address_at(splits, i, 2u), merge_path(p, i > total / tile ? total : i * tile));
}
