// For test/shader: parts whose workgroups look back, while those of other parts never come.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "workgroup.glsl"
#include "look_back.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 shares;   // two words a part
    uvec2 states;   // likewise, 0 before the dispatch
    uvec2 before;   // likewise: what the parts before this one make
    uint parts;
    uint every;     // the parts whose number this divides are there
};

// The first values are summed, of the second the greatest is taken.
uvec2 share_join(uvec2 of_lane, uvec2 behind) {
    uint sum = subgroupAdd(of_lane.x), most = subgroupMax(of_lane.y);
    return uvec2(behind.x + sum, max(behind.y, most));
}

uvec2 share_of(uint part) { return plain_load2(address_at(shares, part, 3u)); }

void main() {
    uint part = workgroup_index();
    if (part >= parts || part % every != 0u || gl_SubgroupID != 0u) return;
    uvec2 made = look_back_with(states, part, share_of(part));
    if (gl_SubgroupInvocationID == 0u) plain_store2(address_at(before, part, 3u), made);
}
