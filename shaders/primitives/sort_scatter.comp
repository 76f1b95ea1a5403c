// One pass of a sort: brings the elements into the order of a digit, stably. A workgroup moves a tile, and finds out
// where its elements go by looking back at earlier tiles.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "memory.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys[2];        // for step_array
    uvec2 values[2];
    uvec2 out_keys[2];
    uvec2 out_values[2];
    uvec2 published;      // a row of a word per digit for each tile, 0 before. The first row has the digits' first
                          // places in the output
    uvec2 spare;          // the same for the next step, which this one prepares
    uvec2 places;         // for each pass, the digits' first places in the output
    uvec2 taken;          // a word, 0 before: the number of tiles that have begun
    uvec2 step_at;        // the step
    uint tiles;           // the greatest number of tiles
    Length length;
};

#include "sort_look_back.glsl"

shared uint next_tile;

// Takes the next tile. Tiles are taken in order, so that those before have begun.
uint take_tile() {
    if (workgroup_lane() == 0u) {
        next_tile = atomic_add(taken, 1u);
        stuck = 0u;
    }
    radix_clear();
    return next_tile;
}

// Prepares the words that the tile publishes in the next step.
void make_ready(uint tile) {
    for (uint d = workgroup_lane(); d < RADIX; d += WORKGROUP) {
        plain_store_near(spare, (tile + 1u) * RADIX + d, 0u);
        if (tile == 0u) plain_store_near(spare, d, INCLUSIVE | plain_load_near(places, step_next(step) * RADIX + d));
    }
}

void main() {
    // The step is loaded before the tile is taken, so that a small sort waits for both at once.
    step = plain_load(step_at);
    uint n = length_of(length);
    uint tile = take_tile(), base = tile * RADIX_TILE;
    if (step == 0u || tile >= tiles) return;
    if ((step & STEP_MORE) != 0u) make_ready(tile);
    if (base >= n) return;

    uint count = n - base;
    K items[ITEMS];
    uint spots[PLACE_WORDS];
    uint totals[RADIX_LANE_DIGITS], starts[RADIX_LANE_DIGITS], before[RADIX_LANE_DIGITS];
    tile_load(step_array(step, keys), base, count, items);
    tile_count(items, totals);
    publish(tile, totals);
    tile_rank(items, totals, spots, starts);
    tile_stage(items, spots);
    look_back(tile, n, before);
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        uint digit = workgroup_lane() * RADIX_LANE_DIGITS + k;
        if (radix_cares()) {
            atomic_store(word_of(tile + 1u, digit), INCLUSIVE | (before[k] + totals[k]));
            tile_base(digit, before[k], starts[k], totals[k], count, n);
        }
    }
    barrier();
    tile_scatter(base, count, spots);
}
