// One pass of a sort: brings the elements into the order of a digit, stably. A workgroup moves a tile; where its
// elements go has been counted and summed before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "memory.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys[2];        // as step_array takes them
    uvec2 values[2];
    uvec2 out_keys[2];
    uvec2 out_values[2];
    uvec2 digit_totals;   // of each digit
    uvec2 counts;         // of each digit, a row of `tiles` words: how many are in the tiles before
    uvec2 step_at;        // the step
    uint tiles;           // at most
    Length length;
};

#include "sort_tile.glsl"

void main() {
    step = plain_load(step_at);
    if (step == 0u) return;
    uint n = length_of(length);
    uint tile = workgroup_index(), base = tile * RADIX_TILE;
    radix_clear();
    if (tile >= tiles || base >= n) return;

    uint count = n - base;
    K items[ITEMS];
    uint spots[PLACE_WORDS];
    uint totals[RADIX_LANE_DIGITS], starts[RADIX_LANE_DIGITS], before[RADIX_LANE_DIGITS];
    tile_load(step_array(step, keys), base, count, items);
    tile_count(items, totals);
    tile_rank(items, totals, spots, starts);
    tile_stage(base, count, items, spots);
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        before[k] = 0u;
        if (radix_cares()) before[k] = plain_load_at(digit_totals, workgroup_lane() * RADIX_LANE_DIGITS + k);
    }
    radix_scan(before);
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        uint digit = workgroup_lane() * RADIX_LANE_DIGITS + k;
        if (radix_cares()) {
            before[k] += plain_load_at(counts, digit * tiles + tile);
            tile_base(digit, before[k], starts[k], totals[k], count, n);
        }
    }
    barrier();
    tile_scatter(count, spots);
}
