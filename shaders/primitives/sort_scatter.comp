// One pass of a sort: brings the elements into the order of a digit, stably. A workgroup moves a tile, and finds where
// its elements go by looking back at the tiles before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "memory.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 values;
    uvec2 out_keys;
    uvec2 out_values;
    uvec2 published;   // of each tile: a word a digit, zero; before them, of each digit, the first place in the output
    uvec2 spare;       // the same for the next pass: made ready for it
    uvec2 places;      // of the next pass's digits: the first places in the output
    uvec2 taken;       // a word, zero: the tiles that have begun
    uint tiles;        // at most
    uint digit_at;     // the digit: shift, and its mask from bit 16 on
    Length length;
};

#include "sort_look_back.glsl"

shared uint number;

// Takes the next tile: in order, so that those before have begun.
uint take_tile() {
    if (workgroup_lane() == 0u) {
        number = atomic_add(taken, 1u);
        stuck = 0u;
    }
    radix_clear();
    return number;
}

// Makes the words ready that the tile publishes in the next pass.
void make_ready(uint tile) {
    for (uint d = workgroup_lane(); d < RADIX; d += WORKGROUP) {
        plain_store_near(spare, (tile + 1u) * RADIX + d, 0u);
        if (tile == 0u) plain_store_near(spare, d, INCLUSIVE | plain_load_near(places, d));
    }
}

void main() {
    uint n = length_of(length);
    uint tile = take_tile(), base = tile * RADIX_TILE;
    if (tile < tiles) make_ready(tile);
    if (tile >= tiles || base >= n) return;

    uint count = n - base;
    uint items[ITEMS], ranks[RANK_WORDS];
    uint totals[RADIX_LANE_DIGITS], starts[RADIX_LANE_DIGITS], before[RADIX_LANE_DIGITS];
    tile_load(keys, base, count, items);
    tile_rank(items, ranks, totals);
    publish(tile, totals);
    tile_places(items, totals, ranks, starts);
    look_back(tile, n, before);
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        uint digit = workgroup_lane() * RADIX_LANE_DIGITS + k;
        if (radix_cares()) {
            atomic_store(word_of(tile + 1u, digit), INCLUSIVE | (before[k] + totals[k]));
            tile_base(digit, before[k], starts[k], totals[k], count, n);
        }
    }
    tile_scatter(base, count, items, ranks);
}
