// Counts the digits of one pass of a sort, for each tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "radix.glsl"
#include "length.glsl"
#include "sort_step.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys[2];   // for step_array
    uvec2 counts;    // a row of `tiles` words per digit
    uvec2 step_at;   // the step
    uint tiles;      // the greatest number of tiles, which is the rows' length
    Length length;
};

void main() {
    uint tile = workgroup_index();
    uint step = plain_load(step_at);
    if (tile >= tiles || step == 0u) return;
    uint n = length_of(length);
    uint first = min(tile * RADIX_TILE, n);
    uvec2 from = address_at(step_array(step, keys), first, KEY_SHIFT);
    radix_clear();
    VKDS_UNROLL for (uint j = 0u; j < ITEMS; j++) {
        uint i = radix_element(j);
        if (i < n - first) radix_count(step_digit(step, key_load_near(from, i)), 1u);
    }
    barrier();
    uint totals[RADIX_LANE_DIGITS];
    radix_totals(totals);
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        uint digit = workgroup_lane() * RADIX_LANE_DIGITS + k;
        if (digit < RADIX) plain_store(address_at(counts, digit * tiles + tile, 2u), totals[k]);
    }
}
