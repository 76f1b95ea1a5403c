// Finds the beginnings of the tiles of a merge in both runs, for merge.comp. Each lane does one tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "merge_path.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 a, b;            // keys
    Length a_length, b_length;
    uvec2 splits;          // output: merge_path at the beginning of each tile, and at the end of the last one
    uvec2 mask;            // the bits by which keys are compared; of 32-bit keys the low word
    uint tile;             // outputs per tile
};

shared uint window_ends[2];

// The number of outputs before split i.
uint diagonal_of(uint i, uint total) { return i > total / tile ? total : i * tile; }

// The workgroup first finds its first and its last split together. Its lanes then search only between these: each needs
// fewer steps, and their loads are closer together.
void main() {
    MergePair p = MergePair(a, b, length_of(a_length), length_of(b_length), K(mask));
    uint total = p.a_count + p.b_count;
    uint last = total / tile + 1u;
    uint begin = workgroup_index() * WORKGROUP;
    if (begin > last) return;   // the whole workgroup
    uvec2 window = uvec2(diagonal_of(begin, total), diagonal_of(begin + WORKGROUP - 1u, total));
    for (uint i = gl_SubgroupID; i < 2u; i += gl_NumSubgroups) {
        uint at = merge_path_subgroup(p, i == 0u ? window.x : window.y);
        if (subgroupElect()) window_ends[i] = at;
    }
    barrier();
    uint i = begin + workgroup_lane();
    if (i > last) return;
    uint diagonal = diagonal_of(i, total);
    uint low = max(window_ends[0], diagonal - min(diagonal, window.y - window_ends[1]));
    uint high = min(window_ends[1], diagonal - (window.x - window_ends[0]));
    plain_store(address_at(splits, i, 2u), merge_path(p, diagonal, low, high));
}
