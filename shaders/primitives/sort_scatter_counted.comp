// One pass of a sort: brings the elements into the order of a digit, stably. A workgroup moves a tile; where its
// elements go has been counted and summed before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "memory.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 values;
    uvec2 out_keys;
    uvec2 out_values;
    uvec2 digit_totals;   // of each digit
    uvec2 counts;         // of each digit, a row of `tiles` words: how many are in the tiles before
    uint tiles;           // at most
    uint digit_at;        // the digit: shift, and its mask from bit 16 on
    Length length;
};

#include "sort_tile.glsl"

void main() {
    uint n = length_of(length);
    uint tile = workgroup_index(), base = tile * RADIX_TILE;
    radix_clear();
    if (tile >= tiles || base >= n) return;

    uint count = n - base;
    uint items[ITEMS], ranks[RANK_WORDS];
    uint totals[RADIX_LANE_DIGITS], starts[RADIX_LANE_DIGITS], before[RADIX_LANE_DIGITS];
    tile_load(keys, base, count, items);
    tile_rank(items, ranks, totals);
    tile_places(items, totals, ranks, starts);
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
    tile_scatter(base, count, items, ranks);
}
