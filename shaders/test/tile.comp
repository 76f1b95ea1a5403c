// For test/shader: the results of the functions of tile.glsl and invocation.glsl for each invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "tile.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 inputs;    // one quad per invocation: two words to shuffle, the lane to take from, the condition (0 or 1)
    uvec2 outputs;   // two quads per invocation: lane, base, ballot, shuffled word; the shuffled pair, subgroup size, 0
    uint count;      // the number of invocations, a multiple of the workgroup size
};

void main() {
    uint i = invocation_index();
    uvec4 q = uvec4(0u);
    if (i < count) q = plain_load4(address_at(inputs, i, 4u));
    uint ballot = tile_ballot(q.w != 0u);
    uint one = tile_shuffle(q.x, q.z);
    uvec2 two = tile_shuffle(q.xy, q.z);
    if (i < count) {
        plain_store4(address_at(outputs, 2u * i, 4u), uvec4(tile_lane(), tile_base(), ballot, one));
        plain_store4(address_at(outputs, 2u * i + 1u, 4u), uvec4(two, gl_SubgroupSize, 0u));
    }
}
