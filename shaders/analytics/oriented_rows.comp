// Computes the offsets of rows without the arcs whose flags are not set.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "memory.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 offsets;       // of the rows with all arcs
    uvec2 flags;
    uvec2 sums;          // the number of set flags before each word of them
    uvec2 new_offsets;   // output
    uint vertices;
    uint arcs;
};

void main() {
    uint v = invocation_index();
    if (v > vertices) return;
    uint at = plain_load_at(offsets, v), word = at / 32u;
    uint n = 0u;
    if (arcs != 0u) {
        // There may be no word after the last arc's.
        uint last = (arcs - 1u) / 32u;
        uint of = min(word, last);
        uint below = at - 32u * of;   // 0 to 32
        uint mask = below >= 32u ? ~0u : (1u << below) - 1u;
        n = plain_load_at(sums, of) + uint(bitCount(plain_load_at(flags, of) & mask));
    }
    plain_store_at(new_offsets, v, n);
}
