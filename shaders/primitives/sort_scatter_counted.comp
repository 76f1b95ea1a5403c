// One pass of a sort: brings the elements into the order of a digit, stably. A workgroup moves a tile. Earlier
// dispatches have computed where its elements go.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "memory.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys[2];        // for step_array
    uvec2 values[2];
    uvec2 out_keys[2];
    uvec2 out_values[2];
    uvec2 digit_totals;   // the number of keys with each digit
    uvec2 counts;         // a row of `tiles` words per digit: the number of its keys in the tiles before
    uvec2 step_at;        // the step
    uint tiles;           // the greatest number of tiles
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
    tile_stage(items, spots);
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
    tile_scatter(base, count, spots);
}
